"""The Tavily drop-in: its own client, sync and async, unmodified; the exact requests of the others."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import requests  # noqa: TID251  # what Tavily's client raises
from tavily import AsyncTavilyClient, TavilyClient
from tavily.errors import BadRequestError, ForbiddenError, InvalidAPIKeyError, UsageLimitExceededError

from searchport import ErrorCode, Recency, SearchError, SearchRequest

PATH = "/compat/tavily/search"
Call = Callable[..., Any]


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest, place: Any) -> Call:
    """One search of an unmodified client; `call("tea", max_results=3)`."""
    base = f"{place.url}/compat/tavily"

    async def called(query: str, *, key: str | None = None, client: dict[str, str] | None = None, **given: Any) -> dict[str, Any]:
        options = {"api_key": key or place.token, "api_base_url": base, **(client or {})}
        if request.param == "async":
            async with AsyncTavilyClient(**options) as tavily:
                return await tavily.search(query, **given)

        def run() -> dict[str, Any]:
            with TavilyClient(**options) as tavily:
                return tavily.search(query, **given)

        return await asyncio.to_thread(run)

    return called


async def post(place: Any, headers: dict[str, str] | None = None, **given: Any) -> tuple[int, dict[str, Any]]:
    sent = {"Authorization": f"Bearer {place.token}", **(headers or {})}
    async with place.client.post(PATH, json={"query": "tea", **given}, headers=sent) as response:
        return response.status, await response.json()


async def test_tavilys_client_gets_the_organizations_results(place: Any, call: Call) -> None:
    place.ours.pages(2, snippet="About tea", published_date="2026-09-20")
    answer = await call("tea", search_depth="advanced", topic="general", include_answer=False)
    assert answer["results"] == [
        {
            "title": f"Page {n}",
            "url": f"https://pages.example/{n}",
            "content": "About tea",
            "score": 1 / n,
            "raw_content": None,
            "published_date": "2026-09-20",
        }
        for n in (1, 2)
    ]
    assert (answer["query"], answer["answer"], answer["images"], answer["follow_up_questions"]) == ("tea", None, [], None)
    assert answer["response_time"] >= 0


async def test_no_results_is_an_empty_list(place: Any, call: Call) -> None:
    place.ours.outcome = []
    assert (await call("tea"))["results"] == []


@pytest.mark.parametrize(
    ("code", "raises"),
    [
        (ErrorCode.VALIDATION_ERROR, BadRequestError),
        (ErrorCode.FORBIDDEN, ForbiddenError),
        (ErrorCode.PROVIDER_NOT_CONFIGURED, ForbiddenError),
        (ErrorCode.DAILY_CAP_REACHED, UsageLimitExceededError),
        (ErrorCode.RATE_LIMITED, UsageLimitExceededError),
    ],
)
async def test_tavilys_client_raises_its_own_error(place: Any, call: Call, code: ErrorCode, raises: type[Exception]) -> None:
    place.ours.outcome = SearchError(code)
    with pytest.raises(raises, match=code.meaning):
        await call("tea")


async def test_a_wrong_token_is_tavilys_invalid_key(call: Call) -> None:
    with pytest.raises(InvalidAPIKeyError, match="no valid token"):
        await call("tea", key="tvly-wrong")


async def test_a_failed_provider_raises(place: Any) -> None:
    place.ours.outcome = SearchError(ErrorCode.PROVIDER_UNAVAILABLE)
    tavily = TavilyClient(api_key=place.token, api_base_url=f"{place.url}/compat/tavily")
    with tavily, pytest.raises(requests.HTTPError, match="503"):
        await asyncio.to_thread(tavily.search, "tea")


async def test_a_client_without_a_key_is_refused(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    tavily = TavilyClient(api_base_url=f"{place.url}/compat/tavily")
    with tavily, pytest.raises(InvalidAPIKeyError, match="no valid token"):
        await asyncio.to_thread(tavily.search, "tea")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"max_results": 50}, {"max_results": 50}),
        ({"time_range": "week"}, {"recency": Recency.WEEK}),
        ({"time_range": "y"}, {"recency": Recency.YEAR}),
        ({"include_domains": ["Example.com"]}, {"site": "example.com"}),
        ({"include_domains": []}, {}),
        ({"include_domains": ["example.com"], "include_domains_mode": "restrict"}, {"site": "example.com"}),
        ({"country": "united kingdom"}, {"country": "GB"}),
        ({"country": "South Korea"}, {"country": "KR"}),
        ({"country": "us"}, {"country": "US"}),
        ({"language": "de"}, {"language": "de"}),
        ({"search_depth": "fast", "topic": "general", "auto_parameters": True, "fetch_timeout": 3}, {}),
        ({"exclude_domains": [], "include_images": False, "exact_match": False}, {}),
    ],
)
async def test_an_honoured_parameter_reaches_the_provider(place: Any, given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert (await post(place, **given))[0] == 200
    assert place.ours.asked == [SearchRequest("tea", **expected)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_results", 0),
        ("max_results", 51),
        ("max_results", "5"),
        ("max_results", True),
        ("time_range", "hour"),
        ("include_domains", ["a.example", "b.example"]),
        ("include_domains", "a.example"),
        ("include_domains", [7]),
        ("include_domains_mode", "prefer"),
        ("exclude_domains", ["a.example"]),
        ("country", "atlantis"),
        ("country", 7),
        ("topic", "news"),
        ("include_answer", True),
        ("include_answer", "basic"),
        ("include_raw_content", "markdown"),
        ("include_images", True),
        ("include_images", 0),
        ("exact_match", True),
        ("start_date", "2026-09-20"),
        ("days", 3),
        ("api_key", "spt_"),
    ],
)
async def test_what_would_change_the_results_unseen_is_refused_by_name(place: Any, name: str, value: Any) -> None:
    status, body = await post(place, **{name: value})
    assert (status, f"$.{name}: " in body["detail"]["error"]) == (400, True)
    assert place.ours.asked == []


@pytest.mark.parametrize("body", ["[]", '"tea"', "{", "", '{"query": "a", "query": "b"}'])
async def test_what_is_no_json_object_is_refused(place: Any, body: str) -> None:
    async with place.client.post(PATH, data=body, headers={"Authorization": f"Bearer {place.token}"}) as response:
        assert (response.status, list((await response.json())["detail"])) == (400, ["error", "code"])


@pytest.mark.parametrize("header", ["X-Project-ID", "X-Tavily-Orgid"])
async def test_a_project_is_the_organization_or_nothing(place: Any, header: str) -> None:
    assert (await post(place, {header: "acme"}))[0] == 200
    status, body = await post(place, {header: "beta"})
    assert (status, header in body["detail"]["error"]) == (403, True)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"max_results": 5, "search_depth": "basic", "topic": "general"}, id="librechat"),
        pytest.param({"max_results": 3, "search_depth": "basic"}, id="open-webui"),
        pytest.param({"max_results": 10, "include_domains": ["example.com"], "country": "US"}, id="litellm"),
    ],
)
async def test_the_requests_of_other_clients_are_answered(place: Any, given: dict[str, Any]) -> None:
    assert (await post(place, **given))[0] == 200
