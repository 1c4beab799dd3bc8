"""You.com: its exact requests, its answers, its errors."""

from typing import Any

import pytest

from searchport_toolkits.you import toolkit

FIND = "https://ydc-index.io/v1/search"
EMPTY: dict[str, Any] = {"results": {}, "metadata": {"latency": 0.2}}
PLAIN = {"query": "red pandas", "count": 10}


def found(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"results": {"web": list(rows)}, "metadata": {"latency": 0.2}}


async def test_a_plain_search_sends_the_query_with_the_key_in_its_header(vendor: Any) -> None:
    await vendor.search(EMPTY)
    assert vendor.sent == [PLAIN]
    assert vendor.headers == {"X-API-Key": "KEY"}


async def test_every_option_has_its_member(vendor: Any) -> None:
    response = await vendor.search(
        EMPTY, max_results=50, recency="week", site="example.org", language="en-GB", country="de", safe="strict"
    )
    assert vendor.sent == [
        {
            "query": "red pandas",
            "count": 50,
            "freshness": "week",
            "include_domains": ["example.org"],
            "language": "EN-GB",
            "country": "DE",
            "safesearch": "strict",
        }
    ]
    assert response.ignored == ()


@pytest.mark.parametrize(
    ("options", "window"),
    [
        ({"recency": "day"}, "day"),
        ({"recency": "month"}, "month"),
        ({"recency": "year"}, "year"),
        ({"freshness": "PT12H"}, "day"),
        ({"freshness": "P8D"}, "month"),
    ],
)
async def test_a_window_is_its_word(vendor: Any, options: dict[str, Any], window: str) -> None:
    await vendor.search(EMPTY, **options)
    assert vendor.sent == [PLAIN | {"freshness": window}]


@pytest.mark.parametrize("safe", ["off", "moderate"])
async def test_safe_search_is_its_word(vendor: Any, safe: str) -> None:
    await vendor.search(EMPTY, safe=safe)
    assert vendor.sent == [PLAIN | {"safesearch": safe}]


@pytest.mark.parametrize(
    ("language", "code"),
    [("de-AT", "DE"), ("ja", "JA"), ("no", "NB"), ("pt", "PT-PT"), ("pt-BR", "PT-BR"), ("zh-TW", "ZH-HANT"), ("zh", "ZH-HANS")],
)
async def test_a_language_is_spelt_as_its_list_does(vendor: Any, language: str, code: str) -> None:
    await vendor.search(EMPTY, language=language)
    assert vendor.sent == [PLAIN | {"language": code}]


@pytest.mark.parametrize(("options", "ignored"), [({"language": "sw"}, ("language",)), ({"country": "VA"}, ("country",))])
async def test_what_its_lists_lack_is_named_as_ignored(vendor: Any, options: dict[str, Any], ignored: tuple[str, ...]) -> None:
    assert (await vendor.search(EMPTY, **options)).ignored == ignored
    assert vendor.sent == [PLAIN]


def test_the_closed_lists_are_whole() -> None:
    assert len(set((toolkit.web_search.languages or {}).values())) == 51
    assert len(toolkit.web_search.countries or {}) == 36


async def test_the_snippet_is_the_first_excerpt_or_else_the_description(vendor: Any) -> None:
    response = await vendor.search(
        found(
            {"url": "https://a.example/", "description": "about", "snippets": ["first", "second"]},
            {"url": "https://b.example/", "description": "about", "snippets": []},
            {"url": "https://c.example/", "description": "about", "snippets": [None]},
            {"url": "https://d.example/"},
        )
    )
    assert [result.snippet for result in response.results] == ["first", "about", "about", None]


async def test_a_time_without_a_zone_is_handed_over_for_its_bound(vendor: Any) -> None:
    response = await vendor.search(found({"url": "https://a.example/", "page_age": "2026-09-18T05:45:00"}))
    assert [result.published_date for result in response.results] == ["2026-09-18T05:45:00"]


async def test_news_are_no_pages_of_the_web(vendor: Any) -> None:
    both = {"results": {"web": [{"url": "https://a.example/"}], "news": [{"url": "https://n.example/"}]}, "metadata": {}}
    assert [result.url for result in (await vendor.search(both)).results] == ["https://a.example/"]


async def test_what_is_no_page_of_results_has_its_meaning(vendor: Any, answered: dict[str, Any]) -> None:
    await vendor.check(answered)
