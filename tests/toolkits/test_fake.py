"""The fake provider: what each scenario shows to someone who tests a workflow."""

from datetime import UTC, datetime
from typing import Any

import pytest

from searchport import ErrorCode, SearchError, SearchRequest, guarantees
from searchport.egress import AddressPolicy
from searchport.guarantees import Guaranteed
from searchport.testing import FakeWeb, ask
from searchport_toolkits.fake import toolkit

NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)


async def search(query: str, *, deadline_seconds: float = 5, **options: Any) -> Guaranteed:
    request = SearchRequest(query, **options)
    async with FakeWeb() as web, web.client() as http:
        response = await ask(toolkit, request, http=http, now=NOW, deadline_seconds=deadline_seconds)
        assert web.requests == []
    return guarantees.apply(response, request, toolkit.web_search, AddressPolicy(), NOW, NOW)


async def test_any_query_gets_three_dated_results_with_no_request() -> None:
    kept = await search("red pandas")
    assert [result.title for result in kept.results] == [f"Result {n} for red pandas" for n in (1, 2, 3)]
    assert [result.published_date for result in kept.results] == [
        "2026-09-20T11:00:00Z",
        "2026-09-20T06:00Z",
        "2026-09-19",
    ]


async def test_the_longest_query_gets_results_too() -> None:
    assert len((await search("\U0001f43c" * 2_000)).results) == 3


async def test_results_are_of_the_site_that_was_asked_for() -> None:
    kept = await search("q", site="docs.example.org")
    assert len(kept.results) == 3
    assert all(result.url.startswith("https://docs.example.org/") for result in kept.results)


async def test_what_was_asked_for_stands_in_the_snippets() -> None:
    (first, *_) = (await search("q", language="pt-BR", country="BR", safe="strict")).results
    assert first.snippet == "About q, number 1. language: pt-BR. country: BR. safe: strict."


async def test_limited_is_a_rate_limit_with_a_time_to_wait() -> None:
    with pytest.raises(SearchError) as caught:
        await search("limited: q")
    assert (caught.value.code, caught.value.retry_after) == (ErrorCode.PROVIDER_RATE_LIMITED, 30)


async def test_challenge_is_a_bot_wall() -> None:
    with pytest.raises(SearchError) as caught:
        await search("challenge: q")
    assert caught.value.code is ErrorCode.PROVIDER_UNAVAILABLE


async def test_undated_results_are_dropped_under_freshness() -> None:
    assert len((await search("undated: q")).results) == 3
    assert (await search("undated: q", freshness="P7D")).report.undated == 3


async def test_offsite_results_are_dropped_under_site() -> None:
    assert len((await search("offsite: q")).results) == 3
    assert (await search("offsite: q", site="example.com")).report.off_site == 3


async def test_hidden_characters_are_removed_and_counted() -> None:
    kept = await search("hidden: q")
    assert kept.results[0].title == "Result 1 for hidden: q"
    assert kept.report.hidden_characters == 12


async def test_empty_is_a_success_without_results() -> None:
    assert (await search("empty: q")).results == ()
