"""Two organizations on a real database, each with a provider that the test scripts, and everything served."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import pytest
from aiohttp.test_utils import TestClient, TestServer
from stores import SqliteStore, copy_sqlite

from searchport import SearchContext, SearchRequest, SearchResponse, SearchResult, Toolkit, define_toolkit, define_web_search
from searchport.request import OPTION_NAMES, Recency
from searchport_platform.app import build_app
from searchport_platform.metering.listeners import Listeners
from searchport_platform.platform import Platform
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Router
from searchport_platform.settings import Settings
from searchport_platform.tenancy.selections import Choice, Selection
from searchport_platform.tenancy.tokens import Scope

WINDOWS = {window: window.value for window in Recency}


@attrs.define
class Script:
    """What a provider does when it is asked. asked: the requests, in order. outcome: its results, or what it raises."""

    asked: list[SearchRequest] = attrs.field(factory=list)
    outcome: list[SearchResult] | Exception = attrs.field(factory=list)

    def pages(self, count: int, *, host: str = "pages.example", **fields: Any) -> list[SearchResult]:
        """Makes it answer with so many results."""
        self.outcome = [SearchResult(f"Page {n}", f"https://{host}/{n}", **fields) for n in range(1, count + 1)]
        return self.outcome


def _declare(name: str, script: Script, **abilities: Any) -> Toolkit:
    toolkit = define_toolkit(id=name, name=name.title(), credential_ref=None)

    @define_web_search(toolkit, **{"recency": WINDOWS, "page_size": 50, "text": "plain", "breaker": False} | abilities)
    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        script.asked.append(request)
        if isinstance(script.outcome, Exception):
            raise script.outcome
        return SearchResponse(script.outcome, vendor=name)

    return toolkit


@attrs.frozen(kw_only=True)
class Place:
    """A served platform, and what a test looks at from outside.

    Organization `acme` has selected `ours`, which honours every option, and `beta` has selected `theirs`. Nothing has selected
    `bare`, which honours none. tokens: (organization, scope) -> text. scripts: by provider.
    """

    platform: Platform
    client: TestClient
    scripts: dict[str, Script]
    tokens: dict[tuple[str, str], str] = attrs.field(repr=False)
    store: SqliteStore

    @property
    def token(self) -> str:
        """That searches for `acme`."""
        return self.tokens["acme", "search"]

    @property
    def ours(self) -> Script:
        """What the provider of `acme` does."""
        return self.scripts["ours"]

    @property
    def url(self) -> str:
        """Where the server is."""
        return str(self.client.make_url("")).rstrip("/")

    async def select(self, *providers: str, organization: str = "acme", **limits: Any) -> None:
        """Selects the first provider, with the others as its fallbacks."""
        first, *others = (Choice(provider=provider) for provider in providers)
        selection = Selection(choice=first, fallbacks=tuple(others), **limits)
        await self.platform.administration().put_selection(organization, selection)


def _registry(scripts: dict[str, Script]) -> Registry:
    own = [
        _declare("ours", scripts["ours"], native=OPTION_NAMES),
        _declare("theirs", scripts["theirs"]),
        _declare("bare", scripts["bare"], recency=None, unsupported=OPTION_NAMES),
    ]
    return Registry(MappingProxyType({**_built_in(), **{toolkit.id: toolkit for toolkit in own}}))


@cache
def _built_in() -> Mapping[str, Toolkit]:
    return Registry.discover().toolkits


async def _settle(platform: Platform) -> dict[tuple[str, str], str]:
    """The organizations and their tokens."""
    administration, tokens = platform.administration(), {}
    for organization, provider in (("acme", "ours"), ("beta", "theirs")):
        await administration.create_organization(organization, organization.title())
        await administration.put_selection(organization, Selection(choice=Choice(provider=provider)))
        for scope in ("search", "admin"):
            _, text = await administration.issue_token(organization, name="test", scopes=[Scope(scope)])
            tokens[organization, scope] = text
    return tokens


@pytest.fixture(scope="session")
def settled(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[tuple[str, str], str]]:
    """A database in which the organizations are there, which is made once and copied for each test; and their tokens."""
    store = copy_sqlite(migrated, tmp_path_factory.mktemp("settled") / "searchport.db")

    async def settle() -> dict[tuple[str, str], str]:
        registry = _registry({name: Script() for name in ("ours", "theirs", "bare")})
        async with HttpClients() as clients:
            router = Router(registry=registry, clients=clients)
            async with Platform.open(store.url, router=router, listeners=Listeners(), prepare=False) as platform:
                return await _settle(platform)

    return store.file, asyncio.run(settle())


@pytest.fixture
def scripts() -> dict[str, Script]:
    """What each provider does."""
    found = {name: Script() for name in ("ours", "theirs", "bare")}
    for name, script in found.items():
        script.pages(3, host=f"{name}.example")
    return found


@pytest.fixture
async def place(
    settled: tuple[Path, dict[tuple[str, str], str]], tmp_path: Path, scripts: dict[str, Script]
) -> AsyncIterator[Place]:
    """The platform, served as `searchport serve` does: without the access log of the HTTP library."""
    file, tokens = settled
    store = copy_sqlite(file, tmp_path / "searchport.db")
    async with HttpClients() as clients:
        router = Router(registry=_registry(scripts), clients=clients)
        async with Platform.open(store.url, router=router, listeners=Listeners(), prepare=False) as platform:
            app = build_app(Settings(ops_token="ops-token"), router, platform)
            server = TestServer(app, host="127.0.0.1")
            await server.start_server(access_log=None)
            async with TestClient(server) as client:
                yield Place(platform=platform, client=client, scripts=scripts, tokens=dict(tokens), store=store)


@pytest.fixture
def pages(scripts: dict[str, Script]) -> Callable[..., list[SearchResult]]:
    """Makes the provider of `acme` answer: `pages(20, published_date="2026-09-20")`."""
    return scripts["ours"].pages
