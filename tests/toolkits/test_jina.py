"""Jina: its exact requests, its answers, its errors."""

from typing import Any

import pytest

from searchport import SearchError

FIND = "https://s.jina.ai/"
EMPTY: dict[str, Any] = {"code": 200, "status": 20000, "data": []}
PLAIN = {"q": "red pandas", "num": 10, "page": 1, "nfpr": True, "fallback": False}


async def test_a_plain_search_opens_no_page_and_changes_nothing_about_the_query(vendor: Any) -> None:
    await vendor.search(EMPTY)
    assert vendor.sent == [PLAIN]
    assert vendor.headers == {
        "Authorization": "Bearer KEY",
        "Accept": "application/json",
        "X-Respond-With": "no-content",
    }


async def test_every_option_has_its_member(vendor: Any) -> None:
    response = await vendor.search(EMPTY, site="example.org", language="pt-BR", country="br", freshness="P7D", model="reader")
    assert vendor.sent == [PLAIN | {"provider": "reader", "site": "example.org", "hl": "pt-br", "gl": "br"}]
    assert response.ignored == ()


@pytest.mark.parametrize("recency", ["day", "week", "month", "year"])
async def test_it_has_no_windows(vendor: Any, recency: str) -> None:
    assert (await vendor.search(EMPTY, recency=recency)).ignored == ("recency",)
    assert vendor.sent == [PLAIN]


@pytest.mark.parametrize(
    ("language", "code"), [("he", "iw"), ("jv", "jw"), ("nb", "no"), ("zh-HK", "zh-tw"), ("zh", "zh-cn"), ("es-419", "es-419")]
)
async def test_a_language_is_spelt_as_its_list_does(vendor: Any, language: str, code: str) -> None:
    await vendor.search(EMPTY, language=language)
    assert vendor.sent == [PLAIN | {"hl": code}]


@pytest.mark.parametrize(("options", "ignored"), [({"language": "tlh"}, ("language",)), ({"country": "SS"}, ("country",))])
async def test_what_its_lists_lack_is_named_as_ignored_since_it_would_be_refused(
    vendor: Any, options: dict[str, Any], ignored: tuple[str, ...]
) -> None:
    assert (await vendor.search(EMPTY, **options)).ignored == ignored
    assert vendor.sent == [PLAIN]


async def test_its_engines_are_listed(vendor: Any) -> None:
    assert [model.id for model in await vendor.list_models()] == ["google", "bing", "reader"]


async def test_more_than_twenty_results_are_paged_by_twenty(vendor: Any) -> None:
    full = EMPTY | {"data": [{"url": f"https://example.org/{number}"} for number in range(20)]}
    assert len((await vendor.search(full, full, full, max_results=50)).results) == 60
    assert [(body["page"], body["num"]) for body in vendor.sent] == [(1, 20), (2, 20), (3, 20)]


async def test_a_later_page_on_which_nothing_is_found_ends_the_call(vendor: Any) -> None:
    vendor.answer(payload=EMPTY | {"data": [{"url": "https://example.org/"}]})
    vendor.answer(status=422, payload={"data": None, "status": 42206, "message": "No search results available for query x"})
    assert len((await vendor.search(max_results=50)).results) == 1


async def test_the_snippet_is_the_description_or_else_the_content(vendor: Any) -> None:
    rows = [
        {"url": "https://a.example/", "description": "about", "content": "text"},
        {"url": "https://b.example/", "content": "text"},
        {"url": "https://c.example/", "content": ""},
    ]
    response = await vendor.search(EMPTY | {"data": rows})
    assert [result.snippet for result in response.results] == ["about", "text", ""]


async def test_a_message_that_repeats_the_query_is_in_no_error(vendor: Any) -> None:
    vendor.answer(status=422, payload={"data": None, "status": 42206, "message": "Failed to read canary-query"})
    with pytest.raises(SearchError) as caught:
        await vendor.search(query="canary-query")
    assert "canary" not in repr(caught.value) + str(caught.value)


async def test_what_is_no_page_of_results_has_its_meaning(vendor: Any, answered: dict[str, Any]) -> None:
    await vendor.check(answered)
