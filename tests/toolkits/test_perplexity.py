"""Perplexity: its exact requests, its answers, its errors."""

from typing import Any

import pytest

from searchport import SearchModel

FIND = "https://api.perplexity.ai/search"
EMPTY: dict[str, Any] = {"id": "1", "results": [], "server_time": None}
PLAIN = {"query": "red pandas", "max_results": 10, "max_tokens_per_page": 256}


async def test_a_plain_search_asks_for_short_passages_with_the_key_in_its_header(vendor: Any) -> None:
    await vendor.search(EMPTY)
    assert vendor.sent == [PLAIN]
    assert vendor.headers == {"Authorization": "Bearer KEY"}


async def test_every_option_has_its_member(vendor: Any) -> None:
    response = await vendor.search(
        EMPTY, max_results=50, recency="week", site="example.org", language="pt-BR", country="br", model="fast"
    )
    assert vendor.sent == [
        {
            "query": "red pandas",
            "max_results": 20,
            "search_type": "fast",
            "search_recency_filter": "week",
            "search_domain_filter": ["example.org"],
            "search_language_filter": ["pt"],
            "country": "BR",
            "max_tokens_per_page": 256,
        }
    ]
    assert response.ignored == ()


@pytest.mark.parametrize(
    ("options", "window"),
    [
        ({"recency": "day"}, "day"),
        ({"recency": "week"}, "week"),
        ({"recency": "month"}, "month"),
        ({"recency": "year"}, "year"),
        ({"freshness": "PT12H"}, "day"),
        ({"freshness": "P8D"}, "month"),
    ],
)
async def test_a_window_is_its_word(vendor: Any, options: dict[str, Any], window: str) -> None:
    await vendor.search(EMPTY, **options)
    assert vendor.sent == [PLAIN | {"search_recency_filter": window}]


@pytest.mark.parametrize(
    ("model", "member"),
    [
        ("web", {"search_type": "web"}),
        ("fast", {"search_type": "fast"}),
        ("academic", {"search_mode": "academic"}),
        ("sec", {"search_mode": "sec"}),
    ],
)
async def test_a_model_is_a_type_or_a_mode(vendor: Any, model: str, member: dict[str, str]) -> None:
    await vendor.search(EMPTY, model=model)
    assert vendor.sent == [PLAIN | member]


async def test_its_models_are_listed_with_what_a_cheaper_one_costs(vendor: Any) -> None:
    models = await vendor.list_models()
    assert [model.id for model in models] == ["web", "fast", "academic", "sec"]
    assert models[1] == SearchModel("fast", "Fast (a fifth of the price)")


async def test_a_language_without_a_code_of_two_letters_is_named_as_ignored(vendor: Any) -> None:
    assert (await vendor.search(EMPTY, language="tlh")).ignored == ("language",)
    assert vendor.sent == [PLAIN]


async def test_more_than_twenty_results_are_not_asked_for_twice(vendor: Any) -> None:
    rows = [{"url": f"https://example.org/{number}"} for number in range(20)]
    assert len((await vendor.search(EMPTY | {"results": rows}, max_results=50)).results) == 20
    assert len(vendor.sent) == 1


async def test_the_date_is_that_of_publication_and_never_of_the_last_change(vendor: Any) -> None:
    rows = [
        {"url": "https://a.example/", "date": "2026-09-18", "last_updated": "2026-09-20"},
        {"url": "https://b.example/", "date": None, "last_updated": "2026-09-20"},
    ]
    response = await vendor.search(EMPTY | {"results": rows})
    assert [result.published_date for result in response.results] == ["2026-09-18", None]


async def test_what_is_no_page_of_results_has_its_meaning(vendor: Any, answered: dict[str, Any]) -> None:
    await vendor.check(answered)
