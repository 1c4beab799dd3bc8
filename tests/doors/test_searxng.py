"""The SearXNG drop-in: the exact requests of its clients, and what they read of the answer."""

from typing import Any

import pytest

from searchport import ErrorCode, Recency, Safe, SearchError, SearchRequest

PATH = "/compat/searxng/search"

CLIENTS: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "langchain": (PATH, {"language": "en", "format": "json", "q": "tea", "time_range": "week"}, {}),
    "litellm": (PATH, {"q": "tea", "format": "json"}, {"Accept": "*/*"}),
    "open-webui": (
        "/compat/searxng",
        {
            "q": "tea",
            "format": "json",
            "pageno": "1",
            "safesearch": "1",
            "language": "all",
            "time_range": "",
            "categories": "",
            "theme": "simple",
            "image_proxy": "0",
        },
        {
            "User-Agent": "Open WebUI (https://github.com/open-webui/open-webui) RAG Bot",
            "Accept": "text/html",
            "Accept-Encoding": "gzip, deflate",
            "Accept-Language": "en-US,en;q=0.5",
            "Connection": "keep-alive",
        },
    ),
    "librechat": (
        PATH,
        {
            "q": "tea",
            "format": "json",
            "pageno": "1",
            "categories": "general",
            "language": "all",
            "safesearch": "1",
            "engines": "google,bing,duckduckgo",
        },
        {"Content-Type": "application/json"},
    ),
}
"""Path, parameters and headers of each client's search."""


async def get(place: Any, path: str = PATH, headers: dict[str, str] | None = None, **given: str) -> tuple[int, dict[str, Any]]:
    params = {"q": "tea", "format": "json"} | given
    async with place.client.get(path, params=params, headers={"X-API-Key": place.token, **(headers or {})}) as response:
        return response.status, await response.json()


@pytest.mark.parametrize("client", CLIENTS)
async def test_each_clients_request_is_answered(place: Any, client: str) -> None:
    path, params, headers = CLIENTS[client]
    status, body = await get(place, path, headers, **params)
    assert (status, [row["url"] for row in body["results"]]) == (200, [f"https://ours.example/{n}" for n in (1, 2, 3)])


@pytest.mark.parametrize("path", ["/compat/searxng", "/compat/searxng/", "/compat/searxng/search"])
async def test_root_and_search_answer_alike(place: Any, path: str) -> None:
    status, body = await get(place, path)
    assert (status, len(body["results"])) == (200, 3)


async def test_a_form_is_answered_like_a_url(place: Any) -> None:
    form = {"q": "größe & mehr", "format": "json", "time_range": "day"}
    async with place.client.post(PATH, data=form, headers={"X-API-Key": place.token}) as response:
        assert (response.status, (await response.json())["query"]) == (200, "größe & mehr")
    assert place.ours.asked == [SearchRequest("größe & mehr", recency=Recency.DAY)]


async def test_user_and_password_in_the_url_are_enough(place: Any) -> None:
    url = place.client.make_url(PATH).with_user("acme").with_password(place.token)
    async with place.client.session.get(url, params={"q": "tea", "format": "json"}) as response:
        assert response.status == 200


async def test_an_answer_holds_everything_that_clients_index(place: Any) -> None:
    place.ours.pages(1, snippet="About tea", published_date="2026-09-20T10:15Z")
    _, body = await get(place)
    assert body == {
        "query": "tea",
        "results": [
            {
                "url": "https://pages.example/1",
                "title": "Page 1",
                "content": "About tea",
                "engine": "ours",
                "engines": ["ours"],
                "category": "general",
                "template": "default.html",
                "parsed_url": ["https", "pages.example", "/1", "", "", ""],
                "score": 1.0,
                "positions": [1],
                "publishedDate": "2026-09-20T10:15Z",
                "thumbnail": "",
                "img_src": "",
                "priority": "",
            }
        ],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [],
    }


async def test_scores_fall_strictly_so_that_sorting_keeps_the_order(place: Any) -> None:
    await place.select("ours", default_results=50)
    place.ours.pages(50)
    _, body = await get(place)
    scores = [row["score"] for row in body["results"]]
    assert (len(scores), scores) == (50, sorted(set(scores), reverse=True))


