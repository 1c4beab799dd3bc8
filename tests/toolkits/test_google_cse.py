"""Google Custom Search: its exact requests, its answers, its errors."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aioresponses import aioresponses
from yarl import URL

from searchport import ErrorCode, SearchError, SearchRequest, SearchResponse
from searchport.egress import AddressPolicy, HttpClient
from searchport.published_date import normalize
from searchport.testing import ask, vendor_wire
from searchport_toolkits.google_cse import toolkit

FIND = re.compile(r"^https://www\.googleapis\.com/customsearch/v1\?")
NOW = datetime(2026, 9, 20, 12, tzinfo=UTC)
CASES = [
    json.loads(line) for line in (Path(__file__).parents[1] / "cases" / "cse_metatags.jsonl").read_text("utf-8").splitlines()
]

ANSWER = {
    "kind": "customsearch#search",
    "queries": {"request": [{"count": 3, "startIndex": 1}], "nextPage": [{"startIndex": 4}]},
    "searchInformation": {"totalResults": "48100"},
    "items": [
        {
            "title": "Harbour turbine passes sea trial",
            "link": "https://news.example.org/2026/09/turbine",
            "snippet": "Sep 18, 2026 ... The operator's <form> ran for 90 days & \nfed the local grid ...",
            "pagemap": {
                "metatags": [
                    {
                        "article:published_time": "2026-09-18T07:45:00+02:00",
                        "article:modified_time": "2026-09-19T09:00:00Z",
                    }
                ]
            },
        },
        {
            "title": "Tidal stream basics",
            "link": "https://wiki.example.net/tidal",
            "pagemap": {"metatags": [{"viewport": "x"}]},
        },
        {"link": "https://old.example.com/patent?id=7", "displayLink": "old.example.com"},
    ],
}
EMPTY = {"queries": {"request": [{"count": 10}]}, "searchInformation": {"totalResults": "0"}}


def error(http_status: int, message: str, reason: str | None = None, **fields: Any) -> dict[str, Any]:
    errors = [{"message": message, "domain": "global"} | ({"reason": reason} if reason else {})]
    return {"error": {"code": http_status, "message": message, "errors": errors, **fields}}


async def search(wire: aioresponses, *answers: dict[str, Any], status: int = 200, **options: Any) -> SearchResponse:
    for answer in answers:
        wire.get(FIND, status=status, payload=answer)
    async with HttpClient(AddressPolicy()) as http:
        request = SearchRequest("red pandas", **options)
        return await ask(toolkit, request, http=http, credential="KEY", settings={"cx": "0aa11"}, now=NOW)


def sent(wire: aioresponses) -> list[dict[str, str]]:
    return [dict(url.query) for (method, url), calls in wire.requests.items() for _ in calls if method == "GET"]


async def test_a_plain_search_sends_the_key_the_engine_and_the_query_alone() -> None:
    with vendor_wire() as wire:
        await search(wire, ANSWER, max_results=3)
        assert sent(wire) == [{"key": "KEY", "cx": "0aa11", "q": "red pandas", "num": "3", "start": "1"}]


async def test_every_option_has_its_parameter() -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, recency="week", site="example.org", language="pt-BR", country="BR", safe="strict")
        (query,) = sent(wire)
        assert query == {
            "key": "KEY",
            "cx": "0aa11",
            "q": "red pandas",
            "num": "10",
            "start": "1",
            "dateRestrict": "w1",
            "siteSearch": "example.org",
            "siteSearchFilter": "i",
            "lr": "lang_pt",
            "gl": "br",
            "safe": "active",
        }


@pytest.mark.parametrize(("recency", "sent_as"), [("day", "d1"), ("week", "w1"), ("month", "m1"), ("year", "y1")])
async def test_a_recency_is_googles_window(recency: str, sent_as: str) -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, recency=recency, freshness="PT1H")
        assert sent(wire)[0]["dateRestrict"] == sent_as


@pytest.mark.parametrize(
    ("freshness", "sent_as"), [("PT30M", "d1"), ("P7D", "d7"), ("PT25H", "d2"), ("P4W", "d28"), ("P365D", "d365")]
)
async def test_a_freshness_alone_is_whole_days(freshness: str, sent_as: str) -> None:
    with vendor_wire() as wire:
        await search(wire, EMPTY, freshness=freshness)
        assert sent(wire)[0]["dateRestrict"] == sent_as


@pytest.mark.parametrize(
    ("language", "sent_as"),
    [("he", "lang_iw"), ("nb", "lang_no"), ("zh-TW", "lang_zh-TW"), ("zh-Hans", "lang_zh-CN"), ("en-GB", "lang_en")],
)
async def test_a_language_is_spelt_as_google_does(language: str, sent_as: str) -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, language=language)).ignored == ()
        assert sent(wire)[0]["lr"] == sent_as


@pytest.mark.parametrize("language", ["th", "vi", "uk", "hi"])
async def test_a_language_that_google_lacks_is_named_as_ignored(language: str) -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, language=language)).ignored == ("language",)
        assert "lr" not in sent(wire)[0]


@pytest.mark.parametrize(("country", "sent_as"), [("de", "de"), ("GB", "uk")])
async def test_a_country_is_spelt_as_google_does(country: str, sent_as: str) -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, country=country)).ignored == ()
        assert sent(wire)[0]["gl"] == sent_as


async def test_a_country_that_google_lacks_is_named_as_ignored() -> None:
    with vendor_wire() as wire:
        assert (await search(wire, EMPTY, country="AX")).ignored == ("country",)
        assert "gl" not in sent(wire)[0]


async def test_more_than_ten_results_are_paged_by_ten() -> None:
    full = ANSWER | {"items": [{"link": f"https://example.org/{n}"} for n in range(10)]}
    with vendor_wire() as wire:
        response = await search(wire, full, full, full, full, full, max_results=50)
        assert [(query["start"], query["num"]) for query in sent(wire)] == [(str(start), "10") for start in (1, 11, 21, 31, 41)]
        assert len(response.results) == 50


@pytest.mark.parametrize("last", [EMPTY, {"items": [{"link": "https://example.org/"}], "queries": {"request": []}}, {}])
async def test_paging_ends_with_no_items_or_no_next_page(last: dict[str, Any]) -> None:
    with vendor_wire() as wire:
        await search(wire, last, max_results=50)
        assert len(sent(wire)) == 1


async def test_an_answer_without_queries_does_not_end_paging() -> None:
    with vendor_wire() as wire:
        await search(wire, {"items": ANSWER["items"]}, EMPTY, max_results=20)
        assert len(sent(wire)) == 2


async def test_titles_links_snippets_and_dates_are_read() -> None:
    with vendor_wire() as wire:
        response = await search(wire, ANSWER, max_results=3)
    first, second, third = response.results
    assert (first.title, first.url) == ("Harbour turbine passes sea trial", "https://news.example.org/2026/09/turbine")
    assert "<form>" in (first.snippet or "")
    assert first.published_date == "2026-09-18T07:45:00+02:00"
    assert second.published_date is None
    assert (third.title, third.snippet, third.url) == (None, None, "https://old.example.com/patent?id=7")


@pytest.mark.parametrize("answer", [EMPTY, {}, {"items": []}, {"items": None}, {"spelling": {"correctedQuery": "x"}}])
async def test_no_items_is_an_empty_answer(answer: dict[str, Any]) -> None:
    with vendor_wire() as wire:
        assert list((await search(wire, answer)).results) == []


@pytest.mark.parametrize("case", CASES)
async def test_the_date_is_the_first_metatag_that_states_one(case: dict[str, Any]) -> None:
    answer = {"items": [{"link": "https://example.org/", "pagemap": {"metatags": [case["metatags"]]}}]}
    with vendor_wire() as wire:
        (result,) = (await search(wire, answer)).results
    assert normalize(result.published_date) == case["expected"]


async def test_without_a_stated_date_the_first_metatag_is_handed_over_for_its_bound() -> None:
    tags = {"article:published_time": " ", "pubdate": "2026-09-18T10:00:00", "date": "2026"}
    with vendor_wire() as wire:
        (result,) = (await search(wire, {"items": [{"link": "https://a.example/", "pagemap": {"metatags": [tags]}}]})).results
    assert result.published_date == "2026-09-18T10:00:00"


INVALID_KEY = error(400, "API key not valid. Please pass a valid API key.", "badRequest", status="INVALID_ARGUMENT")
INVALID_KEY["error"]["details"] = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
QUOTA = "Quota exceeded for quota metric 'Queries' and limit 'Queries per day' of service 'customsearch.googleapis.com'"


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (
            400,
            error(400, "Request contains an invalid argument.", "badRequest", status="INVALID_ARGUMENT"),
            "provider_rejected",
        ),
        (400, error(400, "Invalid Value", "invalid"), "provider_rejected"),
        (400, INVALID_KEY, "provider_unauthorized"),
        (
            403,
            error(403, "Method doesn't allow unregistered callers", "forbidden", status="PERMISSION_DENIED"),
            "provider_unauthorized",
        ),
        (
            403,
            error(403, "Custom Search API has not been used in project 1 before", "accessNotConfigured"),
            "provider_unauthorized",
        ),
        (403, error(403, "Requests from referer <empty> are blocked.", "forbidden"), "provider_unauthorized"),
        (
            403,
            error(403, "This project does not have the access to Custom Search JSON API.", "forbidden"),
            "provider_rejected",
        ),
        (403, error(403, "Daily Limit Exceeded", "dailyLimitExceeded"), "provider_rate_limited"),
        (429, error(429, QUOTA, "rateLimitExceeded", status="RESOURCE_EXHAUSTED"), "provider_rate_limited"),
        (200, error(429, QUOTA, "rateLimitExceeded"), "provider_rate_limited"),
        (200, {"error": {"message": "?"}}, "provider_rejected"),
        (200, {"error": {}}, "provider_rejected"),
        (200, {"error": "?"}, "provider_unavailable"),
        (500, {}, "provider_unavailable"),
        (503, error(503, "backend", "backendError"), "provider_unavailable"),
        (200, {"items": {"title": "not a list"}}, "provider_unavailable"),
        (200, {"message": "words"}, "provider_unavailable"),
        (302, {}, "provider_rejected"),
    ],
)
async def test_every_failure_has_its_code(status: int, body: dict[str, Any], code: str) -> None:
    with vendor_wire() as wire, pytest.raises(SearchError) as caught:
        await search(wire, body, status=status)
    assert caught.value.code == code
    assert caught.value.provider == "google-cse"


async def test_a_vendors_words_never_reach_the_error() -> None:
    with vendor_wire() as wire, pytest.raises(SearchError) as caught:
        await search(wire, error(429, QUOTA + " for consumer 'project_number:123456789012'.", "rateLimitExceeded"), status=429)
    assert "123456789012" not in str(caught.value) + repr(caught.value)


async def test_the_engine_id_is_required() -> None:
    async with HttpClient(AddressPolicy()) as http:
        with pytest.raises(SearchError, match=r"settings\.cx") as caught:
            await ask(toolkit, SearchRequest("q"), http=http)
    assert caught.value.code is ErrorCode.PROVIDER_NOT_CONFIGURED


def test_its_end_is_declared_with_a_way_out() -> None:
    assert toolkit.sunset is not None
    assert toolkit.sunset.ends.isoformat() == "2027-01-01"
    assert "brave" in toolkit.sunset.successors


def test_the_pinned_address_is_the_vendors() -> None:
    assert FIND.match(str(URL("https://www.googleapis.com/customsearch/v1?q=x")))
