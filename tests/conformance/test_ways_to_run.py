"""The kit as its users run it: in pytest without a test file, and from the command line."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from searchport.testing.conformance import CHECKS, ToolkitNotFoundError, load_toolkit
from searchport_platform.cli.commands import cli

ANSWERS = Path(__file__).parents[1] / "toolkits" / "answers" / "brave.toml"
IS_REGISTERED = any(entry.value == "searchport.testing.plugin" for entry in entry_points(group="pytest11"))
PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:xdist", "-q"]
LOAD = [] if IS_REGISTERED else ["-p", "searchport.testing.plugin"]

BROKEN = """
from searchport import SearchResponse, define_toolkit, define_web_search
toolkit = define_toolkit(id="acme", name="Acme", credential_ref=None)
@define_web_search(toolkit, recency=None)
async def search(request, context):
    try:
        await context.http.get_json("https://api.acme.example/find", params={"q": request.query})
    except Exception:
        pass
    return SearchResponse([], vendor="acme")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where an author works: an answers file, and a toolkit that takes failures for empty answers."""
    (tmp_path / "tests").mkdir()
    shutil.copy(ANSWERS, tmp_path / "tests" / "answers.toml")
    (tmp_path / "broken_acme.py").write_text(BROKEN, encoding="utf-8")
    return tmp_path


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PYTEST, *LOAD, *options], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`searchport toolkit check`, run in the author's folder."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*options: str) -> Result:
        for name in ("broken_acme", "wrong_acme"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        return CliRunner().invoke(cli, ["toolkit", "check", *options])

    return run


def test_pytest_runs_every_check_without_a_test_file(folder: Path) -> None:
    done = run_pytest(folder, "--searchport-toolkit=brave", "-W", "error")
    passed, skipped = (int(word) for word in done.stdout.splitlines()[-1].replace(" passed,", "").split()[:2])
    assert (done.returncode, passed + skipped) == (0, len(CHECKS)), done.stdout


def test_pytest_tells_a_broken_promise_in_three_sentences_beside_the_authors_own_tests(folder: Path) -> None:
    (folder / "tests" / "test_own.py").write_text("def test_own():\n    pass\n", encoding="utf-8")
    done = run_pytest(folder, "--searchport-toolkit=broken_acme:toolkit", "-k", "test_own or status-rate-limited")
    assert (done.returncode, "1 failed, 1 passed" in done.stdout) == (1, True), done.stdout
    assert "promised: Status 429 is provider_rate_limited" in done.stdout
    assert "happened: status 429 with no Retry-After gave 0 results and no error; provider_rate_limited was due" in done.stdout
    assert "change:   catch no SearchError of context.http" in done.stdout
    assert "Traceback" not in done.stdout


def test_pytest_stops_where_there_is_nothing_to_check(folder: Path) -> None:
    done = run_pytest(folder, "--searchport-toolkit=brvae")
    assert (done.returncode, "did you mean 'brave'?" in done.stderr) == (4, True), done.stderr


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("brvae", "no installed toolkit has the id 'brvae'; did you mean 'brave'?"),
        ("broken_acme:tolkit", "module 'broken_acme' has no 'tolkit'; did you mean 'toolkit'?"),
        ("no_such_module:toolkit", "there is no module 'no_such_module'"),
        ("broken_acme:search", "'broken_acme:search' is function, not a Toolkit"),
        (":toolkit", "':toolkit' is no place"),
        ("..brave:toolkit", "is no place; write it like acme_search:toolkit"),
    ],
)
def test_what_is_no_toolkit_is_told(command: Callable[..., Result], folder: Path, reference: str, words: str) -> None:
    with pytest.raises(ToolkitNotFoundError) as caught:
        load_toolkit(reference, folder=folder)
    assert words in str(caught.value)


def test_the_plugin_does_nothing_unasked(folder: Path) -> None:
    (folder / "test_modules.py").write_text(
        "import sys\ndef test_modules():\n"
        "    assert not {'searchport.testing.conformance', 'aiohttp', 'attrs', 'trustme'} & set(sys.modules)\n",
        encoding="utf-8",
    )
    done = run_pytest(folder, "-p", "no:hypothesispytest")
    assert "1 passed" in done.stdout, done.stdout


def test_the_command_passes_a_built_in_toolkit(command: Callable[..., Result]) -> None:
    done = command("brave")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "✓ rows-arrive" in done.stdout
    assert " 0 broken" in done.stdout


def test_the_command_fails_a_broken_toolkit_and_says_what_to_change(command: Callable[..., Result]) -> None:
    done = command("broken_acme:toolkit", "--answers", "tests/answers.toml")
    assert done.exit_code == 1
    assert "✗ status-unavailable" in done.stdout
    assert "  happened  status 503 gave 0 results and no error; provider_unavailable was due\n  change    catch" in done.stdout


def test_the_command_gives_the_outcome_as_json(command: Callable[..., Result]) -> None:
    done = command("broken_acme:toolkit", "--json", "--examples", "1")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["toolkit"], told["kept"]) == (1, "acme", False)
    outcomes = {check["name"]: check for check in told["checks"]}
    assert list(outcomes) == [check.name for check in CHECKS]
    assert outcomes["redirect-refused"]["violations"][0]["promised"] == outcomes["redirect-refused"]["promise"]
    assert (outcomes["key-sent"]["outcome"], outcomes["key-sent"]["reason"]) == ("skipped", "the vendor takes no key")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["brvae"], "did you mean 'brave'?"),
        (["broken_acme:toolkit", "--answers", "broken_acme.py"], "it is not TOML"),
        (["broken_acme:toolkit", "--answers", "none.toml"], "none.toml"),
    ],
)
def test_the_command_exits_with_two_where_there_is_nothing_to_check(
    command: Callable[..., Result], options: list[str], words: str
) -> None:
    done = command(*options)
    assert (done.exit_code, words in done.stderr) == (2, True), done.stderr


def test_a_declaration_mistake_is_told_as_it_is(command: Callable[..., Result], folder: Path) -> None:
    (folder / "wrong_acme.py").write_text(BROKEN.replace("recency=None", 'recency=None, native={"sight"}'), encoding="utf-8")
    done = command("wrong_acme:toolkit")
    assert done.exit_code == 2
    assert "native names the unknown option 'sight'; the options are:" in done.stderr


def test_a_missing_answers_file_names_the_places(command: Callable[..., Result], folder: Path) -> None:
    (folder / "tests" / "answers.toml").unlink()
    done = command("brave")
    assert done.exit_code == 2
    assert "looked for tests/answers.toml, answers.toml, tests/toolkits/answers/brave.toml" in done.stderr
