"""The tutorial runs to its end, which is the example; the reference names every check."""

import contextlib
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from searchport import manual
from searchport.testing import conformance
from searchport.testing.conformance import CHECKS, Answers
from searchport_platform.cli.commands import cli

DOCS = manual.folder()
ACME = DOCS / "examples" / "acme-search"


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", read(name), re.MULTILINE | re.DOTALL)


def cells(heading: str, name: str = "reference/conformance.md") -> list[list[str]]:
    """The rows of the table below a heading, its own heading left out."""
    section = read(name).partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines() if line.startswith("| `")]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Writes `acme_search.py` where a learner would, and forgets the one before."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "answers.toml").write_text(blocks("tutorials/first-toolkit.md", "toml")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def put(source: str) -> Path:
        monkeypatch.delitem(sys.modules, "acme_search", raising=False)
        (tmp_path / "acme_search.py").write_text(source, encoding="utf-8")
        return tmp_path

    return put


def check() -> Result:
    done = CliRunner().invoke(cli, ["toolkit", "check", "acme_search:toolkit"])
    sys.modules.pop("acme_search", None)
    return done


def test_the_first_step_of_the_tutorial_prints_what_it_says(write: Callable[[str], Path]) -> None:
    first, asking, _, _ = blocks("tutorials/first-toolkit.md", "python")
    write(first)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(asking, "step 1", "exec"), {})  # noqa: S102  # our own documentation
    assert printed.getvalue() == blocks("tutorials/first-toolkit.md", "text")[0]


def test_the_kit_tells_of_the_second_step_what_the_tutorial_says(write: Callable[[str], Path]) -> None:
    write(blocks("tutorials/first-toolkit.md", "python")[2])
    done = check()
    shown = blocks("tutorials/first-toolkit.md", "console")[1].splitlines()
    told = re.findall(r"^✗ [-a-z]+", done.output, re.MULTILINE)
    assert (done.exit_code, list(dict.fromkeys(told))) == (1, shown[1:])
    assert blocks("tutorials/first-toolkit.md", "text")[1] in done.output


def test_the_end_of_the_tutorial_keeps_every_promise(write: Callable[[str], Path]) -> None:
    write(blocks("tutorials/first-toolkit.md", "python")[3])
    done = check()
    assert (done.exit_code, " 0 broken" in done.output) == (0, True)


def test_the_end_of_the_tutorial_is_the_example() -> None:
    answers, pyproject = blocks("tutorials/first-toolkit.md", "toml")
    assert blocks("tutorials/first-toolkit.md", "python")[3] == (ACME / "acme_search.py").read_text(encoding="utf-8")
    assert answers == (ACME / "tests" / "answers.toml").read_text(encoding="utf-8")
    assert pyproject == (ACME / "pyproject.toml").read_text(encoding="utf-8")


def test_every_check_is_documented_with_its_promise() -> None:
    assert cells("The checks") == [[f"`{check.name}`", check.promise] for check in CHECKS]


def test_every_name_of_the_kit_is_documented_and_importable() -> None:
    assert {row[0].strip("`") for row in cells("`searchport.testing.conformance`")} == set(conformance.__all__)
    assert all(getattr(conformance, name) is not None for name in conformance.__all__)


def test_the_answers_file_of_the_reference_is_one() -> None:
    (block,) = blocks("reference/conformance.md", "toml")
    answers = Answers.parse(block)
    assert [case.scenario for case in answers.scenarios] == ["a spent quota"]


def test_the_guides_own_test_finds_nothing_broken(write: Callable[[str], Path]) -> None:
    folder = write(blocks("tutorials/first-toolkit.md", "python")[3])
    (block,) = blocks("how-to/check-a-toolkit.md", "python")
    names: dict[str, Callable[[str, Path], list[str]]] = {}
    exec(compile(block, "check-a-toolkit.md", "exec"), names)  # noqa: S102  # our own documentation
    assert names["broken"]("acme_search:toolkit", folder) == []
    sys.modules.pop("acme_search", None)


def test_the_guides_violation_is_what_the_kit_says(write: Callable[[str], Path]) -> None:
    source = blocks("tutorials/first-toolkit.md", "python")[3]
    write(source.replace('    unsupported={"safe"},\n', ""))
    (shown,) = blocks("how-to/check-a-toolkit.md", "text")
    assert shown in check().output
