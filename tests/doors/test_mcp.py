"""MCP as its own clients speak it: in process, over HTTP in both eras, and written by hand."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import httpx2
import pytest
from aiohttp import web
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from searchport import ErrorCode, SearchError
from searchport_platform.app import build_app
from searchport_platform.doors import mcp_server
from searchport_platform.doors.agent_tool import describe_tool
from searchport_platform.doors.mcp import McpDoor
from searchport_platform.doors.mcp_server import build_server
from searchport_platform.platform import Caller
from searchport_platform.settings import Settings

ERAS = ["auto", "legacy"]
CANARY = "canary-51c2"
MODERN = "2026-07-28"
OF_A_PROVIDER = [code for code in ErrorCode if code.startswith(("provider_r", "provider_u", "upstream_"))]

Body = dict[str, Any]


@asynccontextmanager
async def connect(place: Any, token: str, era: str) -> AsyncIterator[Client]:
    """The SDK's own client, over HTTP."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=20) as http,
        Client(streamable_http_client(f"{place.url}/mcp", http_client=http), mode=era) as client,
    ):
        yield client


def modern(method: str, version: str = MODERN, **params: object) -> tuple[dict[str, str], Body]:
    """Headers and body of a request of the era without handshake."""
    meta = {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": method}
    if method == "tools/call":
        headers["Mcp-Name"] = str(params["name"])
    return headers, {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}


def handshaken(method: str, **params: object) -> tuple[dict[str, str], Body]:
    """The same of the era with handshake, after it."""
    return {"MCP-Protocol-Version": "2025-11-25"}, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


BY_HAND = {"modern": modern, "handshaken": handshaken}


async def post(
    place: Any, request: tuple[dict[str, str], object], token: str | None = "", **headers: str
) -> tuple[int, Any, dict[str, str]]:
    """Status, body and headers of one request; the token that searches for `acme` unless another is given."""
    bearer = place.token if token == "" else token
    sent = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"} | request[0] | headers
    if bearer is not None:
        sent["Authorization"] = f"Bearer {bearer}"
    async with place.client.post("/mcp", data=json.dumps(request[1]), headers=sent) as response:
        text = await response.text()
        return response.status, json.loads(text) if text else None, dict(response.headers)


# The tool, with the protocol's own client


@pytest.mark.parametrize("era", ERAS)
async def test_the_one_tool_is_listed_as_it_is_declared(place: Any, era: str) -> None:
    async with connect(place, place.token, era) as client:
        (tool,) = (await client.list_tools()).tools
        server = client.server_info
    assert tool.model_dump(by_alias=True, exclude_none=True, mode="json") == describe_tool("mcp")
    assert (server.name, server.version) == ("searchport", version("searchport"))


@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_is_an_object_and_the_same_as_text(place: Any, era: str) -> None:
    """The client checks the object against the tool's own schema."""
    async with connect(place, place.token, era) as client:
        await client.list_tools()
        result = await client.call_tool("web_search", {"query": "tea", "count": 2})
    assert (result.is_error, len(result.content)) == (False, 1)
    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]  # the one block is text
    assert [hit["title"] for hit in result.structured_content["results"]] == ["Page 1", "Page 2"]
    assert result.structured_content["untrusted"] is True


@pytest.mark.parametrize("era", ERAS)
async def test_a_token_searches_for_its_own_organization_alone(place: Any, era: str) -> None:
    async with connect(place, place.tokens["beta", "search"], era) as client:
        result = await client.call_tool("web_search", {"query": "tea"})
    assert result.structured_content["provider"] == "theirs"
    assert (place.ours.asked, len(place.scripts["theirs"].asked)) == ([], 1)


@pytest.mark.parametrize("era", ERAS)
async def test_count_is_the_organizations_default(place: Any, pages: Any, era: str) -> None:
    pages(20)
    await place.select("ours", default_results=3, max_results=5)
    async with connect(place, place.token, era) as client:
        by_default = await client.call_tool("web_search", {"query": "tea"})
        at_most = await client.call_tool("web_search", {"query": "tea", "count": 40})
    assert [len(result.structured_content["results"]) for result in (by_default, at_most)] == [3, 5]


