"""Kagi: its exact requests, its answers, its errors."""

from typing import Any

import pytest

FIND = "https://kagi.com/api/v1/search"
EMPTY: dict[str, Any] = {"meta": {"ms": 120}, "data": {}}
PLAIN = {"query": "red pandas", "page": 1}


def found(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"meta": {"ms": 412}, "data": {"search": list(rows)}}


async def test_a_plain_search_sends_the_query_and_the_page_with_the_key_in_its_header(vendor: Any) -> None:
    await vendor.search(EMPTY)
    assert vendor.sent == [PLAIN]
    assert vendor.headers == {"Authorization": "Bearer KEY"}


async def test_every_option_has_its_member(vendor: Any) -> None:
    response = await vendor.search(EMPTY, recency="week", site="example.org", country="de", safe="strict")
    assert vendor.sent == [
        {
            "query": "red pandas",
            "page": 1,
            "safe_search": True,
            "filters": {"region": "de", "after": "2026-09-13"},
            "lens": {"sites_included": ["example.org"]},
        }
    ]
    assert response.ignored == ()


@pytest.mark.parametrize(
    ("options", "after"),
    [
        ({"recency": "day"}, "2026-09-19"),
        ({"recency": "month"}, "2026-08-20"),
        ({"recency": "year"}, "2025-09-19"),
        ({"freshness": "PT12H"}, "2026-09-19"),
        ({"freshness": "P8D"}, "2026-08-20"),
    ],
)
async def test_a_window_is_the_day_on_which_it_begins(vendor: Any, options: dict[str, Any], after: str) -> None:
    await vendor.search(EMPTY, **options)
    assert vendor.sent == [PLAIN | {"filters": {"after": after}}]


@pytest.mark.parametrize(("safe", "sent_as"), [("off", False), ("moderate", True)])
async def test_safe_search_is_on_or_off(vendor: Any, safe: str, sent_as: bool) -> None:
    await vendor.search(EMPTY, safe=safe)
    assert vendor.sent == [PLAIN | {"safe_search": sent_as}]


async def test_a_language_is_named_as_ignored(vendor: Any) -> None:
    assert (await vendor.search(EMPTY, language="de")).ignored == ("language",)
    assert vendor.sent == [PLAIN]


async def test_pages_are_asked_for_until_there_are_rows_enough(vendor: Any) -> None:
    """How many rows a page has is the vendor's to say."""
    pages = [found(*({"url": f"https://example.org/{page}/{row}"} for row in range(17))) for page in (1, 2)]
    assert len((await vendor.search(*pages, max_results=30)).results) == 34
    assert [body["page"] for body in vendor.sent] == [1, 2]


@pytest.mark.parametrize(
    ("time", "known"),
    [
        ("2026-01-01T00:00:00Z", "2026"),
        ("2026-09-01T00:00:00Z", "2026-09"),
        ("2026-01-15T00:00:00Z", "2026-01-15T00:00:00Z"),
        ("2026-09-01T00:00:01Z", "2026-09-01T00:00:01Z"),
        ("2026-09-18T05:45:00Z", "2026-09-18T05:45:00Z"),
        ("2026-01-01", "2026-01-01"),
        (None, None),
    ],
)
async def test_what_is_filled_up_of_a_date_is_left_out(vendor: Any, time: str | None, known: str | None) -> None:
    (result,) = (await vendor.search(found({"url": "https://a.example/", "time": time}))).results
    assert result.published_date == known


async def test_what_is_no_page_of_results_has_its_meaning(vendor: Any, answered: dict[str, Any]) -> None:
    await vendor.check(answered)
