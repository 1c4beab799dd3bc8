"""MCP over HTTP: `POST /mcp`, streamable HTTP without sessions, in both eras of the protocol.

Each request stands for itself: it bears its token, its answer is one JSON body, and no stream is ever open, so nothing holds up a
server that stops, and any of several processes can answer. `GET` and `DELETE`, by which a client would open a stream or end a
session, answer 405, as the protocol lets a server do that offers neither.

An `Origin` that is not this server's own is refused with 403: a browser's page whose name was rebound to this server's address
names itself there. The `Host` is not judged, since behind a proxy it is whatever the proxy makes of it, and there is nothing to
steal by it: a request without a token gets nothing, and no browser adds one by itself.

No `resource_metadata` is advertised: an admin issues the tokens, no authorization server does, and a client that is sent to one
begins a sign-in that nobody answers.
Sources: modelcontextprotocol.io/specification, revisions 2025-11-25 and 2026-07-28 (basic/transports, basic/authorization);
RFC 6750, section 3.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractAsyncContextManager
from importlib.util import find_spec
from typing import Any, TypeAlias

import attrs
from aiohttp import web
from yarl import URL

from searchport.egress.json_text import MalformedJsonError, loads
from searchport.errors import ErrorCode, SearchError
from searchport_platform.doors.http import NO_STORE, answer_errors, read_body, render_error_headers
from searchport_platform.doors.http_api import authenticate
from searchport_platform.platform import Caller, Platform
from searchport_platform.tenancy.tokens import Scope

__all__ = ["CALLER", "McpDoor", "is_installed"]

PATH = "/mcp"
CALLER = "searchport.caller"
"""Under this name the ASGI scope holds who calls."""

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_SERVER: web.AppKey[AsgiApp] = web.AppKey("MCP_SERVER")


def is_installed() -> bool:
    """True where the extra `mcp` is."""
    return find_spec("mcp") is not None


@attrs.frozen
class McpDoor:
    """The door's handler, and the server behind it, which runs as long as the application does."""

    platform: Platform

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts: nothing where the extra is missing."""
        return [web.post(PATH, answer_errors(self.answer, render_refusal))] if is_installed() else []

    async def run(self, app: web.Application) -> AsyncIterator[None]:
        """The application's cleanup context."""
        if not is_installed():
            yield
            return
        from searchport_platform.doors.mcp_server import open_http_server

        ready: asyncio.Future[AsgiApp] = asyncio.get_running_loop().create_future()
        stopping = asyncio.Event()
        serving = asyncio.create_task(_hold(open_http_server(self.platform), ready, stopping))
        await asyncio.wait((ready, serving), return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            await serving
        app[_SERVER] = await ready
        yield
        stopping.set()
        await serving

    async def answer(self, request: web.Request) -> web.Response:
        """One message of a client."""
        if (refused := self._check_origin(request)) is not None:
            return refused
        caller = await authenticate(self.platform, request)
        caller.check_scope(Scope.SEARCH)
        body = await read_body(request)
        if (refused := check_message(body)) is not None:
            return refused
        return await _pass_on(request.app[_SERVER], request, body, caller)

    def _check_origin(self, request: web.Request) -> web.Response | None:
        origin, public_url = request.headers.get("Origin"), self.platform.router.public_url
        if origin is None or (public_url is not None and origin == str(URL(public_url).origin())):
            return None
        return _refuse(_INVALID_REQUEST, "requests of another site's pages are not answered", status=403)


async def _hold(opening: AbstractAsyncContextManager[AsgiApp], ready: asyncio.Future[AsgiApp], stopping: asyncio.Event) -> None:
    """Opens and closes the server in one task, which its task group insists on and an application does not promise."""
    async with opening as server:
        ready.set_result(server)
        await stopping.wait()


_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
"""Source: JSON-RPC 2.0, section 5.1."""


def check_message(body: bytes) -> web.Response | None:
    """The refusal of what is no single JSON-RPC message, None for one that is.

    The SDK would answer with the whole message in its text, the query included, take the last of equal keys, and take a request
    with an odd id for a notification, to which nobody waits for an answer.
    """
    try:
        message = loads(body, refuse_duplicate_keys=True)
    except MalformedJsonError as error:
        return _refuse(_PARSE_ERROR, f"the body is not the JSON that is taken here: {error.reason}")
    fault = _find_fault(message)
    return None if fault is None else _refuse(_INVALID_REQUEST, fault)


def _find_fault(message: object) -> str | None:
    if not isinstance(message, Mapping) or message.get("jsonrpc") != "2.0":
        return 'expected one JSON-RPC object with "jsonrpc": "2.0"'
    if "method" not in message:
        return None if isinstance(message.get("result", message.get("error")), Mapping) else "expected a `method`"
    if not isinstance(message["method"], str):
        return "`method` must be a text"
    if "id" in message and type(message["id"]) not in (str, int):
        return "`id` must be a text or a whole number"
    return None if isinstance(message.get("params") or {}, Mapping) else "`params` must be an object"


def _refuse(code: int, message: str, *, status: int = 400) -> web.Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return web.json_response(body, status=status, headers=NO_STORE)


async def _pass_on(server: AsgiApp, request: web.Request, body: bytes, caller: Caller) -> web.Response:
    """One request through an ASGI application that answers with one body.

    After the body `receive` waits for ever: an application that listens for its client's departure would else read the end of the
    body again and again and hold the whole process. Departure cancels this handler, and everything under it.
    """
    unread = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Message] = []

    async def receive() -> Message:
        return unread.pop() if unread else await asyncio.get_running_loop().create_future()

    async def send(message: Message) -> None:
        sent.append(message)

    await server(_build_scope(request, caller), receive, send)
    start, *rest = sent
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start.get("headers", ())]
    kept = [(name, value) for name, value in headers if name.lower() != "content-length"]
    answer = b"".join(message.get("body", b"") for message in rest)
    return web.Response(status=start["status"], headers=[*kept, *NO_STORE.items()], body=answer or None)


def _build_scope(request: web.Request, caller: Caller) -> dict[str, Any]:
    """ASGI 3.0, with the caller. The query string is left out: nothing of this door is in it."""
    host, port = request.url.host, request.url.port
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.lower(), value) for name, value in request.raw_headers],
        "client": (request.remote or "", 0),
        "server": (host or "", port),
        CALLER: caller,
    }


def render_refusal(error: SearchError) -> web.Response:
    """What never reaches the protocol: 401 with `invalid_token`, 403 with `insufficient_scope`; another failure with its code."""
    names = {ErrorCode.UNAUTHORIZED: "invalid_token", ErrorCode.FORBIDDEN: "insufficient_scope"}
    name = names.get(error.code, str(error.code))
    headers = NO_STORE | render_error_headers(error)
    if error.code in names:
        scope = f', scope="{Scope.SEARCH}"' if error.code is ErrorCode.FORBIDDEN else ""
        headers["WWW-Authenticate"] = f'Bearer realm="searchport", error="{name}"{scope}'
    body = {"error": name, "error_description": str(error)}
    return web.json_response(body, status=error.code.status, headers=headers)
