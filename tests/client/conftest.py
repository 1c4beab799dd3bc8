"""A platform on a real database, served by a real server, in this process or in one of its own."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import attrs
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from searchport.client import AsyncClient
from searchport_platform.app import build_app
from searchport_platform.doors.in_process import LocalTransport
from searchport_platform.platform import Caller, Platform
from searchport_platform.settings import Settings
from searchport_platform.storage.engine import migrate, open_engine, parse_url
from searchport_platform.tenancy.tokens import Scope

SEARCH = "/api/platform/v1/action/search/web"

ANSWER: dict[str, Any] = {
    "query": "tea",
    "provider": "fake",
    "vendor": "fake",
    "model": None,
    "results": [
        {"rank": 1, "title": "One", "url": "https://one.example/", "snippet": "First.", "publishedDate": "2026-09-20"},
        {"rank": 2, "title": "Two", "url": "https://two.example/"},
    ],
    "untrusted": True,
    "untrustedNote": "A note.",
    "ignored": ["language"],
    "notices": [{"code": "sunset", "message": "It ends."}],
    "filterReport": {"tooOld": 2, "undated": 1},
    "cached": False,
    "attempts": [{"provider": "fake", "outcome": "ok", "vendorRequests": 1}],
    "requestId": "r-1",
}
"""An answer as the platform API writes it."""


@attrs.define
class Recorder:
    """A transport that keeps what it was given and answers the same every time."""

    answer: Mapping[str, object] = attrs.field(factory=lambda: ANSWER)
    calls: list[tuple[str, dict[str, object]]] = attrs.field(factory=list)

    async def call(self, action: str, payload: Mapping[str, object]) -> Mapping[str, object]:
        self.calls.append((action, dict(payload)))
        return self.answer


@attrs.frozen(kw_only=True)
class Bench:
    """A served platform with one organization, `acme`, on the provider of invented results."""

    platform: Platform
    url: str
    token: str = attrs.field(repr=False)

    async def issue(self, *scopes: str, **given: Any) -> str:
        """A new token's text."""
        administration = self.platform.administration()
        _, text = await administration.issue_token("acme", name="test", scopes=[Scope(s) for s in scopes], **given)
        return text


@attrs.frozen(kw_only=True)
class Demo:
    """A server in a process of its own."""

    url: str
    token: str = attrs.field(repr=False)


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database of the newest schema; every test begins with a copy."""
    file = tmp_path_factory.mktemp("migrated") / "searchport.db"

    async def make() -> None:
        async with open_engine(parse_url(f"sqlite:///{file}")) as engine:
            await migrate(engine)

    asyncio.run(make())
    return file


@pytest.fixture
async def bench(tmp_path: Path, migrated: Path) -> AsyncIterator[Bench]:
    """The platform, served on loopback."""
    database = shutil.copy(migrated, tmp_path / "searchport.db")
    async with Platform.open(f"sqlite:///{database}", prepare=False) as platform:
        administration = platform.administration()
        await administration.create_organization("acme", "Acme", provider="fake")
        _, token = await administration.issue_token("acme", name="test", scopes=[Scope.SEARCH])
        async with TestServer(build_app(Settings(ops_token="ops-token"), platform.router, platform), host="127.0.0.1") as server:
            yield Bench(platform=platform, url=str(server.make_url("")).rstrip("/"), token=token)
    for thread in threading.enumerate():  # a database connection's thread ends a moment after it is closed
        if "_connection_worker_thread" in thread.name:
            await asyncio.to_thread(thread.join, 1)


@pytest.fixture(params=["http", "in process"])
async def client(request: pytest.FixtureRequest, bench: Bench) -> AsyncIterator[AsyncClient]:
    """The same organization, over either transport."""
    if request.param == "http":
        opened = AsyncClient(bench.url, bench.token)
    else:
        opened = AsyncClient(transport=LocalTransport(bench.platform, Caller(organization="acme")))
    async with opened:
        yield opened


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., Awaitable[str]]]:
    """Starts a server with one handler at the search route, or at every path; gives its URL."""
    async with AsyncExitStack() as stack:

        async def start(handler: Callable[[web.Request], Awaitable[web.StreamResponse]], path: str = SEARCH) -> str:
            app = web.Application()
            app.router.add_route("*", path, handler)
            server = await stack.enter_async_context(TestServer(app, host="127.0.0.1"))
            return str(server.make_url("")).rstrip("/")

        yield start


@pytest.fixture(scope="session")
def demo() -> Iterator[Demo]:
    """`searchport demo --json`: results from the product's own manual."""
    command = [sys.executable, "-m", "searchport_platform", "demo", "--json", "--port", "0"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("SEARCHPORT_")}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        access = json.loads(process.stdout.readline())
        try:
            yield Demo(url=access["url"], token=access["searchToken"])
        finally:
            process.terminate()
            process.communicate(timeout=30)
