"""Caps over several processes, and processes that are killed."""

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

RUNS = int(os.environ.get("SEARCHPORT_PROVE_RUNS", "1"))
Start = Callable[..., Awaitable[Any]]


def requests(place: Any, agent: str) -> int:
    """Vendor requests that an agent's processes have made."""
    witness = Path(f"{place.file}.{agent}.vendor")
    return witness.stat().st_size if witness.exists() else 0


async def use_up(start: Start, *, processes: int, callers: int) -> list[str]:
    """The lines of processes that search at the same time until the cap is reached."""
    workers = await asyncio.gather(*(start(callers=callers // processes) for _ in range(processes)))
    for worker in workers:
        await worker.go()
    return [line for lines in await asyncio.gather(*(worker.lines() for worker in workers)) for line in lines]


async def check_cap(place: Any, start: Start, cap: int, *, processes: int = 4, callers: int = 200) -> None:
    place.sql("DELETE FROM records")
    place.sql("DELETE FROM agent_days")
    asked_before = requests(place, "default")
    await place.cap(cap)
    lines = await use_up(start, processes=processes, callers=callers)
    answered = [line for line in lines if line.startswith("answered")]
    refused = [line for line in lines if line.startswith("refused")]
    assert (len(answered), len(set(answered)), place.used(), len(place.records())) == (cap, cap, cap, cap)
    assert set(refused) == {"refused daily_cap_reached"}
    assert len(refused) == callers
    assert set(place.records()) <= {"ok"}
    assert requests(place, "default") - asked_before == cap


async def test_two_hundred_callers_of_four_processes_use_a_cap_up_exactly(place: Any, start_worker: Start) -> None:
    await place.limit(concurrency=1_000)
    await check_cap(place, start_worker, 250)


@pytest.mark.prove
@pytest.mark.timeout(3_600)
async def test_a_cap_is_used_up_exactly_every_time(place: Any, start_worker: Start) -> None:
    await place.limit(concurrency=1_000)
    for run in range(RUNS):
        drawn = random.Random(run)  # noqa: S311  # drawn again the same
        await check_cap(place, start_worker, drawn.choice([0, 1, 2, 63, 199, 200, 201, 500]))


async def check_kill(place: Any, start: Start, cap: int, drawn: random.Random) -> None:
    """Two processes with an agent each; one is killed at some answer, and begun again until the cap is reached."""
    agents = [f"robot-{drawn.randrange(10**9)}", f"robot-{drawn.randrange(10**9)}"]
    for agent in agents:
        await place.cap(cap, agent)
    victim, other = await asyncio.gather(*(start(callers=32, agent=agent) for agent in agents))
    for worker in (victim, other):
        await worker.go()
    lines = [await victim.line() for _ in range(drawn.randrange(1, cap // 2))]
    victim.process.kill()
    lines += await victim.lines()
    again = await start(callers=32, agent=agents[0])
    await again.go()
    lines, others = lines + await again.lines(), await other.lines()
    for agent, told in zip(agents, (lines, others), strict=True):
        check_books(place, agent, cap, [line.split()[1] for line in told if line.startswith("answered")])
        assert told[-1] == "done"
        assert {line for line in told if line.startswith("refused")} == {"refused daily_cap_reached"}


def check_books(place: Any, agent: str, cap: int, answered: list[str]) -> None:
    rows = place.sql("SELECT id, outcome FROM records WHERE agent = ?", agent)
    outcomes = dict(rows)
    assert (len(rows), len(outcomes)) == (cap, cap), "a unit without its record, or a record twice"
    assert place.sql("SELECT searches FROM agent_days WHERE agent = ?", agent) == [(cap,)]
    assert len(answered) == len(set(answered))
    assert {outcomes[each] for each in answered} == {"ok"}, "answered without a closed record"
    assert len(answered) <= requests(place, agent) <= cap, "a vendor request without its admission"
    assert set(outcomes.values()) <= {"ok", "started"}


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_killed_process_leaves_the_books_right(place: Any, start_worker: Start, seed: int) -> None:
    """No answered call without its record, none twice, no vendor request without its admission, the cap right afterwards."""
    await place.limit(concurrency=1_000)
    await check_kill(place, start_worker, 300, random.Random(seed))  # noqa: S311


@pytest.mark.prove
@pytest.mark.timeout(3_600)
async def test_a_killed_process_leaves_the_books_right_every_time(place: Any, start_worker: Start) -> None:
    await place.limit(concurrency=1_000)
    for run in range(RUNS):
        await check_kill(place, start_worker, 300, random.Random(1_000 + run))  # noqa: S311
