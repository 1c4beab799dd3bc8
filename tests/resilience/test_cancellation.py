"""A call that is given up leaves nothing behind."""

import asyncio
import json
import os
import random
from typing import Any

import pytest
from aiohttp import web

from searchport import ErrorCode, SearchError
from searchport_platform.app import DRAIN, build_app
from searchport_platform.settings import Settings

RUNS = int(os.environ.get("SEARCHPORT_PROVE_RUNS", "1"))


async def hold(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    """Takes a request and says nothing."""
    await reader.readuntil(b"\r\n\r\n")


async def test_a_thousand_cancelled_calls_leave_no_task_no_socket_and_no_breaker(raw: Any, vendor: Any) -> None:
    """Cancelled at any moment: before they began, while they connect, while they wait; with and without a cache."""
    vendor.script = hold
    chance, before = random.Random(4), asyncio.all_tasks()  # noqa: S311  # a seed that repeats
    for batch in range(10):
        calls = [
            asyncio.create_task(
                raw.search(str(number % 7), deadline=30, cache=60.0 * (number % 2), provider=("keyed", "open")[number % 3 == 0])
            )
            for number in range(100)
        ]
        for _ in range(batch * 3):
            await asyncio.sleep(0)
        for call in chance.sample(calls, len(calls)):
            call.cancel()
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(end) for end in ended} == {asyncio.CancelledError}
    await vendor.is_left()  # every socket of ours is closed
    assert {task for task in asyncio.all_tasks() - before if "_serve" not in repr(task)} == set()
    assert (len(raw.router.breakers), len(raw.router.cache), raw.router.cache._flights) == (0, 0, {})
    assert vendor.opened > 50  # many had got that far


async def test_callers_who_hang_up_end_their_vendor_requests(raw: Any, vendor: Any) -> None:
    """Through the server: each caller closes its connection while the vendor is being asked."""
    at_once, all_asked = 100, asyncio.Event()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await vendor.read_request(reader, writer)
        if vendor.requests == at_once:
            all_asked.set()

    vendor.script = script
    app = build_app(Settings(), raw.router)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    body = json.dumps({"provider": "keyed", "query": "tea", "auth": {"type": "header", "value": "key"}}).encode()
    head = f"POST /ops/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    callers = [await asyncio.open_connection("127.0.0.1", runner.addresses[0][1]) for _ in range(at_once)]
    for _, writer in callers:
        writer.write(head + body)
    await all_asked.wait()
    assert app[DRAIN].in_flight == at_once
    for _, writer in callers:
        writer.close()
    await vendor.is_left()
    await app[DRAIN].wait_idle()
    await runner.cleanup()
    assert len(raw.router.breakers) == 0


async def test_a_timeout_closes_its_connection(raw: Any, vendor: Any) -> None:
    vendor.script = hold
    ended = await asyncio.gather(*(raw.search(deadline=0.1) for _ in range(50)), return_exceptions=True)
    assert {end.code for end in ended if isinstance(end, SearchError)} == {ErrorCode.UPSTREAM_TIMEOUT}
    await vendor.is_left()


@pytest.mark.prove
async def test_cancelling_at_any_moment_leaves_nothing(raw: Any, vendor: Any, reply: Any) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await vendor.read_request(reader, writer)
            writer.write(reply(b'{"hits": []}'))

    vendor.script = answer
    chance, before = random.Random(), asyncio.all_tasks()  # noqa: S311  # which moments, does not matter
    for _ in range(20 * RUNS):
        calls = [asyncio.create_task(raw.search(str(n % 5), cache=0.001 * (n % 2), deadline=5)) for n in range(50)]
        for call in calls:
            asyncio.get_running_loop().call_later(chance.random() * 0.05, call.cancel)
        await asyncio.gather(*calls, return_exceptions=True)
    left = {task for task in asyncio.all_tasks() - before if "_serve" not in repr(task)}
    assert (left, len(raw.router.breakers), raw.router.cache._flights) == (set(), 0, {})
