"""The notebook of the manual, run by a real kernel against a real server."""

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from searchport import manual
from searchport_platform.doors.manual import render_pages

from .conftest import Demo

NOTEBOOK = manual.folder() / "how-to" / "search-in-a-notebook.ipynb"


@pytest.fixture(scope="module")
def cells(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What each code cell showed, by MIME type, under its first line; a failing cell fails every test."""
    home = tmp_path_factory.mktemp("jupyter")
    folders = {name: str(home) for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    environment = {**os.environ, **folders, "SEARCH_URL": demo.url, "SEARCH_TOKEN": demo.token}
    book = nbformat.read(NOTEBOOK, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        for name, folder in folders.items():
            patch.setenv(name, folder)
        NotebookClient(book, timeout=40, kernel_name="python3").execute(env=environment, cwd=str(home))
    shown: dict[str, dict[str, Any]] = {}
    for cell in book.cells:
        if cell.cell_type == "code":
            data = {kind: text for output in cell.outputs for kind, text in output.get("data", {}).items()}
            streams = {output.name: output.text for output in cell.outputs if output.output_type == "stream"}
            shown[cell.source.splitlines()[0]] = data | streams
    return shown


def test_an_answer_shows_as_a_table(cells: dict[str, dict[str, Any]]) -> None:
    shown = cells['answer = client.search("freshness", max_results=3)']
    assert shown["text/html"].startswith('<div class="searchport-answer ')
    assert "3 results for &#x27;freshness&#x27; from local" in shown["text/html"]
    assert shown["text/markdown"].startswith("**3 results for ")
    assert shown["text/plain"].startswith("SearchAnswer(results=3, provider='local', ")


def test_an_answer_turns_into_a_data_frame(cells: dict[str, dict[str, Any]]) -> None:
    assert "<table" in cells["frame = answer.to_pandas()"]["text/html"]
    assert cells["[hit.title for hit in answer]"]["text/plain"].count("'") == 6


def test_many_searches_run_in_the_kernels_loop_and_show_a_bar(cells: dict[str, dict[str, Any]]) -> None:
    shown = cells['outcomes = client.search_many(["freshness", "budget", " "], max_results=5, progress=True)']
    assert shown["text/plain"] == "['SearchAnswer', 'SearchAnswer', 'SearchError']"
    assert shown["text/html"] == '<progress value="3" max="3"></progress> 3/3'


def test_a_notebook_awaits_too(cells: dict[str, dict[str, Any]]) -> None:
    assert int(cells["async with AsyncClient(url, token) as asynchronous:"]["text/plain"]) >= 1


def test_nothing_is_written_beside_what_the_cells_show(cells: dict[str, dict[str, Any]]) -> None:
    assert {kind for shown in cells.values() for kind in shown} <= {"text/html", "text/markdown", "text/plain"}


def test_the_notebook_is_kept_without_outputs() -> None:
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(book)
    assert [cell for cell in book.cells if cell.cell_type == "code" and (cell.outputs or cell.execution_count)] == []


def test_the_manual_that_a_server_shows_lists_pages_alone() -> None:
    """A notebook is no page: it is left out, and a link to it is text."""
    pages = render_pages(manual.folder())
    assert [path for path in pages if "notebook" in path] == []
    assert "<span>notebook</span>" in pages["how-to/search-from-python"]
    assert [path for path in pages if Path(path).suffix] == []
