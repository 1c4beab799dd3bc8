"""Linkup: its exact requests, its answers, its errors."""

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
from searchport_toolkits.linkup import toolkit

FIND = "https://api.linkup.so/v1/search"
NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)
EMPTY: dict[str, Any] = {"results": []}
PLAIN = {"q": "red pandas", "depth": "fast", "outputType": "searchResults", "maxResults": 10}


def error(status: int, code: str) -> dict[str, Any]:
    return {"statusCode": status, "error": {"code": code, "message": "words", "details": []}}


async def search(
    wire: aioresponses, answer: object, *, status: int = 200, model: str | None = None, **options: Any
) -> SearchResponse:
    wire.post(FIND, payload=answer, status=status)
    async with HttpClient(AddressPolicy()) as http:
        return await ask(toolkit, SearchRequest("red pandas", **options), http=http, credential="KEY", model=model, now=NOW)


def sent(wire: aioresponses) -> list[dict[str, Any]]:
    return [call.kwargs["json"] for calls in wire.requests.values() for call in calls]


async def test_a_plain_search_is_of_a_depth_that_does_not_interpret_the_query() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY)
        assert sent(wire) == [PLAIN]
        ((call,),) = wire.requests.values()
        headers = {name: value for name, value in call.kwargs["headers"].items() if name != "User-Agent"}
        assert headers == {"Authorization": "Bearer KEY"}


async def test_every_option_has_its_member() -> None:
    with vendor_wire() as wire:
        response = await search(wire, EMPTY, max_results=50, recency="week", site="example.org", model="deep")
        options = {"depth": "deep", "maxResults": 50, "fromDate": "2026-09-13", "includeDomains": ["example.org"]}
        assert sent(wire) == [PLAIN | options]
        assert response.ignored == ()


@pytest.mark.parametrize(
    ("recency", "since"), [("day", "2026-09-19"), ("week", "2026-09-13"), ("month", "2026-08-20"), ("year", "2025-09-19")]
)
async def test_a_window_is_the_day_on_which_it_begins(recency: str, since: str) -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, recency=recency)
        assert sent(wire) == [PLAIN | {"fromDate": since}]


async def test_a_language_and_a_country_are_named_as_ignored() -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, language="de", country="DE")).ignored == ("country", "language")
        assert sent(wire) == [PLAIN]


@pytest.mark.parametrize(("option", "value"), [("freshness", "P5D"), ("safe", "strict")])
async def test_what_it_cannot_hold_is_refused_before_anything_is_sent(option: str, value: str) -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match=rf"\$\.{option}") as caught:
        await search(wire, EMPTY, **{option: value})
    assert caught.value.code is ErrorCode.UNSUPPORTED_OPTION
    assert not wire.requests


async def test_pages_are_read_and_images_are_not() -> None:
    rows = [
        {"type": "text", "name": "A", "url": "https://a.example/", "content": "# Sea trial\n40 days & <more>"},
        {"type": "image", "name": "B", "url": "https://b.example/b.jpg"},
        {"name": "C", "url": "https://c.example/"},
        {"type": "text", "name": "D", "url": "https://d.example/", "content": "d", "date": "2026-09-01"},
    ]
    with vendor_wire() as wire:
        response = await search(wire, {"results": rows}, max_results=4)
    assert [(row.title, row.url, row.snippet, row.published_date) for row in response.results] == [
        ("A", "https://a.example/", "# Sea trial\n40 days & <more>", None),
        ("D", "https://d.example/", "d", "2026-09-01"),
    ]


async def test_fifty_results_are_one_request() -> None:
    rows = [{"type": "text", "url": f"https://a.example/{number}"} for number in range(30)]
    with vendor_wire() as wire:
        assert len((await search(wire, {"results": rows}, max_results=50)).results) == 30
        assert len(sent(wire)) == 1


async def test_a_bad_request_that_means_nothing_found_is_an_empty_answer() -> None:
    with vendor_wire() as wire:
        response = await search(wire, error(400, "SEARCH_QUERY_NO_RESULT"), status=400)
    assert (list(response.results), response.vendor) == ([], "linkup")


@pytest.mark.parametrize(
    ("code", "reason"), [("INSUFFICIENT_FUNDS_CREDITS", "its credit is spent"), ("EXCEED_BUDGET_LIMIT", "its budget is spent")]
)
async def test_too_many_requests_is_told_from_spent_money_by_its_code(code: str, reason: str) -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match=reason) as caught:
        await search(wire, error(429, code), status=429)
    assert (caught.value.code, caught.value.vendor_code) == (ErrorCode.PROVIDER_RATE_LIMITED, code)


async def test_its_depths_are_listed_with_what_they_make_of_a_query() -> None:
    async with HttpClient(AddressPolicy()) as http:
        context = SearchContext(http=http, page=Page(size=10), settings=None, now=NOW, deadline=Deadline.after(1))
        models = await toolkit.web_search.list_models(context)
    assert [model.id for model in models] == ["fast", "flash", "standard", "deep"]
    assert [model.id for model in models if "instructions" in model.name] == ["standard", "deep"]


def test_what_is_no_page_of_results_has_its_meaning() -> None:
    answers = Answers.load(Path(__file__).parent / "answers" / "linkup.toml")
    assert run_check(answers_mean, toolkit, answers) == ()
