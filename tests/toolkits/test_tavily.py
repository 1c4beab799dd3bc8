"""Tavily: its exact requests, its answers, its errors."""

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
from searchport_toolkits.tavily import toolkit

FIND = "https://api.tavily.com/search"
NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)
EMPTY: dict[str, Any] = {"query": "red pandas", "answer": None, "images": [], "results": [], "response_time": 0.7}
PLAIN = {"query": "red pandas", "max_results": 10, "include_published_date": True, "auto_parameters": False}


async def search(
    wire: aioresponses, answer: object, *, query: str = "red pandas", status: int = 200, model: str | None = None, **options: Any
) -> SearchResponse:
    wire.post(FIND, payload=answer, status=status)
    async with HttpClient(AddressPolicy()) as http:
        return await ask(toolkit, SearchRequest(query, **options), http=http, credential="KEY", model=model, now=NOW)


def sent(wire: aioresponses) -> list[dict[str, Any]]:
    return [call.kwargs["json"] for calls in wire.requests.values() for call in calls]


async def test_a_plain_search_asks_for_dates_and_chooses_nothing_by_itself() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY)
        assert sent(wire) == [PLAIN]
        ((call,),) = wire.requests.values()
        headers = {name: value for name, value in call.kwargs["headers"].items() if name != "User-Agent"}
        assert headers == {"Authorization": "Bearer KEY"}


async def test_every_option_has_its_member() -> None:
    with vendor_wire() as wire:
        response = await search(
            wire, EMPTY, max_results=50, recency="month", freshness="P5D", site="example.org", country="KR", model="advanced"
        )
        assert sent(wire) == [
            PLAIN
            | {
                "max_results": 20,
                "search_depth": "advanced",
                "time_range": "month",
                "filter_by_published_date": True,
                "include_domains": ["example.org"],
                "include_domains_mode": "restrict",
                "country": "south korea",
            }
        ]
        assert response.ignored == ()


async def test_a_recency_alone_lets_undated_pages_through() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, recency="day")
        assert sent(wire) == [PLAIN | {"time_range": "day"}]


async def test_a_freshness_asks_for_pages_with_a_date_in_the_window_that_covers_it() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, freshness="P400D")
        await search(wire, EMPTY, freshness="P8D")
        strict = PLAIN | {"filter_by_published_date": True}
        assert sent(wire) == [strict, strict | {"time_range": "month"}]


@pytest.mark.parametrize("options", [{"language": "de"}, {"country": "VA"}])
async def test_what_it_has_no_word_for_is_named_as_ignored(options: dict[str, str]) -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, **options)).ignored == tuple(options)
        assert sent(wire) == [PLAIN]


async def test_safe_search_depends_on_the_plan_and_is_refused_before_anything_is_sent() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match=r"\$\.safe") as caught:
        await search(wire, EMPTY, safe="strict")
    assert caught.value.code is ErrorCode.UNSUPPORTED_OPTION
    assert not wire.requests


async def test_twenty_results_are_all_there_are() -> None:
    rows = [{"url": f"https://a.example/{number}"} for number in range(20)]
    with vendor_wire() as wire:
        assert len((await search(wire, EMPTY | {"results": rows}, max_results=50)).results) == 20
        assert len(sent(wire)) == 1


async def test_a_query_of_more_than_400_characters_is_refused_before_anything_is_sent() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match=r"\$\.query"):
        await search(wire, EMPTY, query="x" * 401)
    assert not wire.requests


async def test_titles_links_excerpts_and_dates_are_read() -> None:
    rows = [
        {
            "title": "A",
            "url": "https://a.example/",
            "content": "# One\n[...] <two>",
            "published_date": "Fri, 18 Sep 2026 05:45:00 GMT",
        },
        {"title": "B", "url": "https://b.example/", "content": "b", "raw_content": "long", "published_date": None},
    ]
    with vendor_wire() as wire:
        response = await search(wire, EMPTY | {"results": rows}, max_results=2)
    assert [(row.title, row.url, row.snippet, row.published_date) for row in response.results] == [
        ("A", "https://a.example/", "# One\n[...] <two>", "Fri, 18 Sep 2026 05:45:00 GMT"),
        ("B", "https://b.example/", "b", None),
    ]


@pytest.mark.parametrize(("status", "reason"), [(432, "of its plan"), (433, "pay-as-you-go limit")])
async def test_spent_money_has_statuses_of_its_own(status: int, reason: str) -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match=reason) as caught:
        await search(wire, {"detail": {"error": "words"}}, status=status)
    assert caught.value.code is ErrorCode.PROVIDER_RATE_LIMITED


async def test_its_depths_are_listed() -> None:
    async with HttpClient(AddressPolicy()) as http:
        context = SearchContext(http=http, page=Page(size=10), settings=None, now=NOW, deadline=Deadline.after(1))
        models = await toolkit.web_search.list_models(context)
    assert [model.id for model in models] == ["basic", "advanced", "fast", "ultra-fast"]
    assert [model.id for model in models if "twice the price" in model.name] == ["advanced"]


@pytest.mark.parametrize(("depth", "usd"), [(None, 8), ("basic", 8), ("advanced", 16), ("fast", 8), ("ultra-fast", 8)])
def test_the_advanced_depth_costs_two_credits(depth: str | None, usd: int) -> None:
    assert toolkit.web_search.price is not None
    assert toolkit.web_search.price.of(depth, 20) == usd


def test_what_is_no_page_of_results_has_its_meaning() -> None:
    answers = Answers.load(Path(__file__).parent / "answers" / "tavily.toml")
    assert run_check(answers_mean, toolkit, answers) == ()
