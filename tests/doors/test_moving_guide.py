"""The guide to moving a client says what the doors do, and its programs run."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from searchport import ErrorCode, SearchError
from searchport_platform.doors.compat import brave, google_cse, openwebui, perplexity, searxng, serper, tavily
from searchport_platform.doors.compat.parameters import Parameters

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "move-a-client.md"
SERVER = "https://search.example.com"
DOORS: dict[str, Parameters[Any]] = {
    "Google Custom Search": google_cse.PARAMETERS,
    "SearXNG": searxng.PARAMETERS,
    "Tavily": tavily.PARAMETERS,
    "Perplexity": perplexity.PARAMETERS,
    "Brave Search": brave.PARAMETERS,
    "Open WebUI": openwebui.PARAMETERS,
    "Serper": serper.PARAMETERS,
}


def sections() -> dict[str, str]:
    """Heading -> text."""
    parts = re.split(r"^## (.+)$", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def programs(*, langchain: bool) -> list[Any]:
    """The guide's programs, each with its door; those that need LangChain, or those that do not."""
    found = [
        (door, block)
        for door, text in sections().items()
        for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]
    return [pytest.param(block, id=door) for door, block in found if ("langchain" in block) == langchain]


def test_every_door_has_a_section() -> None:
    assert ["What holds at every door", *DOORS] == list(sections())


@pytest.mark.parametrize("door", DOORS)
def test_the_table_of_a_door_is_what_it_does(door: str) -> None:
    lines = sections()[door].rpartition("| --- | --- | --- |\n")[2].splitlines()
    told = [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines if line.startswith("| `")]
    done = [(", ".join(f"`{name}`" for name in row.names), str(row.treatment), row.words) for row in DOORS[door].rows()]
    assert told == done


@pytest.mark.parametrize("program", programs(langchain=False))
async def test_a_program_of_the_guide_runs(place: Any, program: str) -> None:
    place.ours.pages(3, host="docs.example.com")
    names: dict[str, Any] = {"TOKEN": place.token}
    code = compile(program.replace(SERVER, place.url), "move-a-client.md", "exec")
    await asyncio.to_thread(exec, code, names)
    assert names["found"] == [f"https://docs.example.com/{n}" for n in (1, 2, 3)]


LANGCHAIN = ("langchain-google-community==5.1.1", "langchain-community==0.4.2", "langchain-tavily==0.2.18")


@pytest.fixture(scope="module")
def langchain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with LangChain's clients, in an environment of its own: they hold back what we need newer."""
    folder = tmp_path_factory.mktemp("langchain")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *LANGCHAIN], check=True)
    return python


async def run_program(python: Path, program: str, place: Any) -> tuple[str, str]:
    """What a program of the guide found, and what it wrote to standard error."""
    given = {"TOKEN": place.token, "ORGANIZATION": "acme"}
    head = "".join(f"{name} = {value!r}\n" for name, value in given.items())
    code = f"import json\n{head}{program.replace(SERVER, place.url)}\nprint(json.dumps(found))"
    process = await asyncio.create_subprocess_exec(
        str(python), "-c", code, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    return out.decode(), err.decode()


@pytest.mark.prove
@pytest.mark.timeout(900)
@pytest.mark.parametrize("program", programs(langchain=True))
async def test_a_program_with_langchain_runs(langchain: Path, place: Any, program: str) -> None:
    place.ours.pages(3, host="docs.example.com")
    out, err = await run_program(langchain, program, place)
    assert out, err[-2_000:]
    assert json.loads(out.splitlines()[-1]) == [f"https://docs.example.com/{n}" for n in (1, 2, 3)]


@pytest.mark.prove
@pytest.mark.timeout(900)
@pytest.mark.parametrize("program", programs(langchain=True))
async def test_a_program_with_langchain_never_takes_a_failure_for_no_results(langchain: Path, place: Any, program: str) -> None:
    place.ours.outcome = SearchError(ErrorCode.PROVIDER_UNAVAILABLE)
    out, err = await run_program(langchain, program, place)
    assert (out, "Error" in err) == ("", True)
