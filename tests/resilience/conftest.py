"""Vendors that fail in every way: a fake web for their statuses, and a raw server for what breaks below HTTP."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import MappingProxyType
from typing import Any, Self

import attrs
import pytest

from searchport import (
    SEARCH_API_KEY,
    SearchContext,
    SearchRequest,
    SearchResponse,
    SearchResult,
    Toolkit,
    define_toolkit,
    define_web_search,
    operator_only,
)
from searchport.result import Attempt, Envelope
from searchport.testing import FakeWeb
from searchport_platform.registry import Registry
from searchport_platform.routing import resilience
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.resilience import Breakers
from searchport_platform.routing.router import Route, Router

KEYED = "https://api.keyed.example/find"
OPEN = "https://api.open.example/find"
OTHER = "https://api.other.example/find"


@attrs.frozen
class OpenSettings:
    """base_url: the operator's. edition: anybody's."""

    base_url: str = operator_only(default="https://api.open.example")
    edition: str = "world"


async def _find(context: SearchContext[Any], url: str, vendor: str, **params: str | int | None) -> SearchResponse:
    answer = await context.http.get_json(url, params={"page": context.page.number, **params})
    hits = [SearchResult(hit.text("t"), hit.text("u"), published_date=hit.text("d")) for hit in answer.rows("hits")]
    return SearchResponse(hits, vendor=vendor)


def _declare() -> list[Toolkit[Any]]:
    keyed = define_toolkit(id="keyed", name="Keyed", credential_ref=SEARCH_API_KEY)
    other = define_toolkit(id="other", name="Other", credential_ref=SEARCH_API_KEY)
    open_ = define_toolkit(id="open", name="Open", credential_ref=None, settings=OpenSettings)
    forbids = define_toolkit(id="forbids", name="Forbids storing", credential_ref=SEARCH_API_KEY)

    @define_web_search(keyed, recency=None, page_size=2)
    async def search_keyed(request: SearchRequest, context: SearchContext) -> SearchResponse:
        return await _find(context, KEYED, "keyed", q=request.query, key=context.credential)

    @define_web_search(other, recency=None)
    async def search_other(request: SearchRequest, context: SearchContext) -> SearchResponse:
        return await _find(context, OTHER, "other", q=request.query)

    @define_web_search(open_, recency=None)
    async def search_open(request: SearchRequest, context: SearchContext[OpenSettings]) -> SearchResponse:
        url = f"{context.settings.base_url}/find"
        return await _find(context, url, "open", q=request.query, edition=context.settings.edition)

    @define_web_search(forbids, recency=None, cacheable=False)
    async def search_forbids(request: SearchRequest, context: SearchContext) -> SearchResponse:
        return await _find(context, KEYED, "forbids", q=request.query)

    return [keyed, other, open_, forbids]


def hits(count: int = 2, **fields: str) -> dict[str, object]:
    """A vendor's answer of so many results."""
    return {"hits": [{"t": f"Page {n}", "u": f"https://pages.example/{n}", **fields} for n in range(count)]}


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        """Lets time pass."""
        self.now += seconds


class Bench:
    """A router over our own toolkits and the built-in ones, and everything it told of its attempts."""

    def __init__(self, router: Router) -> None:
        self.router = router
        self.attempts: list[Attempt] = []

    def route(self, provider: str = "keyed", **given: Any) -> Route:
        """A route of organization `acme` with a key of generation 1, but for what is given."""
        toolkit = self.router.registry.get(provider)
        key = {} if toolkit.is_keyless else {"credential": "canary-key", "generation": 1}
        return Route(**{"toolkit": toolkit, "organization": "acme"} | key | given)

    async def search(
        self, query: str = "tea", *, deadline: float = 5.0, cache: float = 0.0, options: Any = None, **given: Any
    ) -> Envelope:
        """One dispatch; `given` describes the route."""
        request = SearchRequest(query, **(options or {}))
        return await self.router.dispatch(
            self.route(**given),
            request,
            request_id="r",
            deadline_seconds=deadline,
            cache_seconds=cache,
            on_attempt=self.attempts.append,
        )

    async def answer(self, *routes: Route, query: str = "tea", deadline: float = 5.0, cache: float = 0.0) -> Envelope:
        """One call with fallbacks."""
        return await self.router.answer(
            [lambda route=route: route for route in routes],
            SearchRequest(query),
            request_id="r",
            deadline_seconds=deadline,
            cache_seconds=cache,
            on_attempt=self.attempts.append,
        )


