"""A server with its doors, over a fake web."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp.test_utils import TestClient, TestServer

from searchport.testing import FakeWeb
from searchport_platform.app import build_app
from searchport_platform.routing.clients import HttpClients
from searchport_platform.settings import Settings

Serve = Callable[..., Awaitable[TestClient]]


@pytest.fixture
async def web() -> AsyncIterator[FakeWeb]:
    """Every vendor's address."""
    async with FakeWeb() as fake:
        yield fake


@pytest.fixture
async def serve(web: FakeWeb) -> AsyncIterator[Serve]:
    """Starts the server with some settings; `await serve(ops_token="t")` gives a client of it."""
    clients: list[TestClient] = []

    async def start(**settings: str) -> TestClient:
        app = build_app(Settings(**settings), HttpClients(build=web.client))
        client = TestClient(TestServer(app, host="127.0.0.1"))
        await client.start_server()
        clients.append(client)
        return client

    yield start
    for client in clients:
        await client.close()