@pytest.mark.parametrize("era", ERAS)
async def test_nothing_found_is_no_failure(place: Any, pages: Any, era: str) -> None:
    pages(0)
    async with connect(place, place.token, era) as client:
        result = await client.call_tool("web_search", {"query": "tea"})
    assert (result.is_error, result.structured_content["results"]) == (False, [])
    assert result.structured_content["message"].startswith("Nothing was found")


async def fail(client: Client, arguments: Body | None) -> str:
    """The text of a call that fails, which holds nothing else."""
    result = await client.call_tool("web_search", arguments)
    assert (result.is_error, result.structured_content, len(result.content)) == (True, None, 1)
    return str(result.content[0].text)  # type: ignore[union-attr]  # the one block is text


@pytest.mark.parametrize("era", ERAS)
async def test_what_fails_is_text_that_begins_with_its_code(place: Any, era: str) -> None:
    async with connect(place, place.token, era) as client:
        assert (await fail(client, None)).startswith("validation_error: $.query: required, but not given")
        assert "$.freshnes: unknown field; did you mean 'freshness'?" in await fail(client, {"query": "tea", "freshnes": "P7D"})
        assert "$.count: expected a whole number" in await fail(client, {"query": "tea", "count": "3"})
        for code in OF_A_PROVIDER:
            place.ours.outcome = SearchError(code)
            assert (await fail(client, {"query": "tea"})).startswith(f"{code}: ")
        await place.select("bare")
        assert (await fail(client, {"query": "tea", "site": "example.com"})).startswith("unsupported_option: ")
        await place.platform.administration().put_agent("acme", "default", tools=[], credentials=[])
        assert (await fail(client, {"query": "tea"})).startswith("forbidden: ")


@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_that_is_not_there_is_a_malformed_call(place: Any, era: str) -> None:
    async with connect(place, place.token, era) as client:
        with pytest.raises(MCPError, match="there is no such tool; there is 'web_search'") as caught:
            await client.call_tool("fetch_page", {"url": "https://pages.example/"})
    assert caught.value.code == -32602


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_ends_before_its_client_gives_up(place: Any, era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mcp_server.LONGEST_SECONDS == 4.5
    monkeypatch.setattr(mcp_server, "LONGEST_SECONDS", 0.2)
    await place.select("fake", deadline_seconds=15.0)
    async with connect(place, place.token, era) as client:
        assert (await fail(client, {"query": "slow: tea"})).startswith("upstream_timeout: ")


# In process


@pytest.mark.parametrize("era", ERAS)
async def test_in_process_the_caller_is_found_for_every_call(place: Any, era: str) -> None:
    found = iter([Caller(organization="acme"), Caller(organization="beta")])

    async def find_caller(_: object) -> Caller:
        try:
            return next(found)
        except StopIteration:
            raise SearchError(ErrorCode.UNAUTHORIZED) from None

    async with Client(build_server(place.platform, find_caller), mode=era) as client:
        first = await client.call_tool("web_search", {"query": "tea"})
        second = await client.call_tool("web_search", {"query": "tea"})
        third = await client.call_tool("web_search", {"query": "tea"})
    assert [result.structured_content["provider"] for result in (first, second)] == ["ours", "theirs"]
    assert third.content[0].text.startswith("unauthorized: ")  # type: ignore[union-attr]  # the one block is text


# Written by hand


async def test_the_server_says_what_it_speaks(place: Any) -> None:
    status, body, _ = await post(place, modern("server/discover"))
    assert (status, body["result"]["supportedVersions"]) == (200, [MODERN])
    assert body["result"]["capabilities"] == {"tools": {"listChanged": False}}
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "hand", "version": "1"}}
    status, body, headers = await post(place, ({}, handshaken("initialize", **client)[1]))
    assert (status, body["result"]["protocolVersion"]) == (200, "2025-11-25")
    assert "Mcp-Session-Id" not in headers
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await post(place, (handshaken("")[0], initialized)))[:2] == (202, None)