@pytest.fixture(autouse=True)
def _no_time_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resilience, "BACKOFF_SECONDS", 0.005)


@pytest.fixture(scope="session")
def registry() -> Registry:
    """The built-in toolkits and our own."""
    own = {toolkit.id: toolkit for toolkit in _declare()}
    return Registry(MappingProxyType({**Registry.discover().toolkits, **own}))


@pytest.fixture
async def web() -> AsyncIterator[FakeWeb]:
    """Every vendor's address."""
    async with FakeWeb() as fake:
        yield fake


@pytest.fixture
def clock() -> Clock:
    """The breakers' clock and the cache's."""
    return Clock()


@pytest.fixture
async def bench(web: FakeWeb, registry: Registry, clock: Clock) -> AsyncIterator[Bench]:
    """The router over the fake web."""
    async with HttpClients(build=web.client) as clients:
        router = Router(registry=registry, clients=clients, breakers=Breakers(clock=clock))
        router.cache.clock = clock
        yield Bench(router)


@pytest.fixture(autouse=True)
async def _no_task_is_left() -> AsyncIterator[None]:
    before = asyncio.all_tasks()
    yield
    assert asyncio.all_tasks() - before - {asyncio.current_task()} == set()


Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class RawVendor:
    """A loopback server that does to each connection what its script says, and then waits for the client to go.

    opened: connections so far. open: those that neither side has ended.
    """

    def __init__(self) -> None:
        self.script: Script = self.read_request
        self.opened = 0
        self.open = 0
        self.requests = 0
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    @property
    def origin(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def read_request(self, reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        """Takes a request's head."""
        await reader.readuntil(b"\r\n\r\n")
        self.requests += 1

    async def is_left(self) -> None:
        """Returns when every connection is ended; the test's own time limit is the bound."""
        while self.open:
            self._changed.clear()
            await self._changed.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        self.open += 1
        try:
            await self.script(reader, writer)
            while await reader.read(65_536):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open -= 1
            self._changed.set()
            writer.close()


def reset(writer: asyncio.StreamWriter) -> None:
    """Ends a connection with a TCP reset."""
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@pytest.fixture
async def vendor() -> AsyncIterator[RawVendor]:
    """A raw server."""
    async with RawVendor() as server:
        yield server
        await server.is_left()


@pytest.fixture
async def raw(vendor: RawVendor, registry: Registry) -> AsyncIterator[Bench]:
    """A router whose vendors are all the raw server, over real connections."""
    origins = dict.fromkeys(("keyed", "other", "open"), vendor.origin)
    async with HttpClients() as clients:
        yield Bench(Router(registry=registry, clients=clients, origins=origins))


@pytest.fixture
def reply() -> Iterator[Callable[..., bytes]]:
    """A whole HTTP answer as bytes; `reply(b"{}", extra="Connection: close")`."""

    def build(body: bytes, *, status: str = "200 OK", length: int | None = None, extra: str = "") -> bytes:
        lines = [
            f"HTTP/1.1 {status}",
            "Content-Type: application/json",
            f"Content-Length: {len(body) if length is None else length}",
        ]
        head = "\r\n".join([*lines, *([extra] if extra else []), "", ""])
        return head.encode() + body

    return build


@pytest.fixture(name="hits")
def hits_fixture() -> Callable[..., dict[str, object]]:
    """A vendor's answer; `hits(3, d="2026-09-20")`."""
    return hits


@pytest.fixture(name="reset")
def reset_fixture() -> Callable[[asyncio.StreamWriter], None]:
    """Ends a connection with a TCP reset."""
    return reset
