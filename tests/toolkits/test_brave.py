"""Brave Search: its exact requests, its answers, its errors."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from aioresponses import aioresponses

from searchport import ErrorCode, SearchError, SearchRequest, SearchResponse
from searchport.egress import AddressPolicy, HttpClient
from searchport.testing import ask, vendor_wire
from searchport_toolkits.brave import toolkit

FIND = re.compile(r"^https://api\.search\.brave\.com/res/v1/web/search\?")
NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)
ALWAYS = {"operators": "false", "spellcheck": "false", "text_decorations": "false", "result_filter": "web"}

ANSWER = {
    "type": "search",
    "query": {"original": "tidal turbine", "spellcheck_off": True, "more_results_available": True},
    "web": {
        "type": "search",
        "results": [
            {
                "title": "\u200eHarbour <strong>turbine</strong> passes sea trial",
                "url": "https://news.example.org/turbine",
                "description": "The operator&#x27;s <strong>tidal turbine</strong>",
                "page_age": "2026-09-18T05:45:00",
                "age": "2 days ago",
            },
            {"title": "Old", "url": "https://b.example/", "page_age": "2024-07-25T10:00:00", "age": "July 25, 2024"},
            {"title": "Young", "url": "https://c.example/", "age": "3 hours ago"},
            {"title": "Undated", "url": "https://wiki.example.net/tidal"},
        ],
    },
}
EMPTY = {"type": "search", "query": {"original": "zzqqxx", "more_results_available": False}}


def error(code: str, **meta: Any) -> dict[str, Any]:
    return {
        "type": "ErrorResponse",
        "error": {"id": "1", "status": 422, "code": code, "detail": "words", "meta": meta},
        "time": 1,
    }


async def search(
    wire: aioresponses,
    *answers: dict[str, Any],
    status: int = 200,
    headers: dict[str, str] | None = None,
    query: str = "red pandas",
    **options: Any,
) -> SearchResponse:
    for answer in answers:
        wire.get(FIND, status=status, payload=answer, headers=headers)
    async with HttpClient(AddressPolicy()) as http:
        return await ask(toolkit, SearchRequest(query, **options), http=http, credential="KEY", now=NOW)


def sent(wire: aioresponses) -> list[dict[str, str]]:
    return [dict(url.query) for (_, url), calls in wire.requests.items() for _ in calls]


async def test_a_query_is_literal_text_and_the_key_is_in_its_header() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, query='site:x "unbalanced')
        assert sent(wire) == [{"q": 'site:x "unbalanced', "count": "10", "offset": "0", **ALWAYS}]
        ((call,),) = wire.requests.values()
        assert call.kwargs["headers"]["X-Subscription-Token"] == "KEY"


@pytest.mark.parametrize(
    ("options", "sent_as"),
    [
        ({"recency": "day"}, {"freshness": "pd"}),
        ({"recency": "week"}, {"freshness": "pw"}),
        ({"recency": "month"}, {"freshness": "pm"}),
        ({"recency": "year"}, {"freshness": "py"}),
        ({"freshness": "PT12H"}, {"freshness": "pd"}),
        ({"freshness": "P8D"}, {"freshness": "pm"}),
        ({"freshness": "P30D"}, {"freshness": "py"}),
        ({"freshness": "P400D"}, {}),
        ({"freshness": "P400D", "recency": "day"}, {"freshness": "pd"}),
        ({"safe": "moderate"}, {"safesearch": "moderate"}),
        ({"safe": "off"}, {"safesearch": "off"}),
        ({"language": "ja"}, {"search_lang": "jp"}),
        ({"language": "en-GB"}, {"search_lang": "en-gb"}),
        ({"language": "de-AT"}, {"search_lang": "de"}),
        ({"language": "zh-TW"}, {"search_lang": "zh-hant"}),
        ({"country": "de"}, {"country": "DE"}),
        ({"site": "example.org"}, {"goggles": "$discard\n$site=example.org"}),
    ],
)
async def test_every_option_has_its_parameter(options: dict[str, Any], sent_as: dict[str, str]) -> None:
    with vendor_wire() as wire:
        response = await search(wire, EMPTY, **options)
        assert sent(wire) == [{"q": "red pandas", "count": "10", "offset": "0", **ALWAYS, **sent_as}]
        assert response.ignored == ()


@pytest.mark.parametrize(("options", "ignored"), [({"country": "VA"}, ("country",)), ({"language": "el"}, ("language",))])
async def test_what_braves_closed_lists_lack_is_named_as_ignored(options: dict[str, Any], ignored: tuple[str, ...]) -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, **options)).ignored == ignored
        assert sent(wire) == [{"q": "red pandas", "count": "10", "offset": "0", **ALWAYS}]


async def test_the_offset_counts_pages_and_a_short_page_is_not_the_last() -> None:
    short = ANSWER | {"web": {"results": [{"title": "t", "url": f"https://a.example/{n}"} for n in range(17)]}}
    with vendor_wire() as wire:
        await search(wire, short, short, short, max_results=50)
        assert [(query["offset"], query["count"]) for query in sent(wire)] == [("0", "20"), ("1", "20"), ("2", "20")]


async def test_paging_ends_where_brave_says_that_there_is_no_more() -> None:
    last = ANSWER | {"query": {"more_results_available": False}}
    with vendor_wire() as wire:
        await search(wire, last, max_results=50)
        assert len(sent(wire)) == 1


async def test_titles_links_snippets_and_dates_are_read() -> None:
    with vendor_wire() as wire:
        response = await search(wire, ANSWER, max_results=4)
    assert response.results[0].url == "https://news.example.org/turbine"
    assert response.results[0].snippet == "The operator&#x27;s <strong>tidal turbine</strong>"
    assert [result.published_date for result in response.results] == [
        "2026-09-18T05:45:00",
        "July 25, 2024",
        "3 hours ago",
        None,
    ]


async def test_a_sentence_in_place_of_a_description_is_no_snippet() -> None:
    row = {"url": "https://a.example/", "description": "We cannot provide a description for this page right now"}
    with vendor_wire() as wire:
        (result,) = (await search(wire, ANSWER | {"web": {"results": [row]}}, max_results=1)).results
    assert result.snippet is None


@pytest.mark.parametrize("answer", [EMPTY, EMPTY | {"web": None}, EMPTY | {"web": {}}, EMPTY | {"web": {"results": []}}])
async def test_an_answer_without_web_results_is_empty(answer: dict[str, Any]) -> None:
    with vendor_wire() as wire:
        assert list((await search(wire, answer)).results) == []


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (422, error("SUBSCRIPTION_TOKEN_INVALID", component="authentication"), "provider_unauthorized"),
        (422, error("VALIDATION", errors=[{"loc": ["header", "x-subscription-token"]}]), "provider_unauthorized"),
        (422, error("VALIDATION", errors=[{"loc": ["query", "count"]}]), "provider_rejected"),
        (404, error("SUBSCRIPTION_NOT_FOUND"), "provider_unauthorized"),
        (404, error("API_VERSION_NOT_FOUND"), "provider_rejected"),
        (429, error("RATE_LIMITED", quota_limit=0), "provider_rate_limited"),
        (429, error("QUOTA_LIMITED", quota_limit=2_000), "provider_rate_limited"),
        (422, {"type": "ErrorResponse", "errors": [{"code": "SUBSCRIPTION_TOKEN_INVALID"}]}, "provider_unauthorized"),
        (422, error("SOMETHING_NEW"), "provider_rejected"),
        (200, error("SUBSCRIPTION_TOKEN_INVALID"), "provider_unauthorized"),
        (200, {"type": "ErrorResponse"}, "provider_rejected"),
        (401, {}, "provider_unauthorized"),
        (403, {}, "provider_unauthorized"),
        (500, {}, "provider_unavailable"),
        (200, {"web": {"results": "none"}}, "provider_unavailable"),
        (200, {"web": []}, "provider_unavailable"),
        (200, {}, "provider_unavailable"),
        (200, {"message": "words"}, "provider_unavailable"),
    ],
)
async def test_every_failure_has_its_code(status: int, body: dict[str, Any], code: str) -> None:
    with vendor_wire() as wire, pytest.raises(SearchError) as caught:
        await search(wire, body, status=status)
    assert caught.value.code == code
    assert caught.value.provider == "brave"


async def test_results_are_not_kept_since_braves_terms_forbid_it() -> None:
    assert toolkit.web_search.cacheable is False


def test_the_closed_lists_are_whole() -> None:
    assert len(toolkit.web_search.languages or {}) == 51
    assert len(toolkit.web_search.countries or {}) == 36


async def test_an_unknown_vendor_code_is_in_the_error() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError) as caught:
        await search(wire, error("SOMETHING_NEW"), status=422)
    assert caught.value.vendor_code == "SOMETHING_NEW"


@pytest.mark.parametrize(
    ("limit", "remaining", "reset", "seconds"),
    [
        ("1, 15000", "0, 1000", "1, 1419704", 1),
        ("15000, 1", "1000, 0", "1419704, 1", 1),
        ("50, 0", "0, 0", "1, 1419704", 1),
        ("1, 15000", "0, 0", "1, 1419704", 1_419_704),
    ],
)
async def test_a_rate_limit_says_when_its_spent_window_begins_anew(limit: str, remaining: str, reset: str, seconds: int) -> None:
    """A window of limit 0 is unlimited, and its remaining 0 means nothing."""
    headers = {"X-RateLimit-Limit": limit, "X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": reset}
    with vendor_wire() as wire, pytest.raises(SearchError) as caught:
        await search(wire, error("RATE_LIMITED"), status=429, headers=headers)
    assert caught.value.retry_after == seconds


@pytest.mark.parametrize("query", ["x" * 401, "w " * 51])
async def test_a_query_that_is_too_long_is_refused_before_anything_is_sent(query: str) -> None:
    with vendor_wire() as wire, pytest.raises(SearchError, match=r"\$\.query") as caught:
        await search(wire, query=query)
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    assert not wire.requests
