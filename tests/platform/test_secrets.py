"""A key, a query and a snippet never reach a log or an error, whatever goes wrong."""

from collections.abc import Callable
from typing import Any

import pytest

from searchport.testing import FakeWeb

KEY, QUERY, SNIPPET = "canary-key-8f3a", "canary query 51c2", "canary snippet 77d0"
CANARIES = (KEY, QUERY, QUERY.replace(" ", "+"), QUERY.replace(" ", "%20"), SNIPPET)

BRAVE = "https://api.search.brave.com/res/v1/web/search"
GOOGLE = "https://www.googleapis.com/customsearch/v1"
ECHO = {
    "type": "ErrorResponse",
    "error": {"code": QUERY, "message": f"{QUERY} {KEY} {SNIPPET}", "errors": [{"reason": KEY}], "status": QUERY},
    "web": {"results": [{"title": SNIPPET, "url": "https://a.example/", "description": SNIPPET}]},
    "items": [{"title": SNIPPET, "link": f"https://a.example/?q={KEY}", "snippet": SNIPPET}],
}
CODE_IS_THE_KEY = {"type": "ErrorResponse", "error": {"code": KEY, "status": KEY}}

FAILURES: dict[str, Callable[[FakeWeb, str], None]] = {
    "success": lambda web, url: web.answer(url, json={name: ECHO[name] for name in ("web", "items")}),
    "refused key": lambda web, url: web.answer(url, json=ECHO, status=401),
    "refused request": lambda web, url: web.answer(url, json=ECHO, status=400),
    "refused in a success": lambda web, url: web.answer(url, json=ECHO),
    "a code that is the key": lambda web, url: web.answer(url, json=CODE_IS_THE_KEY, status=400),
    "rate limit": lambda web, url: web.answer(url, json=ECHO, status=429),
    "unavailable": lambda web, url: web.answer(url, json=ECHO, status=503),
    "redirect": lambda web, url: web.answer(url, text=QUERY, status=302, headers={"Location": f"https://b.example/?{KEY}"}),
    "html": lambda web, url: web.answer(url, text=f"<html>{QUERY}{KEY}</html>"),
    "garbage": lambda web, url: web.answer(url, text=f'{{"{QUERY}": {KEY}'),
    "wrong shape": lambda web, url: web.answer(url, json={"web": SNIPPET, "items": SNIPPET}),
    "reset": lambda web, url: web.drop(url),
    "no address": lambda web, url: web.resolves(url.split("/")[2], []),
    "private address": lambda web, url: web.resolves(url.split("/")[2], ["10.0.0.1"]),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(("provider", "url"), [("brave", BRAVE), ("google-cse", GOOGLE)])
async def test_no_log_line_and_no_error_holds_a_secret(
    serve: Any, web: FakeWeb, logged: Callable[[], str], failure: str, provider: str, url: str
) -> None:
    FAILURES[failure](web, url)
    client = await serve(keep="google-cse")
    payload = {
        "provider": provider,
        "query": QUERY,
        "providerOptions": {"cx": "1"} if provider == "google-cse" else {},
        "auth": {"type": "header", "name": "X", "value": KEY},
    }
    response = await client.post("/ops/search", json=payload)
    body = await response.json()
    written = logged()
    assert "search" in written
    told = "" if body["ok"] else str(body)
    assert body["ok"] == (failure == "success")
    assert [canary for canary in CANARIES if canary in written + told] == []


@pytest.mark.parametrize("header", [KEY + "\n", KEY + "\u2028", "ключ-" + KEY])
async def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(
    serve: Any, logged: Callable[[], str], header: str
) -> None:
    client = await serve()
    payload = {"query": QUERY, "auth": {"type": "header", "name": "X", "value": header}}
    body = await (await client.post("/ops/search", json=payload)).json()
    assert body["ok"] is False
    assert KEY not in str(body) + logged()
