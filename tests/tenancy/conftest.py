"""Tenants on a real database file, the served platform over it, and a fake web in place of the vendors'."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import attrs
import pytest
from aiohttp.test_utils import TestClient, TestServer
from click.testing import CliRunner, Result

from searchport import (
    SEARCH_API_KEY,
    SearchContext,
    SearchModel,
    SearchRequest,
    SearchResponse,
    SearchResult,
    Toolkit,
    define_toolkit,
    define_web_search,
    operator_only,
)
from searchport.testing import FakeAnswer, FakeWeb
from searchport_platform.app import build_app
from searchport_platform.cli.commands import cli as command_line
from searchport_platform.platform import Platform
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Router
from searchport_platform.settings import Settings
from searchport_platform.tenancy.administration import Administration
from searchport_platform.tenancy.selections import Choice, Selection
from searchport_platform.tenancy.tokens import Scope

ROOT = "/api/platform/v1"


@attrs.frozen
class AcmeSettings:
    """collection, level: an admin's. base_url: the operator's."""

    collection: str = "web"
    level: int = 1
    base_url: str = operator_only(default="https://api.acme.example")


async def _find(context: SearchContext[Any], url: str, vendor: str, **params: object) -> SearchResponse:
    headers = {"X-Key": context.credential} if vendor != "open" else {}
    answer = await context.http.get_json(url, headers=headers, params=params)
    hits = [SearchResult(hit.text("t"), hit.text("u")) for hit in answer.rows("hits")]
    return SearchResponse(hits, vendor=vendor)


def _declare_acme() -> Toolkit[AcmeSettings]:
    """Takes a key; has settings, an operator-only one among them, and models."""
    toolkit = define_toolkit(id="acme", name="Acme", credential_ref=SEARCH_API_KEY, settings=AcmeSettings)

    async def fetch_models(context: SearchContext[AcmeSettings]) -> list[SearchModel]:
        answer = await context.http.get_json(f"{context.settings.base_url}/models", headers={"X-Key": context.credential})
        return [SearchModel(row.text("id") or "", row.text("id") or "") for row in answer.rows("models")]

    @define_web_search(toolkit, recency=None, fetch_models=fetch_models)
    async def search(request: SearchRequest, context: SearchContext[AcmeSettings]) -> SearchResponse:
        chosen = context.settings
        url = f"{chosen.base_url}/find"
        return await _find(context, url, "acme", q=request.query, collection=chosen.collection, model=context.model)

    return toolkit


def _declare_beta() -> Toolkit:
    """Takes a key; cannot do safe search."""
    toolkit = define_toolkit(id="beta", name="Beta", credential_ref=SEARCH_API_KEY)

    @define_web_search(toolkit, recency=None, unsupported={"safe"})
    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        return await _find(context, "https://api.beta.example/find", "beta", q=request.query)

    return toolkit


def _declare_open() -> Toolkit:
    """Takes no key."""
    toolkit = define_toolkit(id="open", name="Open", credential_ref=None)

    @define_web_search(toolkit, recency=None)
    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        return await _find(context, "https://api.open.example/find", "open", q=request.query)

    return toolkit


HITS = {"hits": [{"t": f"Page {number}", "u": f"https://pages.example/{number}"} for number in range(1, 21)]}
MODELS = {"models": [{"id": "swift"}, {"id": "deep"}]}


@attrs.frozen
class Tenant:
    """An organization and the text of its tokens."""

    id: str
    search: str = attrs.field(repr=False)
    admin: str = attrs.field(repr=False)

    @property
    def path(self) -> str:
        """Its address in the admin API."""
        return f"/organizations/{self.id}"


@attrs.frozen(kw_only=True)
class Bench:
    """A served platform on a file, and everything that a test needs to look at it from outside."""

    platform: Platform
    client: TestClient
    web: FakeWeb
    store: Any
    open: Callable[..., AbstractAsyncContextManager[Platform]]

    @property
    def file(self) -> Path:
        """The file of the database, where it is SQLite's."""
        return self.store.file

    @property
    def administration(self) -> Administration:
        """What the command line has."""
        return self.platform.administration()

    async def tenant(self, name: str, *choices: str, keys: dict[str, str] | None = None) -> Tenant:
        """An organization that selected the first of these providers, then the others as its fallbacks."""
        await self.administration.create_organization(name, name.title())
        for provider, key in (keys or {}).items():
            await self.administration.store_credential(name, provider, key)
        if choices:
            await self.select(name, *choices)
        return Tenant(name, await self.token(name, "search"), await self.token(name, "admin"))

    async def select(self, organization: str, *choices: str, **limits: Any) -> None:
        """Selects the first provider, with the others as its fallbacks."""
        first, *others = (Choice(provider=choice) for choice in choices)
        await self.administration.put_selection(organization, Selection(choice=first, fallbacks=tuple(others), **limits))

    async def token(self, organization: str | None, *scopes: str, **given: Any) -> str:
        """A new token's text."""
        _, text = await self.administration.issue_token(organization, name="test", scopes=[Scope(s) for s in scopes], **given)
        return text

    async def call(
        self, method: str, path: str, token: str | None = None, body: object = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Status and decoded body of one call of the platform API."""
        sent = dict(headers or {}) | ({} if token is None else {"Authorization": f"Bearer {token}"})
        async with self.client.request(method, f"{ROOT}{path}", json=body, headers=sent) as response:
            text = await response.text()
            return response.status, json.loads(text) if text else None

    async def search(self, token: str, query: str = "tea", *, agent: str | None = None, **options: object) -> tuple[int, Any]:
        """Status and body of one search."""
        headers = {} if agent is None else {"X-Searchport-Agent": agent}
        return await self.call("POST", "/action/search/web", token, {"query": query, **options}, headers)

    def admin_routes(self) -> list[tuple[str, str]]:
        """Method and path, unfilled, of every route under `/organizations`; HEAD is left out, being GET's own handler."""
        app = self.client.app
        assert app is not None
        found = [(route.method, route.resource.canonical) for route in app.router.routes() if route.resource is not None]
        prefix = f"{ROOT}/organizations"
        return [(method, path.removeprefix(ROOT)) for method, path in found if path.startswith(prefix) and method != "HEAD"]

    def keys_seen(self, host: str) -> list[str | None]:
        """The keys with which a vendor was asked, in order."""
        return [request.headers.get("X-Key") for request in self.web.requests if request.host == host]

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table, read by another connection."""
        return self.store.rows()

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Runs a statement behind the platform's back."""
        return self.store.sql(statement, *values)

    def bytes_on_disk(self) -> bytes:
        """The database with its journals; not the key file."""
        return self.store.bytes_on_disk()


@pytest.fixture(scope="session")
def registry() -> Registry:
    """The built-in toolkits and three of our own."""
    own = [_declare_acme(), _declare_beta(), _declare_open()]
    return Registry(MappingProxyType({**Registry.discover().toolkits, **{toolkit.id: toolkit for toolkit in own}}))


@pytest.fixture
async def web() -> AsyncIterator[FakeWeb]:
    """Every vendor's address; `web.vendors` holds what our own toolkits' answer, by host."""
    async with FakeWeb() as fake:
        yield fake


@pytest.fixture
def vendors(web: FakeWeb) -> SimpleNamespace:
    """Makes every vendor of our own toolkits answer; called with an id, makes that one fail with a status from then on."""
    failing: dict[str, int] = {}

    for name in ("acme", "beta", "open"):

        async def answer(_request: object, name: str = name) -> FakeAnswer:
            return FakeAnswer(status=failing[name]) if name in failing else FakeAnswer(json=HITS)

        web.handle(f"https://api.{name}.example/find", answer)
    web.answer("https://api.acme.example/models", json=MODELS)
    return SimpleNamespace(fail=failing.__setitem__, mend=failing.pop)


@pytest.fixture
def database(store: Any) -> Path:
    """The file of the test's database."""
    assert store.kind == "sqlite"
    return store.file


async def _end_of_threads() -> None:
    """A connection that could not be opened ends its thread a moment later; it must not outlive the event loop."""
    for thread in threading.enumerate():
        if "_connection_worker_thread" in thread.name:
            await asyncio.to_thread(thread.join, 1)


@pytest.fixture
def open_platform(store: Any, registry: Registry, web: FakeWeb) -> Callable[..., AbstractAsyncContextManager[Platform]]:
    """Opens a platform on the test's database, as another process would."""

    @asynccontextmanager
    async def opened(secret_keys: str = "", public_url: str | None = None) -> AsyncIterator[Platform]:
        async with HttpClients(build=web.client) as clients:
            router = Router(registry=registry, clients=clients, public_url=public_url)
            keys = secret_keys or store.secret_keys
            opening = Platform.open(store.url, secret_keys=keys, router=router, prepare=False)
            async with opening as platform:
                yield platform

    return opened


@pytest.fixture
async def bench(
    store: Any,
    web: FakeWeb,
    vendors: SimpleNamespace,
    open_platform: Callable[..., AbstractAsyncContextManager[Platform]],
) -> AsyncIterator[Bench]:
    """The platform, served."""
    async with open_platform() as platform:
        app = build_app(Settings(ops_token="ops-token"), platform.router, platform)
        async with TestClient(TestServer(app, host="127.0.0.1")) as client:
            yield Bench(platform=platform, client=client, web=web, store=store, open=open_platform)
    await _end_of_threads()


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, store: Any) -> Callable[..., Result]:
    """Runs a command on the test's database in this process; the real command is a second slower."""
    for module in ("tenants", "commands"):
        monkeypatch.setattr(f"searchport_platform.cli.{module}.configure_logs", lambda **_: None)

    def run(*arguments: str, **environment: str | None) -> Result:
        env: dict[str, str | None] = {"SEARCHPORT_DATABASE_URL": store.url, "SEARCHPORT_SECRET_KEYS": store.secret_keys or None}
        env |= {"COLUMNS": "200"} | environment
        return CliRunner().invoke(command_line, list(arguments), env=env, prog_name="searchport")

    return run
