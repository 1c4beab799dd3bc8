"""The one writer of a process: what waits for the database shares a transaction, and one that fails never fails the others."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from searchport_platform.metering.counters import CounterMovedError
from searchport_platform.storage.transactions import (
    NobodyWaitsError,
    hold_organizations,
    is_away,
    is_collision,
    is_cut,
    name_failure,
    pause,
    write_transaction,
)

__all__ = ["Job", "Work", "Writer"]

MOST_JOBS = 256
"""Jobs a transaction: enough for every caller of a process, few enough to be done within one of their deadlines."""

_DRAIN_SECONDS = 5.0
_PAUSE_SECONDS = 0.1

_log = structlog.get_logger("searchport.metering")


class Job(Protocol):
    """Something to write."""

    @property
    def organization(self) -> str:
        """Whose it is: jobs of an organization are written by one process at a time."""

    alone: bool
    """It is to have a transaction of its own, since one that it shared failed."""

    was_cut: bool
    """It is tried again, since the connection was lost in its first transaction."""

    patience_ends: float
    """Until when, on the monotonic clock, it is tried again after the database did not answer."""

    @property
    def is_wanted(self) -> bool:
        """False once nobody waits for it any more and it can be left out."""

    def fail(self, error: Exception) -> None:
        """Tells who waits that it was not written."""


J = TypeVar("J", bound=Job)
Work = Callable[[AsyncConnection, Sequence[J]], Awaitable[Callable[[], None]]]
"""Does some jobs within a transaction; what it gives is called once that is committed."""


class Writer(Generic[J]):
    """Takes jobs in order and commits as many as wait together; an async context manager, which ends with nothing left to write.

    undo: takes back what the work did outside the database, where its transaction failed.
    """

    def __init__(self, engine: AsyncEngine, work: Work[J], undo: Callable[[Sequence[J]], None]) -> None:
        self._engine, self._work, self._undo = engine, work, undo
        self._jobs: deque[J] = deque()
        self._wake = asyncio.Event()
        self._is_ending = False
        self._task: asyncio.Task[None] | None = None
        self.commits = 0

    def submit(self, job: J) -> None:
        """Writes it soon."""
        self._jobs.append(job)
        self._wake.set()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run(), name="searchport metering")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._task is not None  # noqa: S101  # entered
        self._is_ending = True
        self._wake.set()
        await asyncio.wait([self._task], timeout=_DRAIN_SECONDS)
        self._task.cancel()
        await asyncio.wait([self._task])
        for job in self._jobs:
            job.fail(RuntimeError("the platform was closed"))

    async def _run(self) -> None:
        while self._jobs or not self._is_ending:
            await self._wake.wait()
            while self._is_wanted():
                await self._write_some()
            self._wake.clear()
            if self._is_ending:
                self._wake.set()

    def _is_wanted(self) -> bool:
        while self._jobs and not self._jobs[0].is_wanted:
            self._jobs.popleft()
        return any(job.is_wanted for job in self._jobs)

    def _take(self) -> list[J]:
        """The jobs of the next transaction: they are taken after the lock is held, so that those who came meanwhile share it."""
        taken: list[J] = []
        while self._jobs and len(taken) < MOST_JOBS and not (taken and (taken[0].alone or self._jobs[0].alone)):
            job = self._jobs.popleft()
            if job.is_wanted:
                taken.append(job)
        return taken

    async def _write_some(self) -> None:
        taken: list[J] = []
        try:
            async with write_transaction(self._engine, is_wanted=self._is_wanted) as connection:
                taken = self._take()
                busy = await hold_organizations(connection, {job.organization for job in taken})
                taken = self._leave_out(taken, busy)
                settle = await self._work(connection, taken) if taken else None
        except NobodyWaitsError:
            return
        except asyncio.CancelledError:
            self._jobs.extendleft(reversed(taken))  # who waits for them is told when the writer has ended
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, those who wait must be told, and the writer must live
            self._undo(taken)
            if isinstance(error, CounterMovedError) or is_collision(error):
                self._jobs.extendleft(reversed(taken))
            else:
                await self._recover(taken or self._take(), error)
        else:
            if settle is None:
                await pause()
                return
            self.commits += 1
            settle()

    def _leave_out(self, taken: Sequence[J], busy: Collection[str]) -> list[J]:
        """The jobs whose organization no other process holds and for which somebody still waits; the held go behind everyone."""
        self._jobs.extend(job for job in taken if job.organization in busy)
        return [job for job in taken if job.organization not in busy and job.is_wanted]

    async def _recover(self, taken: Sequence[J], error: Exception) -> None:
        """Tries each alone where one of them may be to blame; where the database is, only those that have patience."""
        _log.error("a write did not succeed", exception=name_failure(error), jobs=len(taken))
        away = is_away(error)
        if not away and len(taken) > 1:
            for job in taken:
                job.alone = True
            self._jobs.extendleft(reversed(taken))
            return
        if is_cut(error) and not all(job.was_cut for job in taken):
            for job in taken:
                job.was_cut = True
            self._jobs.extendleft(reversed(taken))
            return
        is_storage = away or isinstance(error, DBAPIError)
        now = time.monotonic()
        patient = [job for job in taken if is_storage and job.patience_ends > now and not self._is_ending]
        for job in taken:
            if job not in patient:
                job.fail(error)
        if patient:
            self._jobs.extendleft(reversed(patient))
            await asyncio.sleep(_PAUSE_SECONDS)
