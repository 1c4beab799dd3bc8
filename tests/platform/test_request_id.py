"""`X-Request-Id` and `traceparent`: which request a line of the log is about."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer, make_mocked_request
from hypothesis import given
from hypothesis import strategies as st

from searchport.testing import FakeWeb
from searchport_platform.doors.http import RECORD, log_access
from searchport_platform.doors.request_id import identify, parse_traceparent, sign

Serve = Callable[..., Awaitable[TestClient]]

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
MADE = re.compile(r"[0-9a-f]{32}")


async def ask(client: TestClient, path: str = "/healthz", **headers: str) -> str:
    """The id on an answer."""
    async with client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()}) as response:
        return response.headers["X-Request-Id"]


@pytest.fixture
async def client(serve: Serve) -> TestClient:
    return await serve()


@pytest.mark.parametrize("given_id", ["a", "A.b_c-9", "x" * 64])
async def test_a_well_formed_id_comes_back(client: TestClient, given_id: str) -> None:
    assert await ask(client, X_Request_Id=given_id) == given_id


@pytest.mark.parametrize("given_id", ["", "x" * 65, "a b", "a/b", "ä", "a;b=c", '"a"'])
async def test_any_other_is_replaced(client: TestClient, given_id: str) -> None:
    assert MADE.fullmatch(await ask(client, X_Request_Id=given_id))


async def test_two_ids_are_none(client: TestClient) -> None:
    async with client.get("/healthz", headers=[("X-Request-Id", "a"), ("X-Request-Id", "b")]) as response:
        assert MADE.fullmatch(response.headers["X-Request-Id"])


async def test_each_request_gets_its_own(client: TestClient) -> None:
    made = [await ask(client) for _ in range(3)]
    assert len(set(made)) == 3


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/healthz", 200),
        ("GET", "/none", 404),
        ("GET", "/api/none", 404),
        ("POST", "/healthz", 405),
        ("POST", "/ops/search", 400),
        ("GET", "/openapi.json", 200),
        ("GET", "/api/docs", 200),
        ("GET", "/api/docs/none", 404),
    ],
)
async def test_every_answer_bears_it(client: TestClient, method: str, path: str, status: int) -> None:
    async with client.request(method, path, headers={"X-Request-Id": "mine"}) as response:
        assert (response.status, response.headers["X-Request-Id"]) == (status, "mine")


async def fail(_request: web.Request) -> web.Response:
    raise RuntimeError("the query")


async def stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write_eof(b"x")
    return response


async def record(request: web.Request) -> web.Response:
    request[RECORD] = "r-1"
    return web.Response()


@pytest.fixture
async def small() -> AsyncIterator[TestClient]:
    """A server of our middlewares alone, with handlers that no door has."""
    app = web.Application(middlewares=[identify, log_access])
    app.on_response_prepare.append(sign)
    app.add_routes([web.get("/fail", fail), web.get("/stream", stream), web.get("/record", record)])
    async with TestClient(TestServer(app)) as client:
        yield client


@pytest.mark.parametrize("path", ["/fail", "/stream"])
async def test_a_handler_that_breaks_or_streams_bears_it_too(small: TestClient, path: str) -> None:
    assert await ask(small, path, X_Request_Id="mine") == "mine"


def lines(text: str, event: str = "request") -> list[dict[str, Any]]:
    """The logged lines of one event."""
    return [line for line in map(json.loads, text.splitlines()) if line["event"] == event]


async def test_the_log_holds_it_with_the_trace(client: TestClient, logged: Callable[[], str]) -> None:
    await ask(client, X_Request_Id="mine", traceparent=PARENT)
    (line,) = lines(logged())
    assert (line["request_id"], line["trace_id"]) == ("mine", TRACE)


async def test_the_access_log_links_it_to_the_searchs_record(small: TestClient, logged: Callable[[], str]) -> None:
    await ask(small, "/record", X_Request_Id="mine")
    (line,) = lines(logged())
    assert (line["request_id"], line["record"]) == ("mine", "r-1")


async def test_a_caller_that_leaves_is_no_failure_of_the_servers(logged: Callable[[], str]) -> None:
    async def leave(_: web.Request) -> web.StreamResponse:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await log_access(make_mocked_request("GET", "/"), leave)
    (line,) = lines(logged())
    assert line["status"] == 499


async def test_nothing_of_one_request_is_logged_with_the_next_on_its_connection(
    client: TestClient, logged: Callable[[], str]
) -> None:
    await ask(client, X_Request_Id="first", traceparent=PARENT)
    await ask(client, X_Request_Id="second")
    first, second = lines(logged())
    assert (first["request_id"], first["trace_id"]) == ("first", TRACE)
    assert (second["request_id"], second.get("trace_id")) == ("second", None)


async def test_requests_at_once_keep_theirs_apart(client: TestClient, logged: Callable[[], str]) -> None:
    await asyncio.gather(*(ask(client, X_Request_Id=f"r{number}") for number in range(20)))
    assert {line["request_id"] for line in lines(logged())} == {f"r{number}" for number in range(20)}


async def test_a_malformed_trace_is_no_part_of_the_log(client: TestClient, logged: Callable[[], str]) -> None:
    await ask(client, traceparent="00-canary-00f067aa0ba902b7-01")
    (line,) = lines(logged())
    assert "trace_id" not in line
    assert "canary" not in logged()


async def test_the_vendors_line_names_the_same_request(serve: Serve, web: FakeWeb, logged: Callable[[], str]) -> None:
    client = await serve()
    body = {"query": "tea", "provider": "fake"}
    async with client.post("/ops/search", json=body, headers={"X-Request-Id": "mine", "traceparent": PARENT}) as response:
        assert response.status == 200
    (line,) = lines(logged(), "search")
    assert (line["request_id"], line["trace_id"], line["record"]) == ("mine", TRACE, "mine")


async def test_neither_is_sent_to_a_vendor(serve: Serve, web: FakeWeb) -> None:
    web.answer("https://api.search.brave.com/res/v1/web/search", json={"type": "search", "web": {"results": []}})
    client = await serve()
    body = {"query": "tea", "provider": "brave", "auth": {"type": "header", "name": "x", "value": "key"}}
    headers = {"X-Request-Id": "mine-canary", "traceparent": PARENT, "tracestate": "vendor=canary"}
    async with client.post("/ops/search", json=body, headers=headers) as response:
        assert response.status == 200
    (asked,) = web.requests
    sent = f"{dict(asked.headers)} {asked.url}"
    assert [word for word in ("canary", TRACE, "traceparent", "tracestate") if word in sent.lower()] == []


@pytest.mark.parametrize(
    "text", [PARENT, f"00-{TRACE}-00f067aa0ba902b7-00", f"cc-{TRACE}-00f067aa0ba902b7-01-what-the-future-will-be"]
)
def test_a_traceparent_is_read(text: str) -> None:
    assert parse_traceparent(text) == TRACE


@pytest.mark.parametrize(
    "text",
    [
        "",
        PARENT.upper(),
        f"ff-{TRACE}-00f067aa0ba902b7-01",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"{PARENT}-more",
        f"cc-{TRACE}-00f067aa0ba902b7-01more",
        f"cc{PARENT[2:]}-{'x' * 600}",
        f" {PARENT}",
        f"{PARENT}\n",
        PARENT[:-1],
        PARENT.replace("-", "_"),
    ],
    ids=repr,
)
def test_any_other_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no traceparent"):
        parse_traceparent(text)


@given(st.text(alphabet="0123456789abcdefg-", max_size=80))
def test_what_is_read_is_always_an_id_that_was_given(text: str) -> None:
    try:
        trace = parse_traceparent(text)
    except ValueError:
        return
    assert re.fullmatch("[0-9a-f]{32}", trace)
    assert text[3:35] == trace
