"""One transaction of the ledger: some calls admitted or refused, some records closed."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence

import attrs
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.errors import ErrorCode, SearchError
from searchport_platform.metering import budgets, ledger
from searchport_platform.metering.ledger import Opening, Record
from searchport_platform.metering.limits import Slots
from searchport_platform.metering.moments import Moment
from searchport_platform.metering.standing import Ask, Standing
from searchport_platform.tenancy.admission import Admission, Caller, admit_all

__all__ = ["Batch", "Candidate", "CloseJob", "Entry"]


@attrs.frozen(kw_only=True)
class Entry:
    """An admitted call: one unit is taken, its record is committed. started: on the monotonic clock, when it was made."""

    ask: Ask
    opening: Opening
    started: float


@attrs.define(eq=False, kw_only=True)
class Candidate:
    """A call that waits to be admitted. decide: everything that can refuse it without the counters; raises SearchError."""

    caller: Caller
    id: str
    decide: Callable[[Admission], Ask]
    future: asyncio.Future[Entry]
    started: float
    timeout: asyncio.Timeout | None = None
    has_waited: bool = False
    alone: bool = False
    was_cut: bool = False
    patience_ends: float = 0.0

    @property
    def organization(self) -> str:
        """The caller's."""
        return self.caller.organization

    @property
    def is_wanted(self) -> bool:
        """False once its caller is gone."""
        return not self.future.done()

    def fail(self, error: Exception) -> None:
        """Nothing was sent, or will be."""
        if self.is_wanted:
            known = isinstance(error, SearchError)
            self.future.set_exception(error if known else SearchError(ErrorCode.STORAGE_UNAVAILABLE))


@attrs.define(eq=False, kw_only=True)
class CloseJob:
    """A record that is to be closed. future: whether it was."""

    record: Record
    future: asyncio.Future[bool]
    patience_ends: float
    alone: bool = False
    was_cut: bool = False

    @property
    def organization(self) -> str:
        """The record's."""
        return self.record.opening.organization

    @property
    def is_wanted(self) -> bool:
        """Always: its caller may be gone, the money is spent."""
        return True

    def fail(self, _error: Exception) -> None:
        """The record stays as it was opened, and counts at its worst case."""
        if not self.future.done():
            self.future.set_result(False)


@attrs.define(kw_only=True)
class Batch:
    """What became of the candidates. deferred: those for which no slot was free."""

    slots: Slots[Candidate]
    admitted: dict[Candidate, Entry] = attrs.field(factory=dict)
    refused: dict[Candidate, Exception] = attrs.field(factory=dict)
    deferred: dict[Candidate, Ask] = attrs.field(factory=dict)

    async def run(self, connection: AsyncConnection, candidates: Sequence[Candidate], closing: Sequence[Record]) -> None:
        """Reads, decides and writes, all within the transaction of this connection."""
        asks = await self._read(connection, candidates)
        standing = await Standing.read(connection, asks.values(), Moment.now(), lock=True)
        before = standing.copy()
        for candidate, ask in asks.items():
            self._judge(candidate, ask, standing)
        if self.admitted:
            await standing.write(connection, before)
            await ledger.open_all(connection, [entry.opening for entry in self.admitted.values()])
        await _close(connection, closing)

    async def _read(self, connection: AsyncConnection, candidates: Sequence[Candidate]) -> dict[Candidate, Ask]:
        """What each of them asks. Those of one caller are decided by the same reading: nobody else writes meanwhile."""
        found = await admit_all(connection, {candidate.caller for candidate in candidates})
        asks = {}
        for candidate in candidates:
            admission = found[candidate.caller]
            if isinstance(admission, SearchError):
                self.refused[candidate] = attrs.evolve(admission)
                continue
            try:
                asks[candidate] = candidate.decide(admission)
            except StopIteration as error:  # which no future takes
                self.refused[candidate] = RuntimeError(repr(error))
            except Exception as error:  # noqa: BLE001  # one that fails, in whatever way, must not fail the others
                self.refused[candidate] = error
        return asks

    def _judge(self, candidate: Candidate, ask: Ask, standing: Standing) -> None:
        refusal = standing.refuse(ask)
        limit = ask.admission.organization.concurrency
        if refusal is not None:
            self.refused[candidate] = refusal
        elif not self.slots.take(ask.organization, limit, has_waited=candidate.has_waited):
            self.deferred[candidate] = ask
        else:
            standing.take(ask)
            self.admitted[candidate] = _enter(candidate, ask, standing.moment)


def _enter(candidate: Candidate, ask: Ask, moment: Moment) -> Entry:
    started = time.monotonic()
    left_seconds = max(0.0, ask.deadline_seconds - (started - candidate.started))
    opening = Opening(
        organization=ask.organization,
        id=candidate.id,
        agent=ask.admission.agent.id,
        provider=ask.worst_cases[0].provider,
        day=moment.day,
        started_ms=moment.milliseconds,
        ends_ms=moment.milliseconds + round(left_seconds * 1_000),
        reserved_microusd=ask.cost_microusd,
    )
    return Entry(ask=ask, opening=opening, started=candidate.started)


async def _close(connection: AsyncConnection, closing: Sequence[Record]) -> None:
    """Closes each record that is still open, once, and gives back what it did not spend."""
    if not closing:
        return
    wanted = {(record.opening.organization, record.opening.id): record for record in closing}
    still_open = [wanted[key] for key in sorted(await ledger.find_open(connection, wanted))]
    if not still_open:
        return
    saved: dict[budgets.Month, int] = defaultdict(int)
    for record in still_open:
        saved[record.opening.organization, record.month] += record.saved_microusd
    await budgets.give_back(connection, saved)
    await ledger.close_all(connection, still_open)
