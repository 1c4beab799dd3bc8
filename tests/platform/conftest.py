"""A server with the stateless door, over a fake web."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp.test_utils import TestClient, TestServer

from searchport.testing import FakeWeb
from searchport_platform.app import build_app, build_router
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
    async with HttpClients(build=web.client) as http:

        async def start(**settings: str) -> TestClient:
            chosen = Settings(**settings)
            client = TestClient(TestServer(build_app(chosen, build_router(chosen, http)), host="127.0.0.1"))
            await client.start_server()
            clients.append(client)
            return client

        yield start
        for client in clients:
            await client.close()
