"""What is shipped: one wheel with three packages, their types, their entry points, and nothing that it does not need."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.prove

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this tree."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_three_typed_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"searchport", "searchport_toolkits", "searchport_platform"}
    assert "searchport/manual/index.md" in names
    assert {f"{top}/py.typed" for top in tops if not top.endswith(".dist-info")} <= set(names)


def test_the_sdk_alone_declares_and_asks_a_toolkit(wheel: Path, tmp_path: Path) -> None:
    """Installed with its base dependencies only, in an environment of its own."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True)
    code = (
        "import asyncio, json; from searchport import *; from searchport.testing import ask; "
        "from searchport.egress import AddressPolicy, HttpClient; from searchport_toolkits.fake import toolkit\n"
        "async def main():\n"
        "    async with HttpClient(AddressPolicy()) as http:\n"
        "        response = await ask(toolkit, SearchRequest('red pandas'), http=http)\n"
        "    print(json.dumps([result.title for result in response.results]))\n"
        "asyncio.run(main())"
    )
    done = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert json.loads(done.stdout)[0] == "Result 1 for red pandas"
    command = subprocess.run([tmp_path / "venv" / "bin" / "searchport"], check=False, capture_output=True, text=True)
    assert (command.returncode, "pip install 'searchport[platform]'" in command.stderr) == (1, True)


def test_dates_read_the_same_with_the_oldest_dateutil_that_is_allowed(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), "python-dateutil==2.9.0.post0"], check=True
    )
    tests = ROOT / "tests" / "published_date" / "test_formats.py"
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import dateutil, pytest; assert dateutil.__version__.startswith('2.9'); "
        "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', sys.argv[2]]))"
    )
    subprocess.run([sys.executable, "-c", code, str(folder), str(tests)], check=True, cwd=ROOT)