async def test_the_list_is_each_callers_own_to_keep(place: Any) -> None:
    _, body, _ = await post(place, modern("tools/list"))
    assert (body["result"]["cacheScope"], body["result"]["ttlMs"]) == ("private", 300_000)


@pytest.mark.parametrize("request_of", BY_HAND.values(), ids=BY_HAND)
async def test_one_request_is_a_whole_call(place: Any, request_of: Callable[..., tuple[dict[str, str], Body]]) -> None:
    status, body, headers = await post(place, request_of("tools/call", name="web_search", arguments={"query": "tea"}))
    assert (status, body["id"], body["result"]["isError"]) == (200, 1, False)
    assert json.loads(body["result"]["content"][0]["text"]) == body["result"]["structuredContent"]
    assert (headers["Content-Type"], headers["Cache-Control"]) == ("application/json", "no-store")
    assert place.ours.asked[0].query == "tea"


@pytest.mark.parametrize("request_of", BY_HAND.values(), ids=BY_HAND)
async def test_a_token_that_is_revoked_is_refused_at_the_next_call(
    place: Any, request_of: Callable[..., tuple[dict[str, str], Body]]
) -> None:
    administration = place.platform.administration()
    for token in await administration.list_tokens("acme"):
        await administration.revoke_token("acme", token.id)
    assert (await post(place, request_of("tools/list")))[0] == 401


@pytest.mark.parametrize(("token", "words"), [(None, "no valid token"), ("spt_wrong", "no valid token")])
@pytest.mark.parametrize("request_of", BY_HAND.values(), ids=BY_HAND)
async def test_without_a_token_nothing_is_answered(
    place: Any, request_of: Callable[..., tuple[dict[str, str], Body]], token: str | None, words: str
) -> None:
    status, body, headers = await post(place, request_of("tools/list"), token)
    assert (status, body["error"]) == (401, "invalid_token")
    assert words in body["error_description"]
    assert headers["WWW-Authenticate"] == 'Bearer realm="searchport", error="invalid_token"'


async def test_a_token_that_may_not_search_is_told_which_scope_it_lacks(place: Any) -> None:
    call = modern("tools/call", name="web_search", arguments={"query": "tea"})
    status, body, headers = await post(place, call, place.tokens["acme", "admin"])
    assert (status, body["error"], place.ours.asked) == (403, "insufficient_scope", [])
    assert headers["WWW-Authenticate"] == 'Bearer realm="searchport", error="insufficient_scope", scope="search"'


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
async def test_a_page_of_another_site_is_refused(place: Any, origin: str) -> None:
    status, body, _ = await post(place, modern("tools/list"), Origin=origin)
    assert (status, body["error"]["code"]) == (403, -32600)


async def test_a_page_that_names_the_server_as_its_origin_and_host_is_refused(place: Any) -> None:
    """As a page does whose own name was rebound to this server's address."""
    headers = {"Origin": "http://rebound.example:8080", "Host": "rebound.example:8080"}
    assert (await post(place, modern("tools/list"), **headers))[0] == 403


async def test_a_host_name_that_a_proxy_made_is_answered(place: Any) -> None:
    assert (await post(place, modern("tools/list"), Host="search.internal:9999"))[0] == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
async def test_there_is_no_stream_and_no_session(place: Any, method: str) -> None:
    headers = {"Authorization": f"Bearer {place.token}", "Accept": "text/event-stream"}
    async with place.client.request(method, "/mcp", headers=headers) as response:
        assert (response.status, response.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        ((modern("tools/list")[0] | {"Mcp-Method": "tools/call"}, modern("tools/list")[1]), 400, -32020),
        (modern("subscriptions/listen", notifications={}), 404, -32601),
        (modern("prompts/list"), 404, -32601),
        (modern("tools/call", name="web_search", arguments="tea"), 400, -32602),
        (modern("tools/list", version="2030-01-01"), 400, -32022),
        ((modern("tools/list")[0], []), 400, -32600),
        (handshaken("prompts/list"), 200, -32601),
    ],
)
async def test_a_malformed_message_is_answered_as_the_protocol_says(
    place: Any, request_: tuple[dict[str, str], object], status: int, code: int
) -> None:
    answered, body, _ = await post(place, request_)
    assert (answered, body["error"]["code"]) == (status, code)


