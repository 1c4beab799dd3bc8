"""The Brave drop-in: the exact requests of its clients."""

from typing import Any

import pytest

from searchport import ErrorCode, Recency, Safe, SearchError, SearchRequest

PATH = "/compat/brave/res/v1/web/search"


async def get(place: Any, headers: dict[str, str] | None = None, **given: str) -> tuple[int, dict[str, Any]]:
    sent = {"X-Subscription-Token": place.token, "Accept": "application/json"} if headers is None else headers
    async with place.client.get(PATH, params={"q": "tea", **given}, headers=sent) as response:
        return response.status, await response.json()


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        pytest.param({"extra_snippets": "True", "count": "3"}, SearchRequest("tea", max_results=3), id="langchain"),
        pytest.param({"count": "10"}, SearchRequest("tea"), id="smolagents"),
        pytest.param(
            {"q": "(tea) AND (site:example.com)", "count": "10", "include_fetch_metadata": "True", "country": "US"},
            SearchRequest("tea", site="example.com", country="US"),
            id="litellm",
        ),
    ],
)
async def test_each_clients_request_is_answered(place: Any, given: dict[str, str], asked: SearchRequest) -> None:
    assert (await get(place, **given))[0] == 200
    assert place.ours.asked == [asked]


async def test_an_answer_is_of_braves_shape(place: Any) -> None:
    place.ours.pages(1, snippet="About <form> & so on", published_date="2026-09-20")
    assert (await get(place))[1] == {
        "type": "search",
        "query": {"original": "tea", "more_results_available": False},
        "mixed": {},
        "web": {
            "type": "search",
            "results": [
                {
                    "title": "Page 1",
                    "url": "https://pages.example/1",
                    "description": "About <form> & so on",
                    "page_age": "2026-09-20",
                }
            ],
        },
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"freshness": "pw"}, {"recency": Recency.WEEK}),
        ({"country": "ALL"}, {}),
        ({"country": "DE"}, {"country": "DE"}),
        ({"search_lang": "jp"}, {"language": "ja"}),
        ({"search_lang": "zh-hant"}, {"language": "zh-Hant"}),
        ({"safesearch": "moderate"}, {"safe": Safe.MODERATE}),
        ({"result_filter": "web,news", "spellcheck": "0", "units": "metric", "ui_lang": "de-DE"}, {}),
        ({"operators": "False", "summary": "false", "text_decorations": "True"}, {}),
        ({"q": "(tea) AND coffee"}, {"query": "(tea) AND coffee"}),
        ({"q": "tea site:example.com"}, {"query": "tea site:example.com"}),
    ],
)
async def test_an_honoured_parameter_reaches_the_provider(place: Any, given: dict[str, str], expected: dict[str, Any]) -> None:
    assert (await get(place, **given))[0] == 200
    assert place.ours.asked == [SearchRequest(**({"query": "tea"} | expected))]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"count": "21"}, "count"),
        ({"offset": "10"}, "offset"),
        ({"offset": "5"}, "offset"),
        ({"freshness": "2026-01-01to2026-02-01"}, "freshness"),
        ({"safesearch": "on"}, "safesearch"),
        ({"country": "UK"}, "country"),
        ({"result_filter": "news"}, "result_filter"),
        ({"goggles": "$discard"}, "goggles"),
        ({"operators": "true"}, "operators"),
        ({"summary": "1"}, "summary"),
        ({"q": "(tea) AND (site:a.example OR site:b.example)"}, "q"),
        ({"q": "(tea) AND (site:10.0.0.1)"}, "q"),
    ],
)
async def test_what_would_change_the_results_unseen_is_refused_by_name(place: Any, given: dict[str, str], name: str) -> None:
    status, body = await get(place, **given)
    assert (status, body["type"], body["error"]["code"]) == (422, "ErrorResponse", "VALIDATION")
    assert f"$.{name}: " in body["error"]["detail"]
    assert place.ours.asked == []


async def test_an_offset_counts_pages(place: Any) -> None:
    place.ours.pages(50)
    _, body = await get(place, count="7", offset="2")
    assert [row["url"] for row in body["web"]["results"]] == [f"https://pages.example/{n}" for n in range(15, 22)]
    assert body["query"]["more_results_available"] is True


async def test_the_last_page_that_is_served_says_so(place: Any) -> None:
    place.ours.pages(50)
    _, body = await get(place, count="10", offset="4")
    assert (len(body["web"]["results"]), body["query"]["more_results_available"]) == (10, False)


async def test_a_wrong_token_and_a_missing_one_are_told_as_brave_tells_them(place: Any) -> None:
    wrong, missing = await get(place, {"X-Subscription-Token": "BSA-wrong"}), await get(place, {})
    assert (wrong[0], wrong[1]["error"]["code"]) == (422, "SUBSCRIPTION_TOKEN_INVALID")
    assert (missing[0], missing[1]["error"]["meta"]["errors"][0]["loc"]) == (422, ["header", "x-subscription-token"])


@pytest.mark.parametrize(
    ("code", "status", "told"),
    [
        (ErrorCode.RATE_LIMITED, 429, "RATE_LIMITED"),
        (ErrorCode.DAILY_CAP_REACHED, 429, "QUOTA_LIMITED"),
        (ErrorCode.FORBIDDEN, 403, "FORBIDDEN"),
        (ErrorCode.UPSTREAM_TIMEOUT, 504, "UPSTREAM_TIMEOUT"),
    ],
)
async def test_a_failure_is_of_braves_shape(place: Any, code: ErrorCode, status: int, told: str) -> None:
    place.ours.outcome = SearchError(code)
    found, body = await get(place)
    assert (found, body["error"]["status"], body["error"]["code"]) == (status, status, told)
