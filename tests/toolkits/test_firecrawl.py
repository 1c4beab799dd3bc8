"""Firecrawl: its exact requests, its answers, its errors."""

from typing import Any

import pytest

from searchport import ErrorCode, SearchError

FIND = "https://api.firecrawl.dev/v2/search"
EMPTY: dict[str, Any] = {"success": True, "data": {}}
PLAIN = {"query": "red pandas", "limit": 10, "sources": ["web"], "highlights": False}


async def test_a_plain_search_asks_for_pages_of_the_web_with_the_key_in_its_header(vendor: Any) -> None:
    await vendor.search(EMPTY)
    assert vendor.sent == [PLAIN]
    assert vendor.headers == {"Authorization": "Bearer KEY"}


async def test_every_option_has_its_member(vendor: Any) -> None:
    response = await vendor.search(EMPTY, max_results=50, recency="week", site="example.org", country="de", safe="strict")
    assert vendor.sent == [
        PLAIN | {"limit": 50, "tbs": "qdr:w", "includeDomains": ["example.org"], "country": "DE", "safe": True}
    ]
    assert response.ignored == ()


@pytest.mark.parametrize(("recency", "tbs"), [("day", "qdr:d"), ("month", "qdr:m"), ("year", "qdr:y")])
async def test_a_window_is_googles(vendor: Any, recency: str, tbs: str) -> None:
    await vendor.search(EMPTY, recency=recency)
    assert vendor.sent == [PLAIN | {"tbs": tbs}]


@pytest.mark.parametrize(("safe", "sent_as"), [("off", False), ("moderate", True)])
async def test_safe_search_is_on_or_off(vendor: Any, safe: str, sent_as: bool) -> None:
    await vendor.search(EMPTY, safe=safe)
    assert vendor.sent == [PLAIN | {"safe": sent_as}]


async def test_a_language_is_named_as_ignored(vendor: Any) -> None:
    assert (await vendor.search(EMPTY, language="de")).ignored == ("language",)
    assert vendor.sent == [PLAIN]


async def test_a_freshness_is_refused_since_no_row_has_a_date(vendor: Any) -> None:
    with pytest.raises(SearchError) as caught:
        await vendor.search(freshness="P7D")
    assert caught.value.code is ErrorCode.UNSUPPORTED_OPTION
    assert not vendor.wire.requests


@pytest.mark.parametrize("flat", [False, True])
async def test_rows_stand_under_their_source_or_in_one_flat_list(vendor: Any, flat: bool) -> None:
    rows = [{"title": "A", "url": "https://a.example/", "description": "What a page is."}, {"url": "https://b.example/"}]
    response = await vendor.search(EMPTY | {"data": rows if flat else {"web": rows, "news": [{"url": "https://n.example/"}]}})
    assert [(result.title, result.url, result.snippet) for result in response.results] == [
        ("A", "https://a.example/", "What a page is."),
        (None, "https://b.example/", None),
    ]


async def test_fifty_results_are_one_request(vendor: Any) -> None:
    rows = [{"url": f"https://example.org/{number}"} for number in range(30)]
    assert len((await vendor.search(EMPTY | {"data": {"web": rows}}, max_results=50)).results) == 30
    assert len(vendor.sent) == 1


async def test_a_query_that_is_too_long_is_refused_before_anything_is_sent(vendor: Any) -> None:
    with pytest.raises(SearchError, match=r"\$\.query") as caught:
        await vendor.search(query="x" * 501)
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    assert not vendor.wire.requests


async def test_what_is_no_page_of_results_has_its_meaning(vendor: Any, answered: dict[str, Any]) -> None:
    await vendor.check(answered)
