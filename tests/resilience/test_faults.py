"""The fault matrix: whatever a vendor's network does, one typed error inside the deadline, and nothing left open."""

import asyncio
import gzip
import itertools
import math
import os
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import pytest

from searchport import ErrorCode, SearchError

RUNS = int(os.environ.get("SEARCHPORT_PROVE_RUNS", "0"))
OVERRUN_SECONDS = 0.05

UNREACHABLE, UNAVAILABLE, TIMEOUT = ErrorCode.UPSTREAM_UNREACHABLE, ErrorCode.PROVIDER_UNAVAILABLE, ErrorCode.UPSTREAM_TIMEOUT

BODY = b'{"hits": [' + b",".join([b'{"t": "Page", "u": "https://pages.example/"}'] * 60) + b"]}"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY)
UNFRAMED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + BODY
BOMB = gzip.compress(b" " * 1_000_000) * 100
BOMB = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB) + BOMB


@attrs.frozen
class Fault:
    """What a vendor does once `at(stage)` bytes of its answer have gone out.

    answer: what it would say. do: the fault. expected: a code a stage, in their order.
    """

    do: Callable[[asyncio.StreamWriter, bytes], Awaitable[None]]
    expected: tuple[ErrorCode, ErrorCode, ErrorCode]
    answer: bytes = HEAD + BODY


async def nothing(_: asyncio.StreamWriter, __: bytes) -> None:
    """Sends no more, and keeps the connection."""


async def reset(writer: asyncio.StreamWriter, _: bytes) -> None:
    """Ends the connection with a TCP reset."""
    import socket
    import struct

    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def half_close(writer: asyncio.StreamWriter, _: bytes) -> None:
    """Says that it will send no more, and keeps the connection."""
    writer.write_eof()


async def close(writer: asyncio.StreamWriter, _: bytes) -> None:
    """Ends in good order, too early."""
    writer.close()


async def drip(writer: asyncio.StreamWriter, rest: bytes) -> None:
    """Sends a byte at a time, for longer than anybody waits."""
    for byte in rest:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.01)


async def garble(writer: asyncio.StreamWriter, rest: bytes) -> None:
    """Sends as many bytes, none of which means anything."""
    writer.write(bytes(range(255, -1, -1)) * (len(rest) // 256 + 1))
    writer.close()


async def go_on(writer: asyncio.StreamWriter, rest: bytes) -> None:
    """Sends the rest."""
    writer.write(rest)


FAULTS = {
    "latency": Fault(nothing, (TIMEOUT, TIMEOUT, TIMEOUT)),
    "down": Fault(reset, (UNREACHABLE, UNREACHABLE, UNREACHABLE)),
    "slow close": Fault(nothing, (TIMEOUT, TIMEOUT, TIMEOUT), answer=UNFRAMED),
    "half close": Fault(half_close, (UNREACHABLE, UNREACHABLE, UNREACHABLE)),
    "reset": Fault(reset, (UNREACHABLE, UNREACHABLE, UNREACHABLE)),
    "half a body": Fault(close, (UNREACHABLE, UNREACHABLE, UNREACHABLE)),
    "slow drip": Fault(drip, (TIMEOUT, TIMEOUT, TIMEOUT)),
    "garbage": Fault(garble, (UNAVAILABLE, UNAVAILABLE, UNAVAILABLE)),
    "oversized gzip": Fault(go_on, (UNAVAILABLE, UNAVAILABLE, UNAVAILABLE), answer=BOMB),
}
STAGES = ("connect", "mid-headers", "mid-body")
CASES = list(itertools.product(FAULTS, STAGES))


def cut_at(fault: Fault, stage: str, chance: random.Random | None = None) -> int:
    """How many bytes go out before the fault; somewhere in the stage where there is a chance."""
    head = fault.answer.index(b"\r\n\r\n") + 4
    low, high = {"connect": (0, 0), "mid-headers": (1, head - 5), "mid-body": (head + 1, head + len(BODY) - 200)}[stage]
    if fault.answer is UNFRAMED and stage == "mid-body":
        return len(UNFRAMED)  # a whole body, of which only the end of the connection tells the end
    return (low + high) // 2 if chance is None else chance.randint(low, high)


async def suffer(raw: Any, vendor: Any, name: str, stage: str, cut: int, deadline_seconds: float) -> tuple[object, float]:
    """How one call ends, and how many seconds after its deadline; negative: before."""
    fault = FAULTS[name]

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if stage != "connect":
            await vendor.read_request(reader, writer)
        writer.write(fault.answer[:cut])
        await writer.drain()
        await fault.do(writer, fault.answer[cut:])

    vendor.script = script
    if (name, stage) == ("down", "connect"):
        vendor._server.close()
    started = time.monotonic()
    try:
        ended: object = await raw.search(deadline=deadline_seconds)
    except SearchError as error:
        ended = error
    return ended, time.monotonic() - started - deadline_seconds


@pytest.mark.parametrize(("name", "stage"), CASES)
async def test_every_fault_is_one_typed_error_inside_the_deadline(raw: Any, vendor: Any, name: str, stage: str) -> None:
    before, cut = asyncio.all_tasks(), cut_at(FAULTS[name], stage)
    ended, overrun_seconds = await suffer(raw, vendor, name, stage, cut, 0.25)
    if overrun_seconds >= OVERRUN_SECONDS:  # a machine that was busy elsewhere for a moment is not again
        raw.attempts.clear()
        vendor.opened = 0
        ended, overrun_seconds = await suffer(raw, vendor, name, stage, cut, 0.25)
    assert isinstance(ended, SearchError)
    assert (ended.code, ended.provider) == (FAULTS[name].expected[STAGES.index(stage)], "keyed")
    assert overrun_seconds < OVERRUN_SECONDS
    assert [attempt.outcome for attempt in raw.attempts] == [ended.code]
    assert vendor.opened <= 2
    await vendor.is_left()
    assert {task for task in asyncio.all_tasks() - before if "_serve" not in repr(task)} == set()


async def test_a_vendor_that_is_slow_but_in_time_is_an_answer(raw: Any, vendor: Any) -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await vendor.read_request(reader, writer)
        for part in (HEAD[:30], HEAD[30:], BODY[:100], BODY[100:]):
            writer.write(part)
            await writer.drain()

    vendor.script = script
    assert (await raw.search(options={"max_results": 2})).results


@pytest.mark.prove
@pytest.mark.parametrize(("name", "stage"), CASES)
async def test_at_any_byte_it_is_the_same(raw: Any, vendor: Any, name: str, stage: str) -> None:
    chance = random.Random()  # noqa: S311  # which bytes, does not matter
    before, expected = asyncio.all_tasks(), FAULTS[name].expected[STAGES.index(stage)]
    overruns = []
    for _ in range(max(1, RUNS)):
        raw.router.breakers._circuits.clear()
        cut = cut_at(FAULTS[name], stage, chance)
        ended, overrun_seconds = await suffer(raw, vendor, name, stage, cut, 0.5)
        assert isinstance(ended, SearchError), (cut, ended)
        assert ended.code is expected, (cut, ended)
        overruns.append(overrun_seconds)
        await vendor.is_left()
    p99 = sorted(overruns)[math.ceil(len(overruns) * 0.99) - 1]  # the machine's own hiccups are the hundredth
    assert p99 < OVERRUN_SECONDS, sorted(overruns)[-5:]
    assert {task for task in asyncio.all_tasks() - before if "_serve" not in repr(task)} == set()
