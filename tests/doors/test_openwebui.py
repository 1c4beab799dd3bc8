"""The drop-in for Open WebUI's `external` engine: its exact request."""

from typing import Any

import pytest

from searchport import ErrorCode, SearchError, SearchRequest

PATH = "/compat/openwebui/search"
HEADERS = {
    "User-Agent": "Open WebUI (https://github.com/open-webui/open-webui) RAG Bot",
    "X-OpenWebUI-Chat-Id": "4b0c",
    "X-OpenWebUI-User-Name": "canary-name",
    "X-OpenWebUI-User-Id": "canary-id",
    "X-OpenWebUI-User-Email": "canary@pages.example",
    "X-OpenWebUI-User-Role": "admin",
}


async def post(place: Any, **given: Any) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {place.token}", **HEADERS}
    async with place.client.post(PATH, json={"query": "tea", **given}, headers=headers) as response:
        return response.status, await response.json()


async def test_its_request_is_answered_with_a_bare_array(place: Any) -> None:
    place.ours.pages(1, snippet="About tea")
    assert await post(place, count=3) == (
        200,
        [{"link": "https://pages.example/1", "title": "Page 1", "snippet": "About tea"}],
    )
    assert place.ours.asked == [SearchRequest("tea", max_results=3)]


async def test_a_text_that_is_missing_is_null(place: Any) -> None:
    place.ours.pages(1)
    assert (await post(place))[1][0]["snippet"] is None


async def test_no_results_is_an_empty_array(place: Any) -> None:
    place.ours.outcome = []
    assert await post(place, count=3) == (200, [])


@pytest.mark.parametrize("code", list(ErrorCode))
async def test_a_failure_is_an_object_with_its_status(place: Any, code: ErrorCode) -> None:
    place.ours.outcome = SearchError(code)
    status, body = await post(place, count=3)
    assert (status, body["code"]) == (code.status, code)


async def test_what_it_forwards_of_its_users_is_written_nowhere(logged: Any, place: Any) -> None:
    await post(place, count=3)
    written = logged() + place.store.bytes_on_disk().decode("latin-1")
    assert [value for value in HEADERS.values() if "canary" in value and value in written] == []
