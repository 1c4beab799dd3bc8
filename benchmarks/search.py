"""CPU time of a whole in-process search, beside a bare GET and `json.loads` of the same body, in one run.

The vendor is a loopback server in a process of its own, so that only the client's time counts. Also: `guarantees.apply` alone.
"""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from multiprocessing.connection import Connection

import aiohttp
from aiohttp import web

from searchport import SearchRequest, SearchResponse, SearchResult, guarantees
from searchport.egress import AddressPolicy
from searchport_platform.logs import configure_logs
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Route, Router

CALLS, ROUNDS = 300, 5
SNIPPET = (
    "The operator&#x27;s <strong>tidal turbine</strong> ran &quot;without a fault&quot; &amp; fed the local grid for days. " * 3
)
ROWS = [
    {
        "title": f"Harbour <strong>turbine</strong> passes sea trial, part {n}",
        "url": f"https://news.example.org/2026/09/turbine-{n}",
        "description": SNIPPET[:300],
        "page_age": "2026-09-18T05:45:00",
        "age": "September 18, 2026",
    }
    for n in range(10)
]
BODY = json.dumps({"type": "search", "query": {"more_results_available": True}, "web": {"results": ROWS}}).encode()
REQUEST = SearchRequest("tidal turbine", freshness="P36500D", site="example.org")


def serve(ready: Connection) -> None:
    """The vendor: one body for every request."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=BODY, content_type="application/json")

    async def run() -> None:
        app = web.Application()
        app.router.add_get("/{path:.*}", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        ready.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())


async def measure(call: Callable[[], Awaitable[object]]) -> float:
    """Microseconds of this process's CPU a call, the best of some rounds."""
    await call()
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(CALLS):
            await call()
        best = min(best, (time.process_time() - started) / CALLS)
    return best * 1e6


async def compare(port: int) -> None:
    origin = f"http://127.0.0.1:{port}"
    registry = Registry.discover()
    async with HttpClients() as clients, aiohttp.ClientSession() as session:  # noqa: TID251  # the peer to measure against
        router = Router(registry=registry, clients=clients, origins={"brave": origin})
        route = Route(toolkit=registry.get("brave"), credential="key")

        async def search() -> object:
            return await router.dispatch(route, REQUEST, request_id="r")

        async def bare() -> object:
            async with session.get(f"{origin}/res/v1/web/search", params={"q": "tidal turbine"}) as response:
                return json.loads(await response.read())

        assert len((await router.dispatch(route, REQUEST, request_id="r")).results) == 10
        ours, theirs = await measure(search), await measure(bare)
    print(f"search: {ours:.0f} us; bare GET and json.loads: {theirs:.0f} us; ratio {ours / theirs:.2f}")


async def apply_alone() -> None:
    now = datetime.now(UTC)
    rows = [SearchResult(r["title"], r["url"], snippet=r["description"], published_date=r["age"]) for r in ROWS]
    response = SearchResponse(rows, vendor="brave")
    declaration, policy = Registry.discover().get("brave").web_search, AddressPolicy()

    async def apply() -> object:
        return guarantees.apply(response, REQUEST, declaration, policy, now, now)

    print(f"guarantees.apply on ten results: {await measure(apply):.0f} us")


def main() -> None:
    configure_logs(level=logging.CRITICAL)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    try:
        asyncio.run(compare(ours.recv()))
        asyncio.run(apply_alone())
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
