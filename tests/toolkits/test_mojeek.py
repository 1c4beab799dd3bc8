"""Mojeek: its exact requests, its answers, its errors."""

import re
from typing import Any

import pytest

from searchport_toolkits.mojeek import toolkit

FIND = re.compile(r"^https://api\.mojeek\.com/search\?")
PLAIN = {"api_key": "KEY", "fmt": "json", "q": "red pandas", "t": "10", "s": "1", "date": "1", "tlen": "127", "dlen": "511"}


def found(*rows: dict[str, Any], given: int | None = None) -> dict[str, Any]:
    head = {} if given is None else {"head": {"return": given}}
    return {"response": {"status": "OK", **head, "results": list(rows)}}


async def test_a_plain_search_asks_for_json_and_for_dates(vendor: Any) -> None:
    await vendor.search(found())
    assert vendor.sent == [PLAIN]
    assert vendor.headers == {"Accept": "application/json"}


async def test_every_option_has_its_parameter(vendor: Any) -> None:
    response = await vendor.search(found(), recency="week", site="example.org", language="pt-BR", country="br", safe="strict")
    assert vendor.sent == [
        PLAIN | {"site": "example.org", "since": "20260913", "lb": "PT", "lbb": "100", "rb": "BR", "rbb": "10", "safe": "1"}
    ]
    assert response.ignored == ()


@pytest.mark.parametrize(
    ("options", "since"),
    [
        ({"recency": "day"}, "20260919"),
        ({"recency": "month"}, "20260820"),
        ({"recency": "year"}, "20250919"),
        ({"freshness": "PT12H"}, "20260919"),
        ({"freshness": "P8D"}, "20260820"),
    ],
)
async def test_a_window_is_the_day_on_which_it_begins(vendor: Any, options: dict[str, Any], since: str) -> None:
    await vendor.search(found(), **options)
    assert vendor.sent == [PLAIN | {"since": since}]


@pytest.mark.parametrize(("safe", "sent_as"), [("off", "0"), ("moderate", "1")])
async def test_safe_search_is_on_or_off(vendor: Any, safe: str, sent_as: str) -> None:
    await vendor.search(found(), safe=safe)
    assert vendor.sent == [PLAIN | {"safe": sent_as}]


async def test_a_page_begins_at_a_result_counted_from_one(vendor: Any) -> None:
    rows = [{"url": f"https://example.org/{number}"} for number in range(10)]
    await vendor.search(*[found(*rows, given=10)] * 3, max_results=25)
    assert [(query["s"], query["t"]) for query in vendor.sent] == [("1", "10"), ("11", "10"), ("21", "10")]


@pytest.mark.parametrize(("given", "requests"), [(7, 1), (10, 2), (None, 2)])
async def test_a_page_with_fewer_rows_than_asked_for_is_the_last(vendor: Any, given: int | None, requests: int) -> None:
    rows = [{"url": f"https://example.org/{number}"} for number in range(7)]
    await vendor.search(found(*rows, given=given), found(), max_results=20)
    assert len(vendor.sent) == requests


async def test_the_date_is_that_of_publication_and_never_of_a_change_or_a_crawl(vendor: Any) -> None:
    others = {"timestamp": 1789797600, "date": "19 September 2026", "cdatetimestamp": 1789900000, "cdate": "20 September 2026"}
    rows = [{"url": "https://a.example/", "pdate": 1789711200, **others}, {"url": "https://b.example/", **others}]
    response = await vendor.search(found(*rows))
    assert [result.published_date for result in response.results] == ["2026-09-18T06:00:00Z", None]


async def test_results_are_not_kept_since_its_terms_bound_for_how_long() -> None:
    assert toolkit.web_search.cacheable is False


async def test_a_language_without_a_code_of_two_letters_is_named_as_ignored(vendor: Any) -> None:
    assert (await vendor.search(found(), language="tlh")).ignored == ("language",)
    assert not {"lb", "lbb"} & set(vendor.sent[0])


async def test_what_is_no_page_of_results_has_its_meaning(vendor: Any, answered: dict[str, Any]) -> None:
    await vendor.check(answered)
