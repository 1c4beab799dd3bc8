"""A platform on a database of each kind, and a server that the test may stop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import pytest
from postgres_server import PostgresServer
from stores import PostgresStore

from searchport import (
    SearchContext,
    SearchError,
    SearchRequest,
    SearchResponse,
    SearchResult,
    Toolkit,
    define_toolkit,
    define_web_search,
)
from searchport_platform.metering.listeners import Listeners
from searchport_platform.platform import Caller, Platform
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Router

OURS = Caller(organization="ours")


@attrs.define
class Vendor:
    """asked: how often. act: what happens meanwhile."""

    asked: int = 0
    act: Callable[[], Any] = lambda: None


def _declare(vendor: Vendor) -> Toolkit:
    toolkit = define_toolkit(id="acme", name="Acme", credential_ref=None)

    @define_web_search(toolkit, recency=None, price_per_1000=Decimal(5))
    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        vendor.asked += 1
        happened = vendor.act()
        if asyncio.iscoroutine(happened):
            await happened
        return SearchResponse([SearchResult("A page", "https://pages.example/1")], vendor="acme")

    return toolkit


@pytest.fixture
def vendor() -> Vendor:
    """Whom `acme` asks."""
    return Vendor()


@pytest.fixture
def open_on(vendor: Vendor) -> Callable[..., AbstractAsyncContextManager[Platform]]:
    """Opens a platform on a store, as another process would: `async with open_on(store) as platform`."""
    registry = Registry(MappingProxyType({"acme": _declare(vendor)}))

    @asynccontextmanager
    async def opened(store: Any, **given: Any) -> AsyncIterator[Platform]:
        async with HttpClients() as clients:
            router = Router(registry=registry, clients=clients)
            given = {"secret_keys": store.secret_keys, "listeners": Listeners(), "prepare": False} | given
            async with Platform.open(store.url, router=router, **given) as platform:
                yield platform

    return opened


async def try_search(platform: Platform, caller: Caller = OURS) -> str:
    """`ok`, or the code of the error."""
    try:
        await platform.search(caller, SearchRequest("tea"))
    except SearchError as error:
        return str(error.code)
    return "ok"


@pytest.fixture
def search() -> Callable[..., Any]:
    """One search: `ok`, or the code of the error."""
    return try_search


@pytest.fixture
def server_store(own_server: PostgresServer, tmp_path: Path) -> Iterator[PostgresStore]:
    """A new database on it, without any table."""
    store = PostgresStore(server=own_server, name=own_server.make_database(), file=tmp_path / "none", reusable=False)
    yield store
    if own_server.process is None:
        own_server.start()
    store.close()


@pytest.fixture
async def platform(server_store: PostgresStore, open_on: Any) -> AsyncIterator[Platform]:
    """A platform on it, with the organization `ours`."""
    async with open_on(server_store) as opened:
        await opened.administration().create_organization("ours", "Ours", provider="acme")
        yield opened
