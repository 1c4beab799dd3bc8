"""The pages on the client say what it does."""

import importlib
import re
import subprocess
import sys

import attrs
import pytest

import searchport.client
from searchport import manual
from searchport.client import SearchAnswer, SearchHit, SearchPlan

from .conftest import Demo

GUIDE = (manual.folder() / "how-to" / "search-from-python.md").read_text(encoding="utf-8")
REFERENCE = (manual.folder() / "reference" / "client.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^## (.+?)\n.*?^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("heading", "example"), EXAMPLES, ids=[heading for heading, _ in EXAMPLES])
def test_every_example_runs(heading: str, example: str, demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_URL", demo.url)
    monkeypatch.setenv("SEARCH_TOKEN", demo.token)
    exec(compile(example, heading, "exec"), {"__name__": "example"})  # noqa: S102  # our own documentation


def test_every_section_has_an_example() -> None:
    assert len(EXAMPLES) == GUIDE.count("\n## ") == GUIDE.count("```python")


def test_every_public_name_is_documented_and_importable() -> None:
    documented = re.findall(r"^\| `(\w+)` \|", REFERENCE.split("## ")[0], re.MULTILINE)
    assert sorted(documented) == sorted(searchport.client.__all__)
    assert [name for name in searchport.client.__all__ if getattr(searchport.client, name, None) is None] == []
    assert set(searchport.client.__all__) <= set(dir(searchport.client))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        importlib.import_module("searchport.client").nothing  # noqa: B018


def test_every_field_and_method_of_an_answer_is_documented() -> None:
    own = {name for name in vars(SearchAnswer) if name.startswith("to_")}
    for name in {field.name for cls in (SearchAnswer, SearchHit, SearchPlan) for field in attrs.fields(cls)} | own:
        assert re.search(rf"`{name}\b", REFERENCE), name


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import searchport.client", {"aiohttp", "yarl", "attrs", "cattrs", "pandas", "rich"}),
        (
            "from searchport.client import SearchAnswer, SearchHit, SearchPlan, SearchOptions",
            {"aiohttp", "yarl", "pandas", "rich"},
        ),
        (
            "from searchport.client import AsyncClient, Client, PlatformError, Transport",
            {"pandas", "rich", "searchport_platform"},
        ),
    ],
)
def test_a_name_costs_what_it_needs(code: str, unwanted: set[str]) -> None:
    check = f"{code}\nimport sys; print(sorted({unwanted!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_client_is_an_attribute_of_the_package() -> None:
    code = "import searchport; print(searchport.client.SearchAnswer.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "SearchAnswer"
