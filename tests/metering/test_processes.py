"""Caps over several processes, processes that are killed, and a server that is."""

import asyncio
import math
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

RUNS = int(os.environ.get("SEARCHPORT_PROVE_RUNS", "1"))
DEADLINE_SECONDS = 15.0
Start = Callable[..., Awaitable[Any]]


def requests(place: Any, agent: str) -> int:
    """Vendor requests that an agent's processes have made."""
    witness = Path(f"{place.store.file}.{agent}.vendor")
    return witness.stat().st_size if witness.exists() else 0


@attrs.define
class Told:
    """What processes said of their calls. took: seconds of each. ended: how many ended of themselves."""

    answered: list[str] = attrs.field(factory=list)
    refused: list[str] = attrs.field(factory=list)
    took: list[float] = attrs.field(factory=list)
    ended: int = 0

    @classmethod
    def read(cls, lines: Sequence[str]) -> "Told":
        told = cls()
        for line in lines:
            word, *rest = line.split()
            if word == "done":
                told.ended += 1
            elif len(rest) == 2:  # a line that its process could not end was not told
                (told.answered if word == "answered" else told.refused).append(rest[0])
                told.took.append(int(rest[1]) / 1_000)
        return told

    @property
    def overrun_p99_seconds(self) -> float:
        """How far beyond the deadline the slowest calls ended, but for one in a hundred."""
        slowest = sorted(self.took)[max(0, math.ceil(len(self.took) * 0.99) - 1)] if self.took else 0.0
        return max(0.0, slowest - DEADLINE_SECONDS)


@attrs.define
class Books:
    """What is wrong with an agent's books, in calls. overshoot: vendor requests beyond the cap, or without an admission."""

    overshoot: int
    lost: int
    doubled: int
    units: int

    @classmethod
    def read(cls, place: Any, agent: str, cap: int, answered: Sequence[str]) -> "Books":
        rows = place.sql("SELECT id, outcome FROM records WHERE agent = ?", agent)
        outcomes = dict(rows)
        ((units,),) = place.sql("SELECT COALESCE(SUM(searches), 0) FROM agent_days WHERE agent = ?", agent)
        assert len(rows) == units, "a unit without its record, or a record without its unit"
        assert set(outcomes.values()) <= {"ok", "started"}
        return cls(
            overshoot=max(0, units - cap, requests(place, agent) - units),
            lost=sum(outcomes.get(each) != "ok" for each in answered) + max(0, len(answered) - requests(place, agent)),
            doubled=len(answered) - len(set(answered)) + len(rows) - len(outcomes),
            units=int(units),
        )

    def check(self, cap: int) -> None:
        assert attrs.astuple(self) == (0, 0, 0, cap)


@pytest.fixture
def figure(record_property: Any, place: Any) -> Callable[..., None]:
    """Records what was measured, beside the name of the database."""

    def note(**figures: float) -> None:
        for name, value in figures.items():
            record_property(f"{place.store.kind} {name}", value)
        print(place.store.kind, ", ".join(f"{name} {value:.4g}" for name, value in figures.items()))  # noqa: T201  # to report

    return note


