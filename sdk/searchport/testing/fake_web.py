"""The whole web, answered by one loopback server: any host name, http and https.

The real client runs: URL check, resolver check and the check of every address, and only then is the connection led to
the server here, which speaks TLS with certificates of its own authority for whatever name the client asked for.

    async with FakeWeb() as web:
        web.answer("https://api.acme.example/v2/find", json={"hits": []})
        body = await web.client().get_json("https://api.acme.example/v2/find", params={"q": "tea"})
        assert web.requests[0].query == {"q": "tea"}
"""

from __future__ import annotations

import asyncio
import json as json_module
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final, Self

import attrs
from aiohttp import web
from yarl import URL

from searchport.egress.client import HttpClient
from searchport.egress.connections import AddressInfo, Dial
from searchport.egress.policy import AddressPolicy

from .fake_dns import FakeDns
from .loopback import LoopbackServer, Redirected

if TYPE_CHECKING:
    from types import TracebackType

    from multidict import CIMultiDictProxy

__all__ = ["FakeAnswer", "FakeRequest", "FakeWeb"]

_NOT_GIVEN: Final = object()
_EVERY_URL: Final = "*"


@attrs.frozen
class FakeAnswer:
    """What the fake web answers: one of json, text and body, or nothing; status; headers; content type by what is given."""

    json: object = _NOT_GIVEN
    text: str | None = None
    body: bytes | None = None
    status: int = 200
    headers: Mapping[str, str] = attrs.field(factory=dict)
    content_type: str | None = None

    def payload(self) -> bytes:
        """The bytes of the answer."""
        if self.body is not None:
            return self.body
        if self.text is not None:
            return self.text.encode()
        return b"" if self.json is _NOT_GIVEN else json_module.dumps(self.json).encode()

    def all_headers(self) -> dict[str, str]:
        """The headers of the answer, its content type among them."""
        kind = "application/json" if self.json is not _NOT_GIVEN else "text/html; charset=utf-8"
        return {"Content-Type": self.content_type or kind, **self.headers}


@attrs.frozen
class FakeRequest:
    """A request as it arrived.

    url: whole, as the client meant it; path: decoded, without the query; query: decoded, the last of equal names.
    headers: whatever their case.
    """

    method: str
    url: str
    host: str
    path: str
    query: dict[str, str]
    headers: CIMultiDictProxy[str]
    body: bytes = b""

    def json(self) -> object:
        """The body, decoded."""
        value: object = json_module.loads(self.body)
        return value

    def form(self) -> dict[str, str]:
        """The body as a form, decoded; the last of equal names."""
        return dict(URL.build(query_string=self.body.decode("ascii"), encoded=True).query)


Handler = Callable[[FakeRequest], Awaitable[FakeAnswer]]
_Responder = Callable[[web.BaseRequest, FakeRequest], Awaitable[web.StreamResponse]]


