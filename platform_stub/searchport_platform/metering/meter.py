"""The meter: every search is admitted here before its first vendor request, and closed here before its answer leaves."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeAlias

import attrs
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from searchport.egress import Deadline
from searchport.errors import ErrorCode, SearchError
from searchport.result import Attempt, Envelope
from searchport_platform.metering import ledger
from searchport_platform.metering.batch import Batch, Candidate, CloseJob, Entry
from searchport_platform.metering.ledger import Closing, Record
from searchport_platform.metering.limits import Slots, too_many_waiting
from searchport_platform.metering.listeners import Listeners
from searchport_platform.metering.standing import Ask
from searchport_platform.metering.writer import Writer
from searchport_platform.tenancy.admission import Admission, Caller
from searchport_platform.tenancy.selections import DEADLINE_SECONDS

__all__ = ["CLOSING_SECONDS", "Call", "Meter"]

CLOSING_SECONDS = 5.0
"""How long an answer waits for its record to be closed, and how long that is tried again while the database is away."""

Decide: TypeAlias = Callable[[Admission], Ask]


@attrs.define(kw_only=True)
class Call:
    """An admitted call while it runs, and what it has taken so far."""

    entry: Entry
    attempts: list[Attempt] = attrs.field(factory=list)
    outcome: str = ledger.CANCELLED
    provider: str | None = None
    results: int = 0
    cached: bool = False

    @property
    def id(self) -> str:
        """The record's id, which is the answer's `requestId`."""
        return self.entry.opening.id

    @property
    def ask(self) -> Ask:
        """What was decided."""
        return self.entry.ask

    @property
    def deadline(self) -> Deadline:
        """When it must have ended; the wait for its admission is part of it."""
        return Deadline(self.entry.started + self.ask.deadline_seconds)

    def count(self, attempt: Attempt) -> None:
        """Counts the requests that were sent to a provider, whatever came of them."""
        self.attempts.append(attempt)

    def answered(self, envelope: Envelope) -> None:
        """Notes who answered."""
        self.outcome, self.provider = ledger.OK, envelope.provider
        self.results, self.cached = len(envelope.results), envelope.cached

    def close(self) -> Closing:
        """How it ended, as its record says."""
        sent = Counter({worst.provider: 0 for worst in self.ask.worst_cases})
        for attempt in self.attempts:
            sent[attempt.provider] += attempt.vendor_requests or 0
        return Closing(
            outcome=self.outcome,
            provider=self.provider or self.entry.opening.provider,
            vendor_requests=sent.total(),
            cost_microusd=sum(worst.cost_of(sent[worst.provider]) for worst in self.ask.worst_cases),
            duration_ms=round((time.monotonic() - self.entry.started) * 1_000),
            results=self.results,
            cached=self.cached,
        )


class Meter:
    """Admits calls and closes their records; one for each process and database.

    refusals: code -> calls that were refused in this process; a refused call has no record.
    """

    def __init__(self, engine: AsyncEngine, listeners: Listeners | None = None) -> None:
        self.refusals: Counter[str] = Counter()
        self._listeners = listeners or Listeners()
        self._slots: Slots[Candidate] = Slots()
        self._writer: Writer[Candidate | CloseJob] = Writer(engine, self._write, self._undo)
        self._batch: Batch | None = None
        self._deadline_seconds: dict[str, float] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, engine: AsyncEngine, listeners: Listeners | None = None) -> AsyncIterator[Meter]:
        """A meter that writes; at the end, what is still to be closed is closed."""
        meter = cls(engine, listeners)
        async with meter._writer:
            yield meter

    @property
    def commits(self) -> int:
        """Transactions that were committed in this process."""
        return self._writer.commits

    @asynccontextmanager
    async def metered(self, caller: Caller, decide: Decide, *, deadline: Deadline | None = None) -> AsyncIterator[Call]:
        """Admits a call before the block, and closes its record after it, however it ends.

        decide: see `admit`. An answer whose record cannot be closed is not given: it counts at its worst case. Raises
        SearchError.
        """
        call = Call(entry=await self.admit(caller, decide, deadline=deadline))
        try:
            yield call
        except SearchError as error:
            call.outcome = error.code
            await self._close(call)
            raise
        except asyncio.CancelledError:
            call.outcome = ledger.CANCELLED
            await self._close(call)
            raise
        except BaseException:
            call.outcome = ErrorCode.INTERNAL_ERROR
            await self._close(call)
            raise
        if not await self._close(call):
            raise SearchError(
                ErrorCode.STORAGE_UNAVAILABLE, reason="the search was made and counts, but its record is not closed"
            )

    async def admit(self, caller: Caller, decide: Decide, *, deadline: Deadline | None = None) -> Entry:
        """One unit of the agent's day and the worst case of the organization's month, taken; the record is on the disk.

        decide: everything that can refuse the call without the counters, called within the transaction that read what it is
        given. deadline: until when to wait at most; the organization's own may be sooner. Raises SearchError; nothing is taken
        then, unless the database was lost in the moment of the commit: what it then committed counts, once. A call that ends
        while it waits is forgotten, or closed where it was already admitted.
        """
        candidate = Candidate(
            caller=caller,
            id=uuid.uuid4().hex,
            decide=decide,
            future=asyncio.get_running_loop().create_future(),
            started=time.monotonic(),
        )
        usual = self._deadline_seconds.get(caller.organization, DEADLINE_SECONDS)
        wait_seconds = usual if deadline is None else min(usual, deadline.remaining_seconds())
        self._writer.submit(candidate)
        try:
            async with asyncio.timeout(wait_seconds) as candidate.timeout:
                return await candidate.future
        except TimeoutError:
            self._abandon(candidate)
            code = ErrorCode.RATE_LIMITED if candidate.has_waited else ErrorCode.STORAGE_UNAVAILABLE
            self.refusals[code] += 1
            raise SearchError(code, retry_after=1 if candidate.has_waited else None) from None
        except SearchError as error:
            self.refusals[error.code] += 1
            self._wake(caller.organization)  # the slot that it may have waited for is the next one's
            raise
        except BaseException:
            self._abandon(candidate)
            raise

    def _abandon(self, candidate: Candidate) -> None:
        """Its caller is gone: the next one waits in its place; where it was admitted a moment ago, its record is closed."""
        future = candidate.future
        self._slots.forget(candidate.organization, candidate)
        if future.done() and not future.cancelled() and future.exception() is None:
            self._cancel(future.result())
        self._wake(candidate.organization)

    def _cancel(self, entry: Entry) -> None:
        closing = Closing(outcome=ledger.CANCELLED, provider=entry.opening.provider)
        self._submit_closing(entry, closing)

    def _submit_closing(self, entry: Entry, closing: Closing) -> asyncio.Future[bool]:
        job = CloseJob(
            record=Record(opening=entry.opening, closing=closing),
            future=asyncio.get_running_loop().create_future(),
            patience_ends=time.monotonic() + CLOSING_SECONDS,
        )
        self._slots.release(entry.opening.organization)
        self._writer.submit(job)
        self._wake(entry.opening.organization)
        return job.future

    async def _close(self, call: Call) -> bool:
        """Closes the call's record; its caller may be cancelled meanwhile. False where the database did not answer."""
        future = self._submit_closing(call.entry, call.close())
        try:
            async with asyncio.timeout(CLOSING_SECONDS):
                return await asyncio.shield(future)
        except TimeoutError:
            return False

    def _wake(self, organization: str) -> None:
        """Lets those go on who wait for a slot that is now free."""
        for waiter in self._slots.next_waiting(organization):
            self._writer.submit(waiter)

    async def _write(self, connection: AsyncConnection, jobs: Sequence[Candidate | CloseJob]) -> Callable[[], None]:
        candidates = [job for job in jobs if isinstance(job, Candidate)]
        closing = [job for job in jobs if isinstance(job, CloseJob)]
        self._batch = batch = Batch(slots=self._slots)
        await batch.run(connection, candidates, [job.record for job in closing])
        return partial(self._settle, batch, closing)

    def _undo(self, _jobs: Sequence[Candidate | CloseJob]) -> None:
        """Gives back the slots of a transaction that failed."""
        batch, self._batch = self._batch, None
        for entry in batch.admitted.values() if batch is not None else ():
            self._slots.release(entry.opening.organization)
            self._wake(entry.opening.organization)

    def _settle(self, batch: Batch, closing: Sequence[CloseJob]) -> None:
        """Tells everyone what became of their call."""
        self._batch = None
        for candidate, error in batch.refused.items():
            if candidate.is_wanted:
                candidate.future.set_exception(error)
        for candidate, entry in batch.admitted.items():
            self._deadline_seconds[entry.opening.organization] = entry.ask.admission.selection.deadline_seconds
            if candidate.is_wanted:
                candidate.future.set_result(entry)
            else:
                self._cancel(entry)
        again = [candidate for candidate in batch.deferred if candidate.has_waited]
        new = [candidate for candidate in batch.deferred if not candidate.has_waited]
        for candidate in (*reversed(again), *new):  # each that has waited goes to the head of the queue
            self._park(candidate, batch.deferred[candidate].admission)
        for job in closing:
            job.future.set_result(True)
        self._listeners.tell(job.record for job in closing)
        for organization in {candidate.caller.organization for candidate in (*batch.deferred, *batch.admitted)}:
            self._wake(organization)

    def _park(self, candidate: Candidate, admission: Admission) -> None:
        """Lets it wait for a slot until the deadline of its organization's calls, or refuses it where too many wait."""
        if not candidate.is_wanted:
            return
        if not self._slots.park(candidate.caller.organization, candidate, first=candidate.has_waited):
            candidate.future.set_exception(too_many_waiting(admission.organization.concurrency))
            return
        if not candidate.has_waited and candidate.timeout is not None:
            ends = Deadline(candidate.started + admission.selection.deadline_seconds)
            ends_at = asyncio.get_running_loop().time() + ends.remaining_seconds()
            candidate.timeout.reschedule(min(candidate.timeout.when() or ends_at, ends_at))
        candidate.has_waited = True
