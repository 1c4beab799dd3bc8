"""A fake web for every test here, and a client of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from searchport.testing import FakeWeb

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from searchport.egress import HttpClient


@pytest.fixture
async def web() -> AsyncIterator[FakeWeb]:
    async with FakeWeb() as web:
        yield web


@pytest.fixture
def client(web: FakeWeb) -> HttpClient:
    return web.client()
