"""The local provider: a folder of Markdown files, searched by the rules of every provider."""

import asyncio
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport import ErrorCode, SearchError, SearchRequest, SearchResponse, guarantees, manual
from searchport.egress import AddressPolicy
from searchport.guarantees import Guaranteed
from searchport.markdown_index import markdown_parser
from searchport.testing import FakeWeb, ask
from searchport_toolkits import local
from searchport_toolkits.local import toolkit

NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)
SERVER = "https://search.example.org:8443"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three pages on pandas: of today, of last year, and without a date."""
    (tmp_path / "guides").mkdir()
    (tmp_path / "guides" / "red pandas.md").write_text(
        "---\ntitle: Red pandas\ndate: Sep 20, 2026\n---\nThey eat <bamboo> & more."
    )
    (tmp_path / "old.md").write_text("---\ndate: 2025-09-20\n---\n# Old pandas\n\nIn the zoo.")
    (tmp_path / "undated.md").write_text("# Undated pandas\n")
    return tmp_path


async def fetch(query: str, folder: Path | str, *, public_url: str | None = SERVER, **options: Any) -> SearchResponse:
    async with FakeWeb() as web, web.client() as http:
        response = await ask(
            toolkit,
            SearchRequest(query, **options),
            http=http,
            now=NOW,
            settings={"folder": str(folder)},
            public_url=public_url,
        )
        assert web.requests == []
    return response


async def search(query: str, folder: Path | str, **options: Any) -> Guaranteed:
    request = SearchRequest(query, **options)
    response = await fetch(query, folder, **options)
    return guarantees.apply(response, request, toolkit.web_search, AddressPolicy(), NOW, NOW)


async def refuse(**asked: Any) -> SearchError:
    with pytest.raises(SearchError) as caught:
        await fetch("pandas", **asked)
    return caught.value


async def test_a_page_is_a_result_of_the_server_that_was_called(folder: Path) -> None:
    (found,) = (await search("bamboo", folder)).results
    assert (found.title, found.url) == ("Red pandas", f"{SERVER}/docs/guides/red%20pandas")
    assert (found.snippet, found.published_date) == ("They eat <bamboo> & more.", "2026-09-20")


async def test_the_words_found_are_marked_in_escaped_text(folder: Path) -> None:
    (found,) = (await fetch("bamboo", folder)).results
    assert found.snippet == "They eat &lt;<b>bamboo</b>&gt; &amp; more."


async def test_a_date_is_handed_over_as_the_page_wrote_it(folder: Path) -> None:
    (found,) = (await fetch("bamboo", folder)).results
    assert found.published_date == "Sep 20, 2026"


async def test_a_file_without_a_date_has_none_whatever_its_time(folder: Path) -> None:
    (found,) = (await search("undated", folder)).results
    assert found.published_date is None


@pytest.mark.parametrize(("recency", "count"), [("day", 1), ("week", 1), ("year", 2), (None, 3)])
async def test_recency_keeps_pages_of_its_window(folder: Path, recency: str | None, count: int) -> None:
    kept = await search("pandas", folder, recency=recency)
    assert len(kept.results) == count


async def test_freshness_is_searched_for_and_guaranteed(folder: Path) -> None:
    kept = await search("pandas", folder, freshness="PT13H")
    assert [(result.title, result.date_basis) for result in kept.results] == [("Red pandas", "date")]
    assert kept.report.undated == 0  # they never left the index


async def test_site_is_guaranteed(folder: Path) -> None:
    assert len((await search("pandas", folder, site="example.org")).results) == 3
    assert (await search("pandas", folder, site="example.com")).report.off_site == 3


async def test_language_and_country_are_named_as_ignored(folder: Path) -> None:
    assert (await fetch("pandas", folder, language="pt-BR", country="BR")).ignored == ("country", "language")


async def test_safe_is_refused(folder: Path) -> None:
    assert (await refuse(folder=folder, safe="strict")).code is ErrorCode.UNSUPPORTED_OPTION


async def test_more_results_than_a_page_holds_are_fetched_in_order(tmp_path: Path) -> None:
    for number in range(1, 46):
        (tmp_path / f"{number}.md").write_text("panda " * number)
    response = await fetch("panda", tmp_path, max_results=50)
    assert len({found.url for found in response.results}) == 45


@pytest.mark.parametrize("query", ["*", '"', "NEAR", "* AND ^", "\0"])
async def test_a_query_that_no_page_holds_is_an_empty_answer(folder: Path, query: str) -> None:
    assert (await fetch(query, folder)).results == []


@pytest.mark.parametrize("name", ["none", "old.md", "nul\0", "empty"])
async def test_a_folder_that_cannot_be_read_is_an_error_that_names_the_setting(folder: Path, name: str) -> None:
    (folder / "empty").mkdir()
    error = await refuse(folder=folder / name)
    assert error.code is ErrorCode.PROVIDER_NOT_CONFIGURED
    assert "settings.folder" in str(error)
    assert str(folder) not in str(error)


async def test_without_a_server_there_is_nothing_to_link_to(folder: Path) -> None:
    error = await refuse(folder=folder, public_url=None)
    assert (error.code, "`pages_url`" in str(error)) == (ErrorCode.PROVIDER_NOT_CONFIGURED, True)


async def test_pages_that_are_served_elsewhere_are_linked_there(folder: Path) -> None:
    settings = {"folder": str(folder), "pages_url": "https://handbook.example.com/"}
    async with FakeWeb() as web, web.client() as http:
        response = await ask(toolkit, SearchRequest("undated"), http=http, settings=settings)
    assert [found.url for found in response.results] == ["https://handbook.example.com/undated"]


@pytest.mark.parametrize("setting", ["folder", "pages_url"])
def test_a_call_cannot_choose_the_folder_or_its_links(setting: str) -> None:
    with pytest.raises(SearchError) as caught:
        toolkit.build_settings({}, {setting: "/etc"})
    assert caught.value.code is ErrorCode.VALIDATION_ERROR


async def test_the_manual_is_searched_unless_the_operator_names_a_folder() -> None:
    results = (await search("operator folder Markdown", "")).results
    assert f"{SERVER}/docs/how-to/search-a-folder" in [found.url for found in results]
    assert all((manual.folder() / f"{found.url.removeprefix(f'{SERVER}/docs/')}.md").is_file() for found in results)


async def test_twenty_first_searches_at_once_read_the_folder_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, read_pages = [], local.MarkdownIndex._fill
    monkeypatch.setattr(local.MarkdownIndex, "_fill", lambda self, connection: (read.append(1), read_pages(self, connection)))
    answers = await asyncio.gather(*(fetch("pandas", folder) for _ in range(20)))
    assert [len(answer.results) for answer in answers] == [3] * 20
    assert read == [1]


async def test_preparing_reads_the_folder_before_the_first_call(folder: Path) -> None:
    settings, _ = toolkit.build_settings({"folder": str(folder)}, {})
    assert toolkit.prepare is not None
    toolkit.prepare(settings)
    (folder / "later.md").write_text("pandas")
    assert len((await fetch("pandas", folder)).results) == 3


def test_preparing_a_folder_that_is_not_there_tells_what_a_call_tells(tmp_path: Path) -> None:
    settings, _ = toolkit.build_settings({"folder": str(tmp_path / "none")}, {})
    assert toolkit.prepare is not None
    with pytest.raises(SearchError, match=r"settings\.folder"):
        toolkit.prepare(settings)


async def test_without_the_parser_it_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    markdown_parser.cache_clear()
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    error = await refuse(folder=folder)
    assert (error.code, "searchport[platform]" in str(error)) == (ErrorCode.PROVIDER_NOT_CONFIGURED, True)


def test_importing_it_loads_neither_the_parser_nor_the_http_stack() -> None:
    code = "import sys, searchport_toolkits.local; print({'markdown_it', 'aiohttp', 'yarl', 'idna'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"


@given(query=st.text(max_size=2_000))
async def test_no_query_fails_but_one_that_is_refused(query: str) -> None:
    async with FakeWeb() as web, web.client() as http:
        try:
            response = await ask(toolkit, SearchRequest(query), http=http, public_url=SERVER)
        except SearchError as error:
            assert error.code is ErrorCode.VALIDATION_ERROR
        else:
            assert all(found.url.startswith(f"{SERVER}/docs/") for found in response.results)
