"""The writer of a process: what fails in it, and what is in it when it ends, is told, and it goes on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from searchport_platform.metering import writer as writing
from searchport_platform.metering.batch import Candidate
from searchport_platform.metering.writer import Writer


async def test_a_toolkit_that_fails_in_whatever_way_fails_its_own_call_alone(place: Any) -> None:
    def decide(_: object) -> Any:
        return next(iter(()))

    with pytest.raises(RuntimeError):
        await asyncio.wait_for(place.platform.meter.admit(place.caller, decide), 5)
    assert await asyncio.wait_for(place.try_search(), 5) == "ok"


async def test_who_is_in_a_transaction_that_never_ends_is_told_when_the_platform_closes(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_DRAIN_SECONDS", 0.01)
    reached = asyncio.Event()

    async def work(_connection: object, _jobs: object) -> Any:
        reached.set()
        await asyncio.Event().wait()

    future = asyncio.get_running_loop().create_future()
    job = Candidate(caller=place.caller, id="1", decide=lambda _: pytest.fail("not decided"), future=future, started=0.0)
    async with Writer(place.platform.engine, work, lambda _: None) as writer:
        writer.submit(job)
        await reached.wait()
    assert "did not answer" in str(future.exception())


class ConnectionLostError(Exception):
    """As the driver says it (SQLSTATE 08006, connection_failure)."""

    sqlstate = "08006"


async def test_calls_whose_connection_is_lost_after_the_commit_count_once(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    commit, losses = writing.write_transaction, [True]

    @asynccontextmanager
    async def commit_and_lose(*given: Any, **named: Any) -> AsyncIterator[Any]:
        async with commit(*given, **named) as connection:
            yield connection
        if losses:
            losses.pop()
            raise OperationalError("COMMIT", {}, ConnectionLostError())

    monkeypatch.setattr(writing, "write_transaction", commit_and_lose)
    assert await asyncio.gather(*(place.try_search() for _ in range(3))) == ["storage_unavailable"] * 3
    assert (place.used(), place.records(), place.vendors.asked) == (3, ["started"] * 3, [])
    assert await place.try_search() == "ok"
