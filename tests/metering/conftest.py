"""One organization on a real database file, and toolkits whose vendor is the test itself."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import pytest
from sqlalchemy import event

from searchport import (
    SEARCH_API_KEY,
    SearchContext,
    SearchError,
    SearchRequest,
    SearchResponse,
    SearchResult,
    Toolkit,
    define_toolkit,
    define_web_search,
)
from searchport.result import Envelope
from searchport_platform.metering.listeners import Listeners
from searchport_platform.platform import Caller, Platform
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Router
from searchport_platform.tenancy.selections import Choice, Selection

OURS = "ours"
Vendor = Callable[[SearchRequest, SearchContext], Awaitable[None]]


@attrs.define
class Vendors:
    """What the toolkits do when they are asked. asked: the queries, in order."""

    asked: list[str] = attrs.field(factory=list)
    act: Vendor | None = None
    release: asyncio.Event = attrs.field(factory=asyncio.Event)
    reached: asyncio.Queue[str] = attrs.field(factory=asyncio.Queue)

    async def hold(self, request: SearchRequest, _: SearchContext) -> None:
        """Tells that it was reached, and answers when it is let."""
        self.reached.put_nowait(request.query)
        await self.release.wait()


def declare(vendors: Vendors, name: str, price: str, *, page_size: int = 10, keyless: bool = True) -> Toolkit:
    toolkit = define_toolkit(id=name, name=name.title(), credential_ref=None if keyless else SEARCH_API_KEY)

    @define_web_search(toolkit, recency=None, price_per_1000=Decimal(price), page_size=page_size, unsupported={"safe"})
    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        vendors.asked.append(request.query)
        if vendors.act is not None:
            await vendors.act(request, context)
        return SearchResponse([SearchResult("A page", f"https://{name}.example/1")], vendor=name)

    return toolkit


@attrs.define(kw_only=True)
class Place:
    """A platform and its organization, with everything that a test looks at from outside."""

    platform: Platform
    vendors: Vendors
    store: Any
    open: Callable[..., AbstractAsyncContextManager[Platform]]
    caller: Caller = attrs.field(factory=lambda: Caller(organization=OURS))

    async def search(self, query: str = "tea", *, agent: str = "default", **options: Any) -> Envelope:
        """One search of an agent."""
        return await self.platform.search(attrs.evolve(self.caller, agent=agent), SearchRequest(query, **options))

    async def try_search(self, query: str = "tea", *, agent: str = "default", **options: Any) -> str:
        """`ok`, or the code of the error."""
        try:
            await self.search(query, agent=agent, **options)
        except SearchError as error:
            return str(error.code)
        return "ok"

    async def cap(self, searches: int, agent: str = "default") -> None:
        """Sets the agent's cap, and makes it where it is not there."""
        await self.platform.administration().put_agent(
            OURS, agent, tools=["web.*"], credentials=["search.apiKey"], max_searches_per_day=searches
        )

    async def limit(self, **limits: Any) -> None:
        """Sets the organization's limits."""
        await self.platform.administration().limit_organization(OURS, **limits)

    async def select(self, *providers: str, **limits: Any) -> None:
        """Selects the first, with the others as its fallbacks."""
        first, *others = (Choice(provider=provider) for provider in providers)
        selection = Selection(choice=first, fallbacks=tuple(others), **limits)
        await self.platform.administration().put_selection(OURS, selection)

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Asks the database behind the platform's back."""
        return self.store.sql(statement, *values)

    def records(self, columns: str = "outcome") -> list[Any]:
        """Columns of every record, in the order in which they began; a single one by itself."""
        order = "rowid" if self.store.kind == "sqlite" else "ctid"
        rows = self.sql(f"SELECT {columns} FROM records ORDER BY started_ms, {order}")  # noqa: S608
        return [row[0] if len(row) == 1 else row for row in rows]

    def used(self) -> int:
        """Units that every agent took on every day."""
        return int(self.sql("SELECT COALESCE(SUM(searches), 0) FROM agent_days")[0][0])

    def spent(self) -> int:
        """Micro-USD that are spent or reserved."""
        return int(self.sql("SELECT COALESCE(SUM(spent_microusd), 0) FROM organization_months")[0][0])


