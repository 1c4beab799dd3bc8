"""Searches a second with metering on SQLite and on PostgreSQL, beside the same with metering off, in one run.

Off: the selection, the gates and the token are read in a transaction, as before metering, and nothing is written. The vendor is
a function in this process that answers at once, so that the whole difference is ours. Calls that wait together share a commit
and what is read for it, whosever they are: each number of callers is measured for one agent and for organizations of their own.
Also: what the disk alone takes for such commits, without which a figure of another machine says nothing. PostgreSQL is a private
server with its usual durability; without its binaries it is left out.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import MappingProxyType

from searchport import SearchContext, SearchRequest, SearchResponse, SearchResult, define_toolkit, define_web_search
from searchport_platform.logs import configure_logs
from searchport_platform.metering.listeners import Listeners
from searchport_platform.platform import Caller, Platform
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Router
from searchport_platform.storage.engine import transaction
from searchport_platform.tenancy.admission import admit

CALLERS, CALLS, ROUNDS = (1, 64), 640, 3
SECRET_KEY = base64.b64encode(bytes(32)).decode()
REQUEST = SearchRequest("tidal turbine")
ORGANIZATIONS = [Caller(organization=f"bench-{number}") for number in range(max(CALLERS))]

toolkit = define_toolkit(id="instant", name="Instant", credential_ref=None)


@define_web_search(toolkit, recency=None, price_per_1000=Decimal(5))
async def answer(_request: SearchRequest, _context: SearchContext) -> SearchResponse:
    return SearchResponse([SearchResult("A page", "https://pages.example/1")], vendor="instant")


@asynccontextmanager
async def open_platform(url: str) -> AsyncIterator[Platform]:
    async with HttpClients() as clients:
        router = Router(registry=Registry(MappingProxyType({"instant": toolkit})), clients=clients)
        opening = Platform.open(url, secret_keys=SECRET_KEY, router=router, listeners=Listeners(), prepare=False)
        async with opening as platform:
            administration = platform.administration()
            for name in (caller.organization for caller in ORGANIZATIONS):
                await administration.create_organization(name, "Bench", provider="instant")
                await administration.put_agent(name, "default", tools=["web.*"], credentials=[], max_searches_per_day=10**9)
                await administration.limit_organization(name, concurrency=1_000, monthly_budget_microusd=10**15)
            yield platform


async def search_unmetered(platform: Platform, caller: Caller) -> None:
    async with transaction(platform.engine) as connection:
        admission = await admit(connection, caller)
    await platform.router.answer(
        [partial(platform._build_route, admission, choice) for choice in admission.selection.choices],
        REQUEST,
        request_id="r",
        deadline_seconds=admission.selection.deadline_seconds,
    )


async def search_metered(platform: Platform, caller: Caller) -> None:
    await platform.search(caller, REQUEST)


async def measure(call: Callable[[Caller], Awaitable[None]], callers: Sequence[Caller]) -> float:
    """Searches a second, the best of some rounds."""

    async def run(caller: Caller) -> None:
        for _ in range(CALLS // len(callers)):
            await call(caller)

    best = 0.0
    for _ in range(ROUNDS):
        started = time.perf_counter()
        await asyncio.gather(*map(run, callers))
        best = max(best, CALLS / (time.perf_counter() - started))
    return best


def commits_a_second(folder: Path) -> float:
    """One-row transactions of the sqlite3 driver alone, synchronous=FULL in WAL."""
    with closing(sqlite3.connect(folder / "disk.db", isolation_level=None)) as connection:
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("CREATE TABLE t (x)")
        started = time.perf_counter()
        for _ in range(300):
            connection.execute("INSERT INTO t VALUES (1)")
        return 300 / (time.perf_counter() - started)


async def compare(name: str, url: str) -> None:
    async with open_platform(url) as platform:
        for number, of_one in [(number, of_one) for number in CALLERS for of_one in (True, False)]:
            if number == 1 and not of_one:
                continue
            callers = [ORGANIZATIONS[0]] * number if of_one else ORGANIZATIONS[:number]
            off = await measure(partial(search_unmetered, platform), callers)
            before = platform.meter.commits
            on = await measure(partial(search_metered, platform), callers)
            commits = (platform.meter.commits - before) / (CALLS // number * number * ROUNDS)
            words = f"{on:.0f}/s metered, {off:.0f}/s not, ratio {on / off:.2f}, {commits:.2f} commits a search"
            whose = "one agent" if of_one else "organizations of their own"
            print(f"{name}, {number:>2} {'caller' if number == 1 else 'callers'} of {whose}: {words}")


def main() -> None:
    configure_logs(level=logging.CRITICAL)
    print(f"{os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as folder:
        print(f"the disk: {commits_a_second(Path(folder)):.0f} commits/s by SQLite's driver alone")
        asyncio.run(compare("SQLite", f"sqlite:///{folder}/bench.db"))
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "databases"))
    from postgres_server import HOW_TO_GET_IT, find_binaries, running

    if find_binaries() is None:
        print(f"PostgreSQL left out: {HOW_TO_GET_IT}")
        return
    with running(options=()) as server:
        asyncio.run(compare("PostgreSQL", server.url(server.make_database())))


if __name__ == "__main__":
    main()
