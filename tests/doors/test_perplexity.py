"""The Perplexity drop-in: its own SDK, sync and async, unmodified; the exact requests of the others."""

import asyncio
from collections.abc import Callable
from typing import Any

import perplexity
import pytest
from perplexity import AsyncPerplexity, Perplexity

from searchport import ErrorCode, Recency, SearchError, SearchRequest

PATH = "/compat/perplexity/search"
Call = Callable[..., Any]


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest, place: Any) -> Call:
    """One `search.create` of an unmodified SDK; `call(query="tea")`."""
    base = f"{place.url}/compat/perplexity"

    async def called(*, key: str | None = None, max_retries: int = 2, **given: Any) -> Any:
        options = {"api_key": key or place.token, "base_url": base, "max_retries": max_retries}
        if request.param == "async":
            async with AsyncPerplexity(**options) as client:
                return await client.search.create(**given)

        def run() -> Any:
            with Perplexity(**options) as client:
                return client.search.create(**given)

        return await asyncio.to_thread(run)

    return called


async def post(place: Any, path: str = PATH, **given: Any) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {place.token}"}
    async with place.client.post(path, json={"query": "tea", **given}, headers=headers) as response:
        return response.status, await response.json()


async def test_the_sdk_gets_the_organizations_results(place: Any, call: Call) -> None:
    place.ours.pages(2, snippet="About tea", published_date="2026-09-20T10:15:00+02:00")
    answer = await call(query="tea", max_results=2, search_context_size="low")
    assert [(r.title, r.url, r.snippet, r.date, r.last_updated) for r in answer.results] == [
        (f"Page {n}", f"https://pages.example/{n}", "About tea", "2026-09-20", None) for n in (1, 2)
    ]
    assert len(answer.id) == 32
    assert answer.server_time is None


async def test_no_results_is_an_empty_list(place: Any, call: Call) -> None:
    place.ours.outcome = []
    assert (await call(query="tea")).results == []


CLASSES = {
    400: perplexity.BadRequestError,
    401: perplexity.AuthenticationError,
    403: perplexity.PermissionDeniedError,
    409: perplexity.ConflictError,
    429: perplexity.RateLimitError,
}


@pytest.mark.parametrize("code", list(ErrorCode))
async def test_the_sdk_raises_its_own_error(place: Any, call: Call, code: ErrorCode) -> None:
    place.ours.outcome = SearchError(code)
    with pytest.raises(CLASSES.get(code.status, perplexity.InternalServerError), match=code.meaning) as raised:
        await call(query="tea", max_retries=0)
    assert raised.value.body["error"]["code"] == code


@pytest.mark.parametrize("code", [code for code in ErrorCode if not code.is_retryable])
async def test_the_sdk_does_not_try_again_what_cannot_succeed(place: Any, call: Call, code: ErrorCode) -> None:
    place.ours.outcome = SearchError(code)
    with pytest.raises(perplexity.APIStatusError):
        await call(query="tea")
    assert len(place.ours.asked) == 1


async def test_a_wrong_token_is_the_sdks_authentication_error(call: Call) -> None:
    with pytest.raises(perplexity.AuthenticationError):
        await call(query="tea", key="pplx-wrong")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"query": ["tea"]}, {}),
        ({"max_results": 50}, {"max_results": 50}),
        ({"search_recency_filter": "month"}, {"recency": Recency.MONTH}),
        ({"search_domain_filter": ["example.com"]}, {"site": "example.com"}),
        ({"search_domain_filter": []}, {}),
        ({"search_language_filter": ["de"]}, {"language": "de"}),
        ({"country": "US"}, {"country": "US"}),
        ({"max_tokens": 100, "max_tokens_per_page": 256, "display_server_time": True}, {}),
        ({"search_mode": "web", "search_type": "web", "search_context_size": "high"}, {}),
        ({"search_mode": None, "country": None}, {}),
    ],
)
async def test_an_honoured_parameter_reaches_the_provider(place: Any, given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert (await post(place, **given))[0] == 200
    assert place.ours.asked == [SearchRequest("tea", **expected)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("query", ["tea", "coffee"]),
        ("query", []),
        ("query", [7]),
        ("max_results", 51),
        ("search_recency_filter", "hour"),
        ("search_domain_filter", ["a.example", "b.example"]),
        ("search_domain_filter", ["-a.example"]),
        ("search_domain_filter", "a.example"),
        ("search_language_filter", ["de", "fr"]),
        ("search_mode", "academic"),
        ("search_type", "people"),
        ("search_after_date_filter", "9/20/2026"),
        ("last_updated_before_filter", "9/20/2026"),
    ],
)
async def test_what_would_change_the_results_unseen_is_refused_by_name(place: Any, name: str, value: Any) -> None:
    status, body = await post(place, **{name: value})
    assert (status, body["error"]["type"]) == (400, "invalid_request_error")
    assert f"$.{name}: " in body["error"]["message"]
    assert place.ours.asked == []


async def test_an_excluded_host_is_not_searched_for(place: Any) -> None:
    _, body = await post(place, search_domain_filter=["-a.example"])
    assert "cannot be excluded" in body["error"]["message"]


@pytest.mark.parametrize("path", [PATH, "/compat/perplexity/v1/search"])
async def test_litellms_search_endpoint_has_the_same_shape(place: Any, path: str) -> None:
    given = {"max_results": 5, "search_domain_filter": ["example.com"], "max_tokens_per_page": 1024, "country": "US"}
    status, body = await post(place, path, **given)
    assert (status, body["object"]) == (200, "search")


async def test_open_webuis_request_finds_every_field_that_it_indexes(place: Any) -> None:
    place.ours.pages(1)
    _, body = await post(place, max_results=3)
    assert {"url", "title", "snippet"} <= set(body["results"][0])
    assert body["results"][0]["snippet"] == ""
