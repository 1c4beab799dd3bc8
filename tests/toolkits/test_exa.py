"""Exa: its exact requests, its answers, its errors."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aioresponses import aioresponses

from searchport import SearchError, SearchModel, SearchRequest, SearchResponse
from searchport.egress import AddressPolicy, Deadline, HttpClient
from searchport.testing import ask, vendor_wire
from searchport.web_search import Page, SearchContext
from searchport_toolkits.exa import toolkit

FIND = "https://api.exa.ai/search"
NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)
EMPTY: dict[str, Any] = {"requestId": "1", "results": []}
PLAIN = {"query": "red pandas", "numResults": 10, "contents": {"highlights": True}}
SCENARIOS = tomllib.loads((Path(__file__).parent / "answers" / "exa.toml").read_text("utf-8"))["answers"]


async def search(
    wire: aioresponses, answer: object, *, query: str = "red pandas", model: str | None = None, **options: Any
) -> SearchResponse:
    wire.post(FIND, payload=answer)
    async with HttpClient(AddressPolicy()) as http:
        return await ask(toolkit, SearchRequest(query, **options), http=http, credential="KEY", model=model, now=NOW)


def sent(wire: aioresponses) -> list[dict[str, Any]]:
    return [call.kwargs["json"] for calls in wire.requests.values() for call in calls]


async def test_a_plain_search_asks_for_excerpts_with_the_key_in_its_header() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY)
        assert sent(wire) == [PLAIN]
        ((call,),) = wire.requests.values()
        assert {name: value for name, value in call.kwargs["headers"].items() if name != "User-Agent"} == {"x-api-key": "KEY"}


async def test_every_option_has_its_member() -> None:
    with vendor_wire() as wire:
        response = await search(
            wire, EMPTY, max_results=50, recency="week", site="example.org", country="de", safe="strict", model="fast"
        )
        assert sent(wire) == [
            {
                "query": "red pandas",
                "numResults": 50,
                "type": "fast",
                "startPublishedDate": "2026-09-13T12:00:00Z",
                "includeDomains": ["example.org"],
                "userLocation": "DE",
                "moderation": True,
                "contents": {"highlights": True},
            }
        ]
        assert response.ignored == ()


@pytest.mark.parametrize(
    ("options", "since"),
    [
        ({"recency": "day"}, "2026-09-19T12:00:00Z"),
        ({"recency": "week"}, "2026-09-13T12:00:00Z"),
        ({"recency": "month"}, "2026-08-20T12:00:00Z"),
        ({"recency": "year"}, "2025-09-19T12:00:00Z"),
        ({"freshness": "PT12H"}, "2026-09-19T12:00:00Z"),
        ({"freshness": "P8D"}, "2026-08-20T12:00:00Z"),
    ],
)
async def test_a_window_is_the_instant_at_which_it_begins(options: dict[str, Any], since: str) -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, **options)
        assert sent(wire) == [PLAIN | {"startPublishedDate": since}]


@pytest.mark.parametrize(("safe", "moderation"), [("off", False), ("moderate", True), ("strict", True)])
async def test_safe_search_is_moderation(safe: str, moderation: bool) -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, safe=safe)
        assert sent(wire) == [PLAIN | {"moderation": moderation}]


async def test_a_language_is_named_as_ignored() -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, language="de")).ignored == ("language",)
        assert sent(wire) == [PLAIN]


async def test_fifty_results_are_one_request() -> None:
    rows = [{"url": f"https://example.org/{number}"} for number in range(30)]
    with vendor_wire() as wire:
        assert len((await search(wire, EMPTY | {"results": rows}, max_results=50)).results) == 30
        assert len(sent(wire)) == 1


async def test_excerpts_are_joined_and_a_row_without_them_has_its_summary_or_its_text() -> None:
    rows = [
        {"url": "https://a.example/", "title": "A", "highlights": ["one", "two"]},
        {"url": "https://b.example/", "title": None, "highlights": [], "summary": "sum", "text": "long"},
        {"url": "https://c.example/", "text": "long"},
        {"url": "https://d.example/", "highlights": {"odd": 1}},
    ]
    with vendor_wire() as wire:
        response = await search(wire, EMPTY | {"results": rows})
    assert [result.snippet for result in response.results] == ["one … two", "sum", "long", None]
    assert [result.title for result in response.results] == ["A", None, None, None]


async def test_midnight_is_a_day_without_a_time() -> None:
    dates = ["2024-02-06T00:00:00.000Z", "2023-11-16T01:36:32.547Z", "2026-09-01", None]
    with vendor_wire() as wire:
        rows = [{"url": "https://a.example/", "publishedDate": date} for date in dates]
        response = await search(wire, EMPTY | {"results": rows})
    assert [result.published_date for result in response.results] == [
        "2024-02-06",
        "2023-11-16T01:36:32.547Z",
        "2026-09-01",
        None,
    ]


async def test_a_plan_that_gives_fewer_results_is_named() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match="its plan gives fewer results"):
        await search(wire, {"error": "words", "tag": "NUM_RESULTS_EXCEEDED"}, max_results=50)


async def test_its_tiers_are_listed() -> None:
    async with HttpClient(AddressPolicy()) as http:
        context = SearchContext(http=http, page=Page(size=10), settings=None, now=NOW, deadline=Deadline.after(1))
        models = await toolkit.web_search.list_models(context)
    assert models[0] == SearchModel("auto", "Auto")
    assert [model.id for model in models] == ["auto", "lite", "fast", "instant", "deep", "deep-reasoning"]


@pytest.mark.parametrize("case", SCENARIOS, ids=lambda case: case["scenario"])
async def test_what_is_no_page_of_results_has_its_meaning(case: dict[str, Any]) -> None:
    with vendor_wire() as wire:
        wire.post(FIND, status=case.get("status", 200), body=case["body"], headers=case.get("headers"))
        async with HttpClient(AddressPolicy()) as http:
            if case["expect"] == "empty":
                assert list((await ask(toolkit, SearchRequest("red pandas"), http=http)).results) == []
                return
            with pytest.raises(SearchError) as caught:
                await ask(toolkit, SearchRequest("red pandas"), http=http)
    assert (caught.value.code, caught.value.provider) == (case["expect"], "exa")
    assert caught.value.retry_after == case.get("retry_after")