ODD_MESSAGES = [
    {"jsonrpc": "2.0", "id": 1, "method": 5, "params": {"query": CANARY}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [CANARY]},
    {"jsonrpc": "1.0", "id": 1, "method": "tools/call", "params": {"query": CANARY}},
    {"id": 1, "method": "tools/call", "params": {"query": CANARY}},
    {"jsonrpc": "2.0", "id": 1, "params": {"query": CANARY}},
    {"jsonrpc": "2.0", "id": 1, "result": CANARY},
    [{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"query": CANARY}}],
    CANARY,
]


@pytest.mark.parametrize("headers", [modern("tools/call", name="web_search")[0], handshaken("tools/call")[0], {}])
async def test_what_is_no_message_is_refused_without_its_words(
    place: Any, logged: Callable[[], str], headers: dict[str, str]
) -> None:
    for message in ODD_MESSAGES:
        status, body, _ = await post(place, (headers, message))
        assert (status, body["id"], body["error"]["code"]) == (400, None, -32600), message
        assert CANARY not in json.dumps(body)
    assert CANARY not in logged()


@pytest.mark.parametrize("identity", [None, {"a": 1}, [1], True, 1.5])
async def test_a_request_with_an_odd_id_is_not_taken_for_a_notification(place: Any, identity: object) -> None:
    """It would be accepted, and never answered."""
    headers, message = handshaken("tools/call", name="web_search", arguments={"query": "tea"})
    status, body, _ = await post(place, (headers, message | {"id": identity}))
    assert (status, body["error"]["code"]) == (400, -32600)
    assert place.ours.asked == []


async def test_a_notification_is_accepted(place: Any) -> None:
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await post(place, (handshaken("")[0], notification)))[:2] == (202, None)


async def test_a_body_beyond_the_limit_is_refused(place: Any) -> None:
    status, body, _ = await post(place, modern("tools/call", name="web_search", arguments={"query": "x" * 70_000}))
    assert (status, body["error"]) == (400, "validation_error")


