"""Parallel: its exact requests, its answers, its errors."""

from typing import Any

import pytest

from searchport import ErrorCode, SearchError

FIND = "https://api.parallel.ai/v1/search"
EMPTY: dict[str, Any] = {"search_id": "1", "results": [], "warnings": None}
EXCERPTS = {"excerpt_settings": {"max_chars_per_result": 1_000}}
PLAIN = {"search_queries": ["red pandas"], "advanced_settings": {"max_results": 10, **EXCERPTS}}


async def test_a_plain_search_is_a_list_of_one_query_with_the_key_in_its_header(vendor: Any) -> None:
    await vendor.search(EMPTY)
    assert vendor.sent == [PLAIN]
    assert vendor.headers == {"x-api-key": "KEY"}


async def test_every_option_has_its_member(vendor: Any) -> None:
    response = await vendor.search(EMPTY, max_results=50, recency="week", site="example.org", country="gb", model="fast")
    assert vendor.sent == [
        {
            "search_queries": ["red pandas"],
            "mode": "fast",
            "advanced_settings": {
                "max_results": 40,
                "location": "gb",
                "source_policy": {"include_domains": ["example.org"], "after_date": "2026-09-13"},
                **EXCERPTS,
            },
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
    assert vendor.sent[0]["advanced_settings"]["source_policy"] == {"after_date": after}


async def test_a_country_that_it_warns_of_is_named_as_ignored(vendor: Any) -> None:
    warned = EMPTY | {"warnings": [{"type": "input_validation_warning", "message": "words", "detail": {}}]}
    assert (await vendor.search(warned, country="va")).ignored == ("country",)


async def test_a_warning_of_something_else_ignores_nothing(vendor: Any) -> None:
    warned = EMPTY | {"warnings": [{"type": "warning", "message": "words", "detail": None}]}
    assert (await vendor.search(warned)).ignored == ()


async def test_a_language_is_named_as_ignored(vendor: Any) -> None:
    assert (await vendor.search(EMPTY, language="de")).ignored == ("language",)
    assert vendor.sent == [PLAIN]


async def test_its_modes_are_listed(vendor: Any) -> None:
    assert [model.id for model in await vendor.list_models()] == ["advanced", "basic", "fast", "turbo"]


async def test_excerpts_are_joined(vendor: Any) -> None:
    rows = [
        {"url": "https://a.example/", "title": None, "excerpts": ["one", "two"]},
        {"url": "https://b.example/", "title": "B", "excerpts": []},
    ]
    response = await vendor.search(EMPTY | {"results": rows})
    assert [(result.title, result.snippet) for result in response.results] == [(None, "one … two"), ("B", None)]


async def test_a_query_that_is_too_long_is_refused_before_anything_is_sent(vendor: Any) -> None:
    with pytest.raises(SearchError, match=r"\$\.query") as caught:
        await vendor.search(query="x" * 201)
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    assert not vendor.wire.requests


async def test_what_is_no_page_of_results_has_its_meaning(vendor: Any, answered: dict[str, Any]) -> None:
    await vendor.check(answered)
