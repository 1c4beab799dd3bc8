"""Bing: its end, its exact requests, its answers, its errors."""

import re
from datetime import date
from typing import Any

import pytest

from searchport import ErrorCode, SearchError
from searchport_toolkits.bing import toolkit

FIND = re.compile(r"^https://api\.bing\.microsoft\.com/v7\.0/search\?")
EMPTY: dict[str, Any] = {"_type": "SearchResponse", "queryContext": {"originalQuery": "zzqqxx"}, "rankingResponse": {}}
PLAIN = {"q": "red pandas", "count": "10", "offset": "0", "responseFilter": "Webpages"}


def found(*pages: dict[str, Any]) -> dict[str, Any]:
    return EMPTY | {"webPages": {"totalEstimatedMatches": 48_100, "value": list(pages)}}


def test_it_ended_and_says_where_to_go() -> None:
    assert toolkit.sunset is not None
    assert toolkit.sunset.ends == date(2025, 8, 11)
    assert toolkit.sunset.successors == ("brave", "you")
    assert not toolkit.sunset.is_over(date(2025, 8, 10))
    assert toolkit.sunset.is_over(date(2025, 8, 11))


async def test_a_plain_search_asks_for_pages_of_the_web_with_the_key_in_its_header(vendor: Any) -> None:
    await vendor.search(EMPTY)
    assert vendor.sent == [PLAIN]
    assert vendor.headers == {"Ocp-Apim-Subscription-Key": "KEY"}


async def test_every_option_has_its_parameter_but_site_which_has_none(vendor: Any) -> None:
    response = await vendor.search(
        EMPTY, max_results=50, recency="week", site="example.org", language="de", country="at", safe="strict"
    )
    assert vendor.sent == [PLAIN | {"count": "50", "freshness": "Week", "mkt": "de-AT", "safeSearch": "Strict"}]
    assert response.ignored == ()


@pytest.mark.parametrize(
    ("options", "freshness"),
    [
        ({"recency": "day"}, "Day"),
        ({"recency": "month"}, "Month"),
        ({"recency": "year"}, "2025-09-19..2026-09-20"),
        ({"freshness": "PT12H"}, "Day"),
        ({"freshness": "P8D"}, "Month"),
        ({"freshness": "P100D"}, "2025-09-19..2026-09-20"),
    ],
)
async def test_a_window_is_its_word_but_a_year_is_a_range_of_days(vendor: Any, options: dict[str, Any], freshness: str) -> None:
    await vendor.search(EMPTY, **options)
    assert vendor.sent == [PLAIN | {"freshness": freshness}]


@pytest.mark.parametrize(("safe", "sent_as"), [("off", "Off"), ("moderate", "Moderate")])
async def test_safe_search_is_its_word(vendor: Any, safe: str, sent_as: str) -> None:
    await vendor.search(EMPTY, safe=safe)
    assert vendor.sent == [PLAIN | {"safeSearch": sent_as}]


@pytest.mark.parametrize(
    ("options", "market", "ignored"),
    [
        ({"language": "en"}, "en-US", ()),
        ({"language": "de"}, "de-DE", ()),
        ({"language": "nb"}, "no-NO", ()),
        ({"language": "zh-TW"}, "zh-TW", ()),
        ({"country": "ch"}, "de-CH", ()),
        ({"country": "ca"}, "en-CA", ()),
        ({"language": "it", "country": "ch"}, "de-CH", ("language",)),
        ({"language": "fr", "country": "va"}, "fr-FR", ("country",)),
        ({"language": "sw"}, None, ("language",)),
    ],
)
async def test_language_and_country_are_one_market(
    vendor: Any, options: dict[str, Any], market: str | None, ignored: tuple[str, ...]
) -> None:
    assert (await vendor.search(EMPTY, **options)).ignored == ignored
    assert vendor.sent == [PLAIN | ({"mkt": market} if market else {})]


async def test_marks_around_highlighted_words_are_taken_out(vendor: Any) -> None:
    page = {"url": "https://a.example/", "name": "Tidal \ue000turbine\ue001", "snippet": "A \ue000tur\ue001bine & \ue019more"}
    (result,) = (await vendor.search(found(page))).results
    assert (result.title, result.snippet) == ("Tidal turbine", "A turbine & more")


async def test_the_calendar_day_is_preferred_to_the_time_without_a_zone(vendor: Any) -> None:
    crawled = {"dateLastCrawled": "2025-06-19T19:10:00.0000000Z"}
    published = {"datePublished": "2023-03-17T00:00:00.0000000"}
    pages = [
        {"url": "https://a.example/", "datePublishedDisplayText": "Mar 17, 2023", **published, **crawled},
        {"url": "https://b.example/", "datePublishedDisplayText": "3 days ago", **published, **crawled},
        {"url": "https://c.example/", **published, **crawled},
        {"url": "https://d.example/", **crawled},
    ]
    response = await vendor.search(found(*pages))
    assert [result.published_date for result in response.results] == [
        "Mar 17, 2023",
        "2023-03-17T00:00:00.0000000",
        "2023-03-17T00:00:00.0000000",
        None,
    ]


async def test_a_url_that_is_too_long_is_named(vendor: Any) -> None:
    vendor.answer(status=404, body="")
    with pytest.raises(SearchError, match="the query is too long once it is a URL"):
        await vendor.search()


async def test_the_longest_plain_query_fits_into_a_url_with_every_option(vendor: Any) -> None:
    await vendor.search(EMPTY, query="q" * 1_500, max_results=50, recency="year", language="de", safe="moderate")
    ((_, url),) = vendor.wire.requests
    assert len(str(url)) < 2_048


async def test_a_longer_query_is_refused_before_anything_is_sent(vendor: Any) -> None:
    with pytest.raises(SearchError, match=r"\$\.query") as caught:
        await vendor.search(query="q" * 1_501)
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    assert not vendor.wire.requests


async def test_what_is_no_page_of_results_has_its_meaning(vendor: Any, answered: dict[str, Any]) -> None:
    await vendor.check(answered)
