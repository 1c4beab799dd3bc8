"""What resilience costs a call, beside the same call without it, and how far calls run over their deadlines, in one run.

The vendor is a loopback server in a process of its own, so that only the client's time counts.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import multiprocessing
import statistics
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from multiprocessing.connection import Connection

from aiohttp import web

from searchport import SearchError, SearchRequest, guarantees
from searchport.egress import AddressPolicy, Deadline
from searchport_platform.logs import configure_logs
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Route, Router

CALLS, ROUNDS = 200, 15
LATE_CALLS, LATE_SECONDS = 200, 0.1
ROWS = [
    {
        "title": f"Harbour turbine, part {n}",
        "link": f"https://news.example.org/2026/09/turbine-{n}",
        "snippet": "The turbine. " * 20,
    }
    for n in range(10)
]
BODY = json.dumps({"items": ROWS}).encode()


def serve(ready: Connection) -> None:
    """The vendor: one body for every request; a query of `stall` gets none, one of `drip` a byte at a time."""

    async def answer(request: web.Request) -> web.StreamResponse:
        query = request.query.get("q", "")
        if query not in ("stall", "drip"):
            return web.Response(body=BODY, content_type="application/json")
        if query == "stall":
            await asyncio.Event().wait()
        response = web.StreamResponse(headers={"Content-Length": str(len(BODY))})
        await response.prepare(request)
        for byte in BODY:
            await response.write(bytes([byte]))
            await asyncio.sleep(0.005)
        return response

    async def run() -> None:
        app = web.Application()
        app.router.add_get("/{path:.*}", answer)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        ready.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())


async def measure(calls: dict[str, Callable[[], Awaitable[object]]]) -> dict[str, float]:
    """Microseconds of this process's CPU a call, the best of some rounds; the rounds take turns."""
    best = dict.fromkeys(calls, float("inf"))
    for _, (name, call) in itertools.product(range(ROUNDS), calls.items()):
        await call()
        started = time.process_time()
        for _ in range(CALLS):
            await call()
        best[name] = min(best[name], (time.process_time() - started) / CALLS * 1e6)
    return best


async def compare(router: Router, route: Route) -> None:
    """One call by the pieces alone, by dispatch, and by dispatch with a cache that has the answer or does not."""
    web_search, origin, numbers = route.toolkit.web_search, router.origins["google-cse"], itertools.count()
    request = SearchRequest("tidal turbine")

    async def alone() -> object:
        deadline, now = Deadline.after(15), datetime.now(UTC)
        settings, _ = route.toolkit.build_settings(route.settings, {})
        http = web_search.bind(router.clients.open(route.policy, origin=origin), deadline=deadline, origin=origin)
        async with asyncio.timeout(deadline.remaining_seconds()):
            response = await web_search.fetch(request, http=http, settings=settings, credential="key", now=now, deadline=deadline)
        return guarantees.apply(response, request, web_search, AddressPolicy(), now, datetime.now(UTC))

    async def dispatch() -> object:
        return await router.dispatch(route, request, request_id="r")

    async def miss() -> object:
        return await router.dispatch(route, SearchRequest(f"turbine {next(numbers)}"), request_id="r", cache_seconds=60)

    async def hit() -> object:
        return await router.dispatch(route, request, request_id="r", cache_seconds=60)

    found = await measure({"without": alone, "dispatch": dispatch, "cache miss": miss, "cache hit": hit})
    base = found["without"]
    print("; ".join(f"{name}: {us:.0f} us ({us / base:.2f})" for name, us in found.items()))


async def overrun(router: Router, route: Route, query: str, at_once: int) -> None:
    """Milliseconds after its deadline that a call ends whose vendor does not."""
    late: list[float] = []

    async def call() -> None:
        started = time.monotonic()
        try:
            await router.dispatch(route, SearchRequest(query), request_id="r", deadline_seconds=LATE_SECONDS)
        except SearchError:
            late.append((time.monotonic() - started - LATE_SECONDS) * 1_000)

    for _ in range(LATE_CALLS // at_once):
        await asyncio.gather(*(call() for _ in range(at_once)))
    cuts = statistics.quantiles(late, n=100)
    print(f"overrun, {query}, {at_once} at once: median {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms, most {max(late):.1f} ms")


async def run(port: int) -> None:
    registry = Registry.discover()
    async with HttpClients() as clients:
        origins = {"google-cse": f"http://127.0.0.1:{port}"}
        router = Router(registry=registry, clients=clients, origins=origins, kept=frozenset({"google-cse"}))
        toolkit = registry.get("google-cse")
        route = Route(toolkit=toolkit, organization="acme", credential="key", generation=1, settings={"cx": "engine"})
        assert len((await router.dispatch(route, SearchRequest("x"), request_id="r")).results) == 10
        await compare(router, route)
        for query, at_once in itertools.product(("stall", "drip"), (1, 50)):
            await overrun(router, route, query, at_once)


def main() -> None:
    configure_logs(level=logging.CRITICAL)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    try:
        asyncio.run(run(ours.recv()))
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