@pytest.fixture
def vendors() -> Vendors:
    """Every vendor."""
    return Vendors()


@pytest.fixture
def registry(vendors: Vendors) -> Registry:
    """`acme` at 5 USD for a thousand requests, `dear` at 20, `free`, and `keyed`."""
    own = [
        declare(vendors, "acme", "5"),
        declare(vendors, "dear", "20", page_size=5),
        declare(vendors, "free", "0"),
        declare(vendors, "keyed", "5", keyless=False),
    ]
    return Registry(MappingProxyType({toolkit.id: toolkit for toolkit in own}))


@pytest.fixture
def open_platform(store: Any, registry: Registry) -> Callable[..., AbstractAsyncContextManager[Platform]]:
    """Opens a platform on the test's database, as another process would."""

    @asynccontextmanager
    async def opened(**given: Any) -> AsyncIterator[Platform]:
        async with HttpClients() as clients:
            router = Router(registry=registry, clients=clients)
            given = {"listeners": Listeners(), "prepare": False, "secret_keys": store.secret_keys} | given
            async with Platform.open(store.url, router=router, **given) as platform:
                yield platform

    return opened


@pytest.fixture
async def place(
    store: Any, vendors: Vendors, open_platform: Callable[..., AbstractAsyncContextManager[Platform]]
) -> AsyncIterator[Place]:
    """The organization, which selected `acme`."""
    async with open_platform() as platform:
        await platform.administration().create_organization(OURS, "Ours", provider="acme")
        yield Place(platform=platform, vendors=vendors, store=store, open=open_platform)


@pytest.fixture
def locked(store: Any) -> Callable[[], Any]:
    """Keeps others from counting, as another process that writes and does not end; closing it lets go."""
    return partial(store.hold, OURS)


@pytest.fixture
def statements(place: Place) -> list[tuple[str, Any]]:
    """(SQL, compiled statement or None) of everything that reaches the database from now on."""
    seen: list[tuple[str, Any]] = []

    def look(_connection: object, _cursor: object, sql: str, _parameters: object, context: Any, _many: bool) -> None:
        seen.append((sql, getattr(context, "compiled", None)))

    event.listen(place.platform.engine.sync_engine, "before_cursor_execute", look)
    return seen


@attrs.define
class Worker:
    """A process of its own that searches; its lines are `answered ID`, `refused CODE` and `done`."""

    process: asyncio.subprocess.Process

    async def go(self) -> None:
        """Lets it begin, once it has told that it is ready."""
        assert await self.line() == "ready"
        assert self.process.stdin is not None
        self.process.stdin.write(b"go\n")
        await self.process.stdin.drain()

    async def line(self) -> str:
        """Its next line; empty at its end."""
        assert self.process.stdout is not None
        return (await self.process.stdout.readline()).decode().strip()

    async def lines(self) -> list[str]:
        """All its lines until its end."""
        found = []
        while line := await self.line():
            found.append(line)
        return found


@pytest.fixture
async def start_worker(store: Any) -> AsyncIterator[Callable[..., Awaitable[Worker]]]:
    """Starts a process: `await start_worker(callers=50)`."""
    started: list[Worker] = []

    async def start(*, callers: int, agent: str = "default") -> Worker:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(Path(__file__).with_name("worker.py")),
            *(store.url, OURS, agent, str(callers), f"{store.file}.{agent}.vendor"),
            env=os.environ | {"SEARCHPORT_SECRET_KEYS": store.secret_keys},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        started.append(Worker(process))
        return started[-1]

    yield start
    for worker in started:
        if worker.process.returncode is None:
            worker.process.kill()
        await worker.process.communicate()