async def test_without_the_extra_the_door_is_not_there(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("searchport_platform.doors.mcp.find_spec", lambda _: None)
    app = build_app(Settings(), place.platform.router, place.platform)
    assert "/mcp" not in {route.resource.canonical for route in app.router.routes() if route.resource is not None}
    runner = web.AppRunner(app)
    await runner.setup()
    await runner.cleanup()


@pytest.mark.parametrize("request_of", BY_HAND.values(), ids=BY_HAND)
async def test_what_was_asked_stands_in_no_log(
    place: Any, request_of: Callable[..., tuple[dict[str, str], Body]], logged: Callable[[], str]
) -> None:
    for arguments in ({"query": CANARY}, {"query": CANARY, "count": "x"}, [CANARY], None):
        await post(place, request_of("tools/call", name="web_search", arguments=arguments))
    await post(place, request_of("tools/call", name="other", arguments={"query": CANARY}))
    await post(place, request_of("tools/list"), CANARY)
    for outcome in (SearchError(ErrorCode.PROVIDER_UNAVAILABLE), RuntimeError(CANARY)):
        place.ours.outcome = outcome
        await post(place, request_of("tools/call", name="web_search", arguments={"query": CANARY}))
    assert '"route": "/mcp"' in logged()
    assert CANARY not in logged()


async def test_what_was_asked_stands_in_no_span(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK opens a span for each message; this stands in for a tracer and keeps what is said to it."""
    told: list[str] = []

    class Span:
        def __getattr__(self, name: str) -> Callable[..., None]:
            return lambda *args, **kwargs: told.append(f"{name} {args} {kwargs}")

    class Tracer:
        def start_as_current_span(self, *args: object, **kwargs: object) -> Any:
            told.append(f"{args} {kwargs}")

            class Opened:
                def __enter__(self) -> Span:
                    return Span()

                def __exit__(self, *raised: object) -> None:
                    told.append(f"{raised[1]}")

            return Opened()

    monkeypatch.setattr("mcp.shared._otel._tracer", Tracer())
    for request_of in BY_HAND.values():
        for outcome in (place.ours.outcome, SearchError(ErrorCode.PROVIDER_UNAVAILABLE), RuntimeError(CANARY)):
            place.ours.outcome = outcome
            await post(place, request_of("tools/call", name="web_search", arguments={"query": CANARY}))
        await post(place, request_of("tools/call", name="web_search", arguments={"query": CANARY, CANARY: 1}))
        await post(place, request_of("tools/call", name="other", arguments={"query": CANARY}))
    assert any("tools/call web_search" in line for line in told)
    assert not [line for line in told if CANARY in line]


# Clients that leave


@pytest.fixture
async def door(place: Any) -> AsyncIterator[int]:
    """The door alone, served as `searchport serve` does it; its port."""
    app = web.Application()
    mcp = McpDoor(place.platform)
    app.add_routes(mcp.routes())
    app.cleanup_ctx.append(mcp.run)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield site.port
    await runner.cleanup()


def write_request(token: str, method: str, request: tuple[dict[str, str], object]) -> bytes:
    body = json.dumps(request[1]).encode()
    lines = [
        f"{method} /mcp HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in request[0].items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def abandon(port: int, sent: bytes, is_asked: Callable[[], bool] = lambda: True) -> None:
    """Sends a request and leaves as soon as the server is at it."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    await writer.drain()
    while not is_asked():  # noqa: ASYNC110  # the database tells nobody
        await asyncio.sleep(0)
    writer.close()
    await writer.wait_closed()


def recorded(place: Any, searches: int) -> Callable[[], bool]:
    """Whether so many searches have been admitted."""
    return lambda: len(place.store.sql("SELECT id FROM records")) >= searches


async def exchange(port: int, sent: bytes) -> bytes:
    """The status line of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return line


async def test_clients_that_leave_leave_nothing_behind(place: Any, door: int) -> None:
    """Neither a task nor a loop that spins: the last call waits a second for its provider, and the process idles meanwhile."""
    before = asyncio.all_tasks()
    await place.select("fake", deadline_seconds=1.0)
    slow = {"name": "web_search", "arguments": {"query": "slow: tea"}}
    listen = write_request(place.token, "POST", modern("subscriptions/listen", notifications={}))
    for asked in (1, 3):
        await abandon(door, write_request(place.token, "GET", ({"MCP-Protocol-Version": "2025-11-25"}, None)))
        await abandon(door, listen)
        assert b" 404 " in await exchange(door, listen)
        await abandon(door, write_request(place.token, "POST", modern("tools/call", **slow)), recorded(place, asked))
        await abandon(door, write_request(place.token, "POST", handshaken("tools/call", **slow)), recorded(place, asked + 1))
    cpu, started = time.process_time(), time.monotonic()
    assert b" 200 " in await exchange(door, write_request(place.token, "POST", modern("tools/call", **slow)))
    assert time.monotonic() - started >= 0.9
    assert time.process_time() - cpu < 0.5 * (time.monotonic() - started)
    left = asyncio.all_tasks() - before
    _, pending = await asyncio.wait(left, timeout=10) if left else (set(), set())
    assert pending == set()


@pytest.mark.parametrize("request_of", BY_HAND.values(), ids=BY_HAND)
async def test_a_client_that_leaves_ends_its_search(
    place: Any, door: int, request_of: Callable[..., tuple[dict[str, str], Body]]
) -> None:
    """Long before its deadline, and its record says so."""
    await place.select("fake", deadline_seconds=15.0)
    call = request_of("tools/call", name="web_search", arguments={"query": "slow: tea"})
    before, started = asyncio.all_tasks(), time.monotonic()
    await abandon(door, write_request(place.token, "POST", call), recorded(place, 1))
    left = asyncio.all_tasks() - before
    _, pending = await asyncio.wait(left, timeout=10) if left else (set(), set())
    assert (pending, time.monotonic() - started < 4) == (set(), True)