class FakeWeb:
    """An async context manager; it answers what was registered and fails the test on what was not.

    requests: every request, in order.
    unexpected: those that nothing was registered for. They get 404, and leaving the block raises AssertionError naming
        them, unless `allow_unexpected`.
    dialled: (address, port) of every connection that passed the checks.
    resolver: what names resolve to, and which were looked up.
    """

    def __init__(self, *, allow_unexpected: bool = False) -> None:
        self.requests: list[FakeRequest] = []
        self.unexpected: list[FakeRequest] = []
        self.dialled: list[tuple[str, int]] = []
        self.resolver = FakeDns()
        self._allow_unexpected = allow_unexpected
        self._failures: list[Exception] = []
        self._responders: dict[str, list[_Responder]] = {}
        self._server = LoopbackServer(self._respond)
        self._stack = AsyncExitStack()
        self._ending = asyncio.Event()

    # What to answer.

    def answer(
        self,
        url: str,
        *,
        json: object = _NOT_GIVEN,
        text: str | None = None,
        body: bytes | None = None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        content_type: str | None = None,
    ) -> None:
        """Answers requests for a URL, whatever their method and query; `*` is every URL that nothing else is registered for.

        Registered again: in order, the last one repeats.
        """
        given = FakeAnswer(json, text, body, status, headers or {}, content_type)

        async def respond(_: FakeRequest) -> FakeAnswer:
            return given

        self.handle(url, respond)

    def handle(self, url: str, handler: Handler) -> None:
        """Answers requests for a URL with what an async function of the request gives; what it raises, the block raises."""

        async def respond(_: web.BaseRequest, request: FakeRequest) -> web.StreamResponse:
            try:
                given = await handler(request)
            except Exception as failure:  # noqa: BLE001 - raised when the block ends, where the test sees it
                self._failures.append(failure)
                given = FakeAnswer(status=500)
            return web.Response(status=given.status, body=given.payload(), headers=given.all_headers())

        self._register(url, respond)

    def drop(self, url: str) -> None:
        """Resets the connection instead of answering."""

        async def respond(raw: web.BaseRequest, _: FakeRequest) -> web.StreamResponse:
            return _reset(raw)

        self._register(url, respond)

    def stall(self, url: str) -> None:
        """Takes the request and never answers."""

        async def respond(raw: web.BaseRequest, _: FakeRequest) -> web.StreamResponse:
            await self._ending.wait()
            return _reset(raw)

        self._register(url, respond)

    def cut(self, url: str, *, body: bytes, status: int = 200) -> None:
        """Sends `body`, having promised more, and then ends the connection."""

        async def respond(raw: web.BaseRequest, _: FakeRequest) -> web.StreamResponse:
            response = await _begin(raw, status, body)
            _end(raw)
            return response

        self._register(url, respond)

    def drip(self, url: str, *, body: bytes) -> None:
        """Sends `body`, having promised more, and then nothing, ever."""

        async def respond(raw: web.BaseRequest, _: FakeRequest) -> web.StreamResponse:
            response = await _begin(raw, 200, body)
            await self._ending.wait()
            _end(raw)
            return response

        self._register(url, respond)

    def resolves(self, host: str, *answers: Sequence[str] | Exception) -> None:
        """What `host` resolves to: each answer is a list of addresses (none: no such name) or an exception to raise.

        Several answers are given in order, the last one repeats: `resolves("a.example", ["93.184.215.14"],
        ["127.0.0.1"])`. Any other name resolves to 93.184.215.14.
        """
        self.resolver.answers[host.lower()] = list(answers)

    def forget(self) -> None:
        """Takes back everything that was registered."""
        self._responders.clear()

    # Asking.

    def client(self, policy: AddressPolicy | None = None) -> HttpClient:
        """A client of this web under a policy; closed when the block ends."""
        dial = Dial(open_socket=self._open_socket, tls=self._server.client_tls())
        client = HttpClient(policy or AddressPolicy(), self.resolver, _dial=dial)
        self._stack.push_async_callback(client.close)
        return client

    async def __aenter__(self) -> Self:
        await self._server.start()
        self._stack.push_async_callback(self._server.stop)
        self._stack.callback(self._ending.set)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stack.aclose()
        if error is not None:
            return
        if self._failures:
            raise self._failures[0]
        if self.unexpected and not self._allow_unexpected:
            asked = sorted({f"{request.method} {_key(URL(request.url))}" for request in self.unexpected})
            raise AssertionError(f"nothing was registered for: {', '.join(asked)}")

    @property
    def port(self) -> int:
        """Where the server really listens, on 127.0.0.1."""
        return self._server.address[1]

    # Within.

    def _register(self, url: str, responder: _Responder) -> None:
        self._responders.setdefault(url if url == _EVERY_URL else _key(URL(url)), []).append(responder)

    def _open_socket(self, info: AddressInfo) -> socket.socket:
        address, port = str(info[4][0]), info[4][1]
        self.dialled.append((address, port))
        self._server.certify(address)
        return Redirected(info[0], self._server.address)

    async def _respond(self, raw: web.BaseRequest) -> web.StreamResponse:
        request = await _read(raw)
        self.requests.append(request)
        waiting = self._responders.get(_key(URL(request.url))) or self._responders.get(_EVERY_URL)
        if waiting is None:
            self.unexpected.append(request)
            return web.Response(status=404, text="nothing was registered for this URL")
        responder = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return await responder(raw, request)


def _key(url: URL) -> str:
    """Scheme, host, port and path: what registered and arriving URLs are matched by."""
    host = (url.raw_host or "").removesuffix(".")
    return f"{url.scheme}://{host}:{url.port}{url.raw_path or '/'}"


async def _read(raw: web.BaseRequest) -> FakeRequest:
    scheme = "https" if raw.secure else "http"
    url = URL(f"{scheme}://{raw.host}{raw.path_qs}", encoded=True)
    return FakeRequest(
        method=raw.method,
        url=str(url),
        host=url.raw_host or "",
        path=url.path,
        query=dict(url.query),
        headers=raw.headers,
        body=await raw.read(),
    )


async def _begin(raw: web.BaseRequest, status: int, body: bytes) -> web.StreamResponse:
    """Sends a head that promises twice the body, and the body."""
    headers = {"Content-Type": "application/json", "Content-Length": str(2 * len(body))}
    response = web.StreamResponse(status=status, headers=headers)
    await response.prepare(raw)
    await response.write(body)
    return response


def _end(raw: web.BaseRequest) -> None:
    if raw.transport is not None:
        raw.transport.close()


def _reset(raw: web.BaseRequest) -> web.StreamResponse:
    """Ends the connection with a TCP reset, not with an orderly end."""
    if raw.transport is not None:
        connection = raw.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        raw.transport.abort()
    return web.Response(status=500)
