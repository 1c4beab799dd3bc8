"""A process that searches until its cap is reached: DATABASE_URL ORGANIZATION AGENT CALLERS WITNESS.

Its lines: `ready`; `answered ID MS` and `refused CODE MS` for each call, with the time that it took; `done`. It goes on while its
storage is away. Each vendor request is one byte at the end of the file WITNESS, written before the vendor answers.
"""

import asyncio
import logging
import os
import sys
import time
from decimal import Decimal
from types import MappingProxyType

from searchport import (
    SearchContext,
    SearchError,
    SearchRequest,
    SearchResponse,
    SearchResult,
    define_toolkit,
    define_web_search,
)
from searchport_platform.logs import configure_logs
from searchport_platform.metering.listeners import Listeners
from searchport_platform.platform import Caller, Platform
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Router

DATABASE_URL, ORGANIZATION, AGENT = sys.argv[1:4]
CALLERS = int(sys.argv[4])

vendor = os.open(sys.argv[5], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
toolkit = define_toolkit(id="acme", name="Acme", credential_ref=None)


@define_web_search(toolkit, recency=None, price_per_1000=Decimal(5))
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    os.write(vendor, b".")
    await asyncio.sleep(0.002)  # a vendor that is asked elsewhere
    return SearchResponse([SearchResult("A page", "https://pages.example/1")], vendor="acme")


def tell(line: str) -> None:
    os.write(1, f"{line}\n".encode())


async def call(platform: Platform) -> None:
    while True:
        started = time.monotonic()
        try:
            envelope = await platform.search(Caller(organization=ORGANIZATION, agent=AGENT), SearchRequest("tea"))
            told = f"answered {envelope.request_id}"
        except SearchError as error:
            told = f"refused {error.code}"
        tell(f"{told} {round((time.monotonic() - started) * 1_000)}")
        if told == "refused storage_unavailable":
            await asyncio.sleep(0.02)  # as a caller waits that is told so
        elif told.startswith("refused"):
            return


async def main() -> None:
    configure_logs(level=logging.CRITICAL)
    async with HttpClients() as clients:
        router = Router(registry=Registry(MappingProxyType({"acme": toolkit})), clients=clients)
        keys = os.environ["SEARCHPORT_SECRET_KEYS"]
        opening = Platform.open(DATABASE_URL, secret_keys=keys, router=router, listeners=Listeners(), prepare=False)
        async with opening as platform:
            tell("ready")
            await asyncio.to_thread(sys.stdin.readline)
            await asyncio.gather(*(call(platform) for _ in range(CALLERS)))
    tell("done")


asyncio.run(main())
