"""SerpApi: its exact requests, its answers, its errors."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aioresponses import aioresponses

from searchport import ErrorCode, SearchError, SearchRequest, SearchResponse
from searchport.egress import AddressPolicy, Deadline, HttpClient
from searchport.testing import ask, vendor_wire
from searchport.testing.conformance import Answers, run_check
from searchport.testing.conformance.faults import answers_mean
from searchport.web_search import Page, SearchContext
from searchport_toolkits.serpapi import toolkit

FIND = re.compile(r"^https://serpapi\.com/search\.json\?")
NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)
DONE: dict[str, Any] = {"search_metadata": {"id": "1", "status": "Success"}}
EMPTY = DONE | {"search_information": {"organic_results_state": "Fully empty"}, "error": "Google hasn't returned any results."}
PLAIN = {"api_key": "KEY", "engine": "google", "q": "red pandas", "start": "0", "hl": "en", "nfpr": "1"}


def page(count: int, **sections: Any) -> dict[str, Any]:
    return DONE | {"organic_results": [{"link": f"https://a.example/{number}"} for number in range(count)]} | sections


async def search(
    wire: aioresponses, *answers: object, query: str = "red pandas", status: int = 200, model: str | None = None, **options: Any
) -> SearchResponse:
    for answer in answers:
        wire.get(FIND, payload=answer, status=status)
    async with HttpClient(AddressPolicy()) as http:
        return await ask(toolkit, SearchRequest(query, **options), http=http, credential="KEY", model=model, now=NOW)


def sent(wire: aioresponses) -> list[dict[str, str]]:
    return [dict(url.query) for (_, url), calls in wire.requests.items() for _ in calls]


async def test_a_plain_search_is_asked_in_english_and_left_uncorrected() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, query='site:x "unbalanced')
        assert sent(wire) == [PLAIN | {"q": 'site:x "unbalanced'}]


async def test_every_option_has_its_parameter() -> None:
    with vendor_wire() as wire:
        response = await search(
            wire,
            EMPTY,
            recency="month",
            site="example.org",
            language="zh-TW",
            country="GB",
            safe="strict",
        )
        assert sent(wire) == [
            PLAIN
            | {
                "tbs": "qdr:m",
                "as_sitesearch": "example.org",
                "lr": "lang_zh-TW",
                "gl": "uk",
                "safe": "active",
            }
        ]
        assert response.ignored == ()


async def test_the_light_engine_has_a_window_parameter_of_its_own() -> None:
    light = PLAIN | {"engine": "google_light"}
    with vendor_wire() as wire:
        await search(wire, EMPTY, model="google_light", recency="month")
        await search(wire, EMPTY, model="google_light")
        assert sent(wire) == [light | {"as_qdr": "m"}, light]


async def test_a_country_that_google_does_not_know_is_named_as_ignored() -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, country="SS")).ignored == ("country",)
        assert sent(wire) == [PLAIN]


@pytest.mark.parametrize(("safe", "sent_as"), [("off", "off"), ("moderate", "active"), ("strict", "active")])
async def test_safe_search_is_on_or_off(safe: str, sent_as: str) -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, safe=safe)
        assert sent(wire) == [PLAIN | {"safe": sent_as}]


async def test_more_than_ten_results_are_paged_by_their_offset() -> None:
    full = page(10, serpapi_pagination={"next": "https://serpapi.com/search.json?start=10"})
    with vendor_wire() as wire:
        response = await search(wire, full, full, full, max_results=25)
        assert [query["start"] for query in sent(wire)] == ["0", "10", "20"]
        assert len(response.results) == 30


@pytest.mark.parametrize(("pagination", "requests"), [({"current": 1}, 1), (None, 2)])
async def test_no_page_is_paid_for_that_the_vendor_does_not_name(pagination: object, requests: int) -> None:
    with vendor_wire() as wire:
        await search(wire, page(8, serpapi_pagination=pagination), EMPTY, max_results=50)
        assert len(sent(wire)) == requests


async def test_a_link_is_the_pages_own_and_not_googles_redirect() -> None:
    rows = [
        {"title": "A", "link": "https://a.example/", "redirect_link": "https://www.google.com/url?q=x", "date": "Mar 3, 2024"},
        {"title": "B", "redirect_link": "https://www.google.com/url?q=y"},
    ]
    with vendor_wire() as wire:
        response = await search(wire, DONE | {"organic_results": rows}, max_results=2)
    assert [(row.url, row.published_date) for row in response.results] == [("https://a.example/", "Mar 3, 2024"), (None, None)]


async def test_rows_are_read_though_an_error_text_stands_beside_them() -> None:
    with vendor_wire() as wire:
        assert len((await search(wire, page(3, error="words"), max_results=3)).results) == 3


async def test_a_window_that_gave_no_list_and_no_word_of_nothing_is_no_empty_answer() -> None:
    silent = DONE | {"search_information": {"organic_results_state": "Results for exact spelling"}}
    with vendor_wire() as wire, pytest.raises(SearchError) as caught:
        await search(wire, silent, recency="month")
    assert caught.value.code is ErrorCode.PROVIDER_UNAVAILABLE


async def test_a_refusal_shows_neither_the_key_nor_its_url() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError) as caught:
        await search(wire, {"error": "Invalid API key KEY"}, status=401)
    assert caught.value.code is ErrorCode.PROVIDER_UNAUTHORIZED
    assert "KEY" not in repr(caught.value) + str(caught.value)


async def test_its_engines_are_listed() -> None:
    async with HttpClient(AddressPolicy()) as http:
        context = SearchContext(http=http, page=Page(size=10), settings=None, now=NOW, deadline=Deadline.after(1))
        models = await toolkit.web_search.list_models(context)
    assert [(model.id, model.name) for model in models] == [("google", "Google"), ("google_light", "Google light")]


def test_what_is_no_page_of_results_has_its_meaning() -> None:
    answers = Answers.load(Path(__file__).parent / "answers" / "serpapi.toml")
    assert run_check(answers_mean, toolkit, answers) == ()


def test_the_lawsuit_against_it_is_declared() -> None:
    assert toolkit.risk is not None
    assert "25-cv-10826" in toolkit.risk
