"""The documentation says what the code does."""

import asyncio
import inspect
import re
import runpy
from pathlib import Path

import attrs
import pytest

import searchport
from searchport import ErrorCode, SearchRequest
from searchport.result import FilterReport
from searchport.toolkit import Toolkit
from searchport.wire import OPTION, camel_case
from searchport_platform.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def rows(text: str, *, first: str = "`") -> list[list[str]]:
    """The rows of all tables whose first cell starts with `first`."""
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith(f"| {first}")
    ]


def blocks(text: str, language: str = "python") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_every_option_is_documented_in_its_own_words() -> None:
    documented = [row for row in rows(read("docs/reference/contract.md")) if len(row) == 3]
    assert documented == [
        [f"`{field.name}`", f"`{camel_case(field.name)}`", field.metadata[OPTION].words] for field in attrs.fields(SearchRequest)
    ]


def test_every_count_of_the_filter_report_is_documented() -> None:
    documented = [row[0].strip("`") for row in rows(read("docs/reference/contract.md")) if len(row) == 2]
    assert set(documented) == {camel_case(field.name) for field in attrs.fields(FilterReport)}


def test_every_error_is_documented() -> None:
    assert rows(read("docs/reference/errors.md")) == [
        [f"`{c}`", str(c.status), str(c.actor), "yes" if c.is_retryable else "no", c.meaning, c.next_step] for c in ErrorCode
    ]


def test_every_setting_is_documented() -> None:
    documented = {row[0].strip("`") for row in rows(read("docs/reference/settings.md"))}
    own = {PREFIX + field.name.upper() for field in attrs.fields(Settings)}
    assert documented == own | {"SEARCHPORT_OPS_TOKEN_FILE", "SEARCHPORT_API_KEY", "SEARCHPORT_TOKEN", "PORT"}


def test_every_public_name_is_documented_and_importable() -> None:
    documented = {row[0].strip("`") for row in rows(read("docs/reference/sdk.md").split("## ")[1])}
    assert documented == set(searchport.__all__)
    assert all(getattr(searchport, name) is not None for name in searchport.__all__)
    assert set(searchport.__all__) <= set(dir(searchport))


def test_every_parameter_of_the_decorator_is_documented() -> None:
    documented = {row[0].strip("`") for row in rows(read("docs/reference/sdk.md").split("## ")[2])}
    assert documented == set(inspect.signature(searchport.define_web_search).parameters) - {"toolkit"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_examples_on_dates_run() -> None:
    for block in blocks(read("docs/discussion/dates.md")):
        exec(compile(block, "dates.md", "exec"), {})  # noqa: S102  # our own documentation


def test_the_readmes_toolkit_is_one() -> None:
    (block,) = blocks(read("README.md"))
    names: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), names)  # noqa: S102  # our own documentation
    toolkit = names["toolkit"]
    assert isinstance(toolkit, Toolkit)
    assert toolkit.web_search.page_size == 20


def test_the_guide_to_toolkits_runs_to_its_end() -> None:
    first, second, tests = blocks(read("docs/how-to/write-a-toolkit.md"))
    exec(compile(first, "step 1", "exec"), {})  # noqa: S102  # our own documentation
    names: dict[str, object] = {}
    exec(compile(second + tests, "steps 2 and 3", "exec"), names)  # noqa: S102  # our own documentation
    found = [value for name, value in names.items() if name.startswith("test_") and inspect.iscoroutinefunction(value)]
    assert len(found) == 2
    for test in found:
        asyncio.run(test())


def test_the_page_on_providers_says_what_they_declare() -> None:
    writer = runpy.run_path(str(ROOT / "scripts" / "make_provider_reference.py"))
    assert read("docs/reference/providers.md") == writer["write_page"](), "run scripts/make_provider_reference.py"


def test_the_platforms_example_runs() -> None:
    (block,) = blocks(read("docs/how-to/run-the-platform.md"))
    exec(compile(block, "run-the-platform.md", "exec"), {"__name__": "example"})  # noqa: S102  # our own documentation
