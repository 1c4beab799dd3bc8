"""SearchApi: its exact requests, its answers, its errors."""

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
from searchport_toolkits.searchapi import toolkit

FIND = re.compile(r"^https://www\.searchapi\.io/api/v1/search\?")
NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)
EMPTY: dict[str, Any] = {"search_metadata": {"id": "search_1", "status": "Success"}}
PLAIN = {"engine": "google", "q": "red pandas", "page": "1", "hl": "en", "nfpr": "1", "verbatim": "true"}


async def search(
    wire: aioresponses, *answers: object, query: str = "red pandas", model: str | None = None, **options: Any
) -> SearchResponse:
    for answer in answers:
        wire.get(FIND, payload=answer)
    async with HttpClient(AddressPolicy()) as http:
        return await ask(toolkit, SearchRequest(query, **options), http=http, credential="KEY", model=model, now=NOW)


def sent(wire: aioresponses) -> list[dict[str, str]]:
    return [dict(url.query) for (_, url), calls in wire.requests.items() for _ in calls]


async def test_a_plain_search_is_verbatim_and_has_the_key_in_its_header_alone() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, query='site:x "unbalanced')
        assert sent(wire) == [PLAIN | {"q": 'site:x "unbalanced'}]
        ((call,),) = wire.requests.values()
        headers = {name: value for name, value in call.kwargs["headers"].items() if name != "User-Agent"}
        assert headers == {"Authorization": "Bearer KEY"}


async def test_every_option_has_its_parameter_but_a_site_has_none() -> None:
    with vendor_wire() as wire:
        response = await search(
            wire,
            EMPTY,
            recency="year",
            site="example.org",
            language="he",
            country="DE",
            safe="moderate",
        )
        options = {"time_period": "last_year", "lr": "lang_iw", "gl": "de", "safe": "blur"}
        assert sent(wire) == [PLAIN | options]
        assert response.ignored == ()


@pytest.mark.parametrize(
    ("options", "period"),
    [
        ({"recency": "day"}, "last_day"),
        ({"recency": "week"}, "last_week"),
        ({"recency": "month"}, "last_month"),
        ({"freshness": "PT5H"}, "last_day"),
        ({"freshness": "P8D"}, "last_month"),
    ],
)
async def test_a_window_has_the_vendors_own_words(options: dict[str, Any], period: str) -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, **options)
        assert sent(wire) == [PLAIN | {"time_period": period}]


async def test_the_light_engine_is_sent_nothing_that_it_may_not_take_and_a_lost_recency_is_named() -> None:
    with vendor_wire() as wire:
        response = await search(wire, EMPTY, model="google_light", recency="week", language="de")
        light = {"engine": "google_light", "q": "red pandas", "page": "1", "hl": "en", "nfpr": "1"}
        assert sent(wire) == [light | {"lr": "lang_de"}]
        assert response.ignored == ("recency",)


async def test_the_light_engine_refuses_safe_search_before_anything_is_sent() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match=r"\$\.safe: .*'google_light'; remove it") as caught:
        await search(wire, EMPTY, model="google_light", safe="strict")
    assert (caught.value.code, caught.value.provider) == (ErrorCode.UNSUPPORTED_OPTION, "searchapi")
    assert not wire.requests


@pytest.mark.parametrize(("safe", "sent_as"), [("off", "off"), ("moderate", "blur"), ("strict", "active")])
async def test_safe_search_has_three_levels(safe: str, sent_as: str) -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, safe=safe)
        assert sent(wire) == [PLAIN | {"safe": sent_as}]


async def test_pages_are_numbered_and_end_where_none_is_named() -> None:
    rows = [{"link": f"https://a.example/{number}"} for number in range(10)]
    full = EMPTY | {"organic_results": rows, "pagination": {"current": 1, "next": "https://www.google.com/search?start=10"}}
    with vendor_wire() as wire:
        response = await search(wire, full, full | {"pagination": {"current": 2}}, max_results=50)
        assert [query["page"] for query in sent(wire)] == ["1", "2"]
        assert len(response.results) == 20


async def test_the_time_of_the_search_is_no_date_of_a_page() -> None:
    answer = {"search_metadata": {"status": "Success", "created_at": "2026-09-20T09:00:00Z"}}
    rows = [
        {"title": "A", "link": "https://a.example/", "snippet": "4 % &", "date": "3 days ago"},
        {"link": "https://b.example/"},
    ]
    with vendor_wire() as wire:
        response = await search(wire, answer | {"organic_results": rows}, max_results=2)
    assert [(row.snippet, row.published_date) for row in response.results] == [("4 % &", "3 days ago"), (None, None)]


async def test_a_missing_list_is_empty_only_where_the_search_succeeded() -> None:
    with vendor_wire() as wire:
        assert list((await search(wire, EMPTY)).results) == []
    with vendor_wire() as wire, pytest.raises(SearchError) as caught:
        await search(wire, {"search_metadata": {"status": "Processing"}})
    assert caught.value.code is ErrorCode.PROVIDER_UNAVAILABLE


async def test_its_engines_are_listed() -> None:
    async with HttpClient(AddressPolicy()) as http:
        context = SearchContext(http=http, page=Page(size=10), settings=None, now=NOW, deadline=Deadline.after(1))
        models = await toolkit.web_search.list_models(context)
    assert [model.id for model in models] == ["google", "google_light"]


def test_what_is_no_page_of_results_has_its_meaning() -> None:
    answers = Answers.load(Path(__file__).parent / "answers" / "searchapi.toml")
    assert run_check(answers_mean, toolkit, answers) == ()
