"""Serper: its exact requests, its answers, its errors."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aioresponses import aioresponses

from searchport import ErrorCode, SearchError, SearchRequest, SearchResponse
from searchport.egress import AddressPolicy, HttpClient
from searchport.testing import ask, vendor_wire
from searchport.testing.conformance import Answers, run_check
from searchport.testing.conformance.faults import answers_mean
from searchport_toolkits.serper import toolkit

FIND = "https://google.serper.dev/search"
NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)
ASKED = {"q": "red pandas", "type": "search", "engine": "google"}
EMPTY: dict[str, Any] = {"searchParameters": ASKED, "organic": [], "credits": 1}
PLAIN = {"q": "red pandas", "num": 10, "page": 1, "hl": "en", "autocorrect": False}


async def search(
    wire: aioresponses, *answers: object, query: str = "red pandas", status: int = 200, **options: Any
) -> SearchResponse:
    for answer in answers:
        wire.post(FIND, payload=answer, status=status)
    async with HttpClient(AddressPolicy()) as http:
        return await ask(toolkit, SearchRequest(query, **options), http=http, credential="KEY", now=NOW)


def sent(wire: aioresponses) -> list[dict[str, Any]]:
    return [call.kwargs["json"] for calls in wire.requests.values() for call in calls]


async def test_a_plain_search_is_left_uncorrected_and_has_the_key_in_its_header() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, query='site:x "unbalanced')
        assert sent(wire) == [PLAIN | {"q": 'site:x "unbalanced'}]
        ((call,),) = wire.requests.values()
        assert {name: value for name, value in call.kwargs["headers"].items() if name != "User-Agent"} == {"X-API-KEY": "KEY"}


async def test_every_option_has_its_member_but_a_site_has_none() -> None:
    with vendor_wire() as wire:
        response = await search(wire, EMPTY, max_results=5, recency="week", site="example.org", language="pt-BR", country="GB")
        assert sent(wire) == [PLAIN | {"num": 5, "tbs": "qdr:w", "hl": "pt", "gl": "gb"}]
        assert response.ignored == ()


async def test_under_freshness_google_is_asked_in_english_and_the_language_is_named_as_ignored() -> None:
    """Ages in other languages prove nothing, so that freshness would drop every young page."""
    with vendor_wire() as wire:
        response = await search(wire, EMPTY, freshness="P5D", language="de")
        assert sent(wire) == [PLAIN | {"tbs": "qdr:w"}]
        assert response.ignored == ("language",)


async def test_under_freshness_english_is_honoured() -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, freshness="P5D", language="en-GB")).ignored == ()


async def test_a_language_that_google_lacks_is_named_once() -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, freshness="P5D", language="sw")).ignored == ("language",)
        assert sent(wire) == [PLAIN | {"tbs": "qdr:w"}]


async def test_safe_search_is_refused_before_anything_is_sent() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match=r"\$\.safe") as caught:
        await search(wire, safe="strict")
    assert caught.value.code is ErrorCode.UNSUPPORTED_OPTION
    assert not wire.requests


async def test_more_than_ten_results_are_paged_by_ten_and_a_short_page_is_not_the_last() -> None:
    short = EMPTY | {"organic": [{"link": f"https://a.example/{number}"} for number in range(6)]}
    with vendor_wire() as wire:
        response = await search(wire, short, short, EMPTY, max_results=30)
        assert [(body["page"], body["num"]) for body in sent(wire)] == [(1, 10), (2, 10), (3, 10)]
        assert len(response.results) == 12


async def test_only_organic_results_are_read_and_their_dates_stay_googles_words() -> None:
    organic = [
        {"title": "A", "link": "https://a.example/", "snippet": "90 days & <fed> ...", "date": "Sep 18, 2026", "position": 1},
        {"title": "B", "link": "https://b.example/", "date": "3 days ago", "position": 2},
        {"title": "C", "position": 3, "sitelinks": [{"title": "D", "link": "https://d.example/"}]},
    ]
    others = {"answerBox": {"link": "https://x.example/"}, "topStories": [{"link": "https://y.example/", "title": "Y"}]}
    with vendor_wire() as wire:
        response = await search(wire, EMPTY | others | {"organic": organic}, max_results=3)
    assert response.vendor == "google"
    assert [(row.title, row.url, row.snippet, row.published_date) for row in response.results] == [
        ("A", "https://a.example/", "90 days & <fed> ...", "Sep 18, 2026"),
        ("B", "https://b.example/", None, "3 days ago"),
        ("C", None, None, None),
    ]


@pytest.mark.parametrize("message", ["Not enough credits", "not enough credits.", "NOT ENOUGH CREDITS"])
async def test_spent_credit_is_told_from_a_bad_request_by_its_sentence(message: str) -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match="its credits are spent") as caught:
        await search(wire, {"message": message, "statusCode": 400}, status=400)
    assert caught.value.code is ErrorCode.PROVIDER_RATE_LIMITED


async def test_a_query_that_free_keys_may_not_send_is_named_without_being_shown() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match="a free account may not send such a query") as caught:
        await search(wire, {"message": "Query pattern not allowed for free accounts."}, query='"canary"', status=400)
    assert caught.value.code is ErrorCode.PROVIDER_REJECTED
    assert "canary" not in str(caught.value)


def test_what_is_no_page_of_results_has_its_meaning() -> None:
    answers = Answers.load(Path(__file__).parent / "answers" / "serper.toml")
    assert run_check(answers_mean, toolkit, answers) == ()


def test_its_doubts_are_declared() -> None:
    assert toolkit.risk is not None
    assert "Google" in toolkit.risk
    assert toolkit.web_search.literal is False