async def use_up(start: Start, *, processes: int, callers: int) -> Told:
    """What is told by processes that search at the same time until the cap is reached."""
    workers = await asyncio.gather(*(start(callers=callers // processes) for _ in range(processes)))
    for worker in workers:
        await worker.go()
    return Told.read([line for lines in await asyncio.gather(*(worker.lines() for worker in workers)) for line in lines])


async def check_cap(place: Any, start: Start, cap: int, figure: Any, *, processes: int = 4, callers: int = 200) -> None:
    agent = f"robot-{time.monotonic_ns()}"
    await place.cap(cap, agent)
    started = time.monotonic()
    told = await use_up(lambda callers: start(callers=callers, agent=agent), processes=processes, callers=callers)
    seconds = time.monotonic() - started
    books = Books.read(place, agent, cap, told.answered)
    figure(cap=cap, **attrs.asdict(books), overrun_p99_seconds=told.overrun_p99_seconds, seconds=seconds)
    books.check(cap)
    assert (len(told.answered), requests(place, agent)) == (cap, cap), "refused below the cap"
    assert (set(told.refused), len(told.refused)) == ({"daily_cap_reached"}, callers)
    assert told.overrun_p99_seconds == 0


async def test_two_hundred_callers_of_four_processes_use_a_cap_up_exactly(place: Any, start_worker: Start, figure: Any) -> None:
    await place.limit(concurrency=1_000)
    await check_cap(place, start_worker, 250, figure)


@pytest.mark.prove
@pytest.mark.timeout(3_600)
async def test_a_cap_is_used_up_exactly_every_time(place: Any, start_worker: Start, figure: Any) -> None:
    await place.limit(concurrency=1_000)
    for run in range(RUNS):
        drawn = random.Random(run)  # noqa: S311  # drawn again the same
        await check_cap(place, start_worker, drawn.choice([0, 1, 2, 63, 199, 200, 201, 500]), figure)


async def check_kill(place: Any, start: Start, cap: int, drawn: random.Random, figure: Any) -> None:
    """Two processes with an agent each; one is killed at some answer, and begun again until the cap is reached."""
    agents = [f"robot-{drawn.randrange(10**9)}", f"robot-{drawn.randrange(10**9)}"]
    for agent in agents:
        await place.cap(cap, agent)
    victim, other = await asyncio.gather(*(start(callers=32, agent=agent) for agent in agents))
    for worker in (victim, other):
        await worker.go()
    lines = [await victim.line() for _ in range(drawn.randrange(1, cap // 2))]
    victim.process.kill()
    killed = time.monotonic()
    lines += await victim.lines()
    again = await start(callers=32, agent=agents[0])
    await again.go()
    lines.append(await again.line())
    recovery_seconds = time.monotonic() - killed
    lines, others = lines + await again.lines(), await other.lines()
    for agent, told in zip(agents, (Told.read(lines), Told.read(others)), strict=True):
        books = Books.read(place, agent, cap, told.answered)
        figure(**attrs.asdict(books), overrun_p99_seconds=told.overrun_p99_seconds, recovery_seconds=recovery_seconds)
        books.check(cap)
        assert (told.ended, set(told.refused), told.overrun_p99_seconds) == (1, {"daily_cap_reached"}, 0)


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_killed_process_leaves_the_books_right(place: Any, start_worker: Start, figure: Any, seed: int) -> None:
    """No answered call without its record, none twice, no vendor request without its admission, the cap right afterwards."""
    await place.limit(concurrency=1_000)
    await check_kill(place, start_worker, 300, random.Random(seed), figure)  # noqa: S311


@pytest.mark.prove
@pytest.mark.timeout(3_600)
async def test_a_killed_process_leaves_the_books_right_every_time(place: Any, start_worker: Start, figure: Any) -> None:
    await place.limit(concurrency=1_000)
    for run in range(RUNS):
        await check_kill(place, start_worker, 300, random.Random(1_000 + run), figure)  # noqa: S311


async def check_server_kill(place: Any, start: Start, cap: int, drawn: random.Random, figure: Any) -> None:
    """Two processes of one agent; the server is killed at some answer, without a word, and started again."""
    agent = f"robot-{drawn.randrange(10**9)}"
    await place.cap(cap, agent)
    workers = await asyncio.gather(*(start(callers=16, agent=agent) for _ in range(2)))
    for worker in workers:
        await worker.go()
    lines = [await workers[0].line() for _ in range(drawn.randrange(1, cap // 4))]
    await asyncio.to_thread(place.store.server.stop, drawn.choice([signal.SIGQUIT, signal.SIGKILL]))
    while not (line := await workers[0].line()).startswith("refused storage_unavailable"):
        lines.append(line)
    await asyncio.to_thread(place.store.server.start)
    started = time.monotonic()
    while not (line := await workers[0].line()).startswith("answered"):
        lines.append(line)
    recovery_seconds = time.monotonic() - started
    rest = await asyncio.gather(*(worker.lines() for worker in workers))
    told = Told.read([*lines, line, *rest[0], *rest[1]])
    books = Books.read(place, agent, cap, told.answered)
    figure(**attrs.asdict(books), overrun_p99_seconds=told.overrun_p99_seconds, recovery_seconds=recovery_seconds)
    books.check(cap)
    assert (told.ended, set(told.refused)) == (2, {"daily_cap_reached", "storage_unavailable"})
    assert told.overrun_p99_seconds == 0


@pytest.mark.only("killable", "SQLite has no server")
async def test_a_killed_server_leaves_the_books_right(place: Any, start_worker: Start, figure: Any) -> None:
    await place.limit(concurrency=1_000)
    await check_server_kill(place, start_worker, 400, random.Random(1), figure)  # noqa: S311


@pytest.mark.prove
@pytest.mark.timeout(3_600)
@pytest.mark.only("killable", "SQLite has no server")
async def test_a_killed_server_leaves_the_books_right_every_time(place: Any, start_worker: Start, figure: Any) -> None:
    await place.limit(concurrency=1_000)
    for run in range(RUNS):
        await check_server_kill(place, start_worker, 400, random.Random(2_000 + run), figure)  # noqa: S311