async def test_a_provider_that_failed_before_the_answer_is_named(place: Any) -> None:
    await place.select("ours", "theirs")
    place.ours.outcome = SearchError(ErrorCode.PROVIDER_UNAVAILABLE)
    _, body = await get(place)
    assert (body["unresponsive_engines"], body["results"][0]["engines"]) == ([["ours", "provider_unavailable"]], ["theirs"])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"time_range": "month"}, {"recency": Recency.MONTH}),
        ({"time_range": ""}, {}),
        ({"time_range": "None"}, {}),
        ({"language": "de-CH"}, {"language": "de-CH"}),
        ({"language": "all"}, {}),
        ({"language": "auto"}, {}),
        ({"safesearch": "0"}, {"safe": Safe.OFF}),
        ({"safesearch": "1"}, {"safe": Safe.MODERATE}),
        ({"safesearch": "2"}, {"safe": Safe.STRICT}),
        ({"engines": "google", "categories": "general"}, {}),
        ({"q": "!gh :de <3 tea"}, {"query": "!gh :de <3 tea"}),
    ],
)
async def test_an_honoured_parameter_reaches_the_provider(place: Any, given: dict[str, str], expected: dict[str, Any]) -> None:
    assert (await get(place, **given))[0] == 200
    assert place.ours.asked == [SearchRequest(**({"query": "tea"} | expected))]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"format": "html"}, "format"),
        ({"format": "JSON"}, "format"),
        ({"categories": "images"}, "categories"),
        ({"categories": "general,news"}, "categories"),
        ({"time_range": "hour"}, "time_range"),
        ({"language": "deutsch"}, "language"),
        ({"safesearch": "3"}, "safesearch"),
        ({"pageno": "0"}, "pageno"),
        ({"pageno": "²"}, "pageno"),
        ({"timeout_limit": "1"}, "timeout_limit"),
    ],
)
async def test_what_would_change_the_results_unseen_is_refused_by_name(place: Any, given: dict[str, str], name: str) -> None:
    status, body = await get(place, **given)
    assert (status, list(body)) == (400, ["error"])
    assert body["error"].startswith("validation_error: $.")
    assert f"$.{name}: " in body["error"]
    assert place.ours.asked == []


async def test_json_must_be_asked_for(place: Any) -> None:
    async with place.client.get(PATH, params={"q": "tea"}, headers={"X-API-Key": place.token}) as response:
        assert (response.status, "$.format: required" in (await response.json())["error"]) == (400, True)


async def test_a_page_is_of_the_organizations_default_size(place: Any) -> None:
    await place.select("ours", default_results=4)
    place.ours.pages(20)
    _, body = await get(place, pageno="3")
    assert [row["url"] for row in body["results"]] == [f"https://pages.example/{n}" for n in range(9, 13)]


async def test_a_page_beyond_the_maximum_is_refused(place: Any) -> None:
    status, body = await get(place, pageno="6")
    assert (status, "$.pageno: this page ends at result 60" in body["error"]) == (400, True)


@pytest.mark.parametrize(("asked", "told"), [("0", None), ("1", "safesearch")])
async def test_a_clients_default_safe_search_stops_no_provider_that_has_none(place: Any, asked: str, told: str | None) -> None:
    """Open WebUI and LibreChat always send one; what was not passed on is told."""
    await place.select("bare")
    params = {"q": "tea", "format": "json", "safesearch": asked}
    async with place.client.get(PATH, params=params, headers={"X-API-Key": place.token}) as response:
        assert (response.status, response.headers.get("X-Ignored-Parameters")) == (200, told)
    assert [request.safe for request in place.scripts["bare"].asked] == [None]


async def test_strict_safe_search_is_honoured_or_refused(place: Any) -> None:
    await place.select("bare")
    status, body = await get(place, safesearch="2")
    assert (status, body["error"].startswith("unsupported_option: $.safesearch: ")) == (400, True)


async def test_what_a_provider_does_not_honour_is_told(place: Any) -> None:
    headers = {"X-API-Key": place.tokens["beta", "search"]}
    async with place.client.get(PATH, params={"q": "tea", "format": "json", "language": "de"}, headers=headers) as response:
        assert response.headers["X-Ignored-Parameters"] == "language"


@pytest.mark.parametrize("code", list(ErrorCode))
async def test_a_failure_has_its_status_and_its_code_and_no_results(place: Any, code: ErrorCode) -> None:
    place.ours.outcome = SearchError(code)
    status, body = await get(place)
    assert (status, list(body), body["error"].partition(":")[0]) == (code.status, ["error"], code)
