"""Limits of an organization: searches in any sixty seconds, over all processes, and searches at once, in each process."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Generic, TypeVar

from sqlalchemy import Executable, bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.errors import ErrorCode, SearchError
from searchport_platform.metering.moments import Moment
from searchport_platform.storage.asked import Asked
from searchport_platform.storage.schema import records

__all__ = ["WAITING", "WINDOW_MS", "Slots", "read_recent", "refuse_rate", "too_many_waiting"]

WINDOW_MS = 60_000
WAITING = 64
"""Calls of one organization that may wait for a slot in one process; the next is refused."""

_ASKED = Asked({"organization": str})

T = TypeVar("T")


async def read_recent(connection: AsyncConnection, most: Mapping[str, int], moment: Moment) -> dict[str, list[int]]:
    """When each organization's last searches of the past sixty seconds began, newest first, in milliseconds.

    most: organization -> as many at most.
    """
    recent: dict[str, list[int]] = {organization: [] for organization in most}
    if not recent:
        return recent
    dialect = connection.dialect.name
    values = _ASKED.values(dialect, [(organization,) for organization in sorted(recent)])
    values["since"] = moment.milliseconds - WINDOW_MS
    for organization, started_ms in await connection.execute(_recent(dialect), values):
        if len(recent[organization]) < most[organization]:
            recent[organization].append(int(started_ms))
    return recent


@cache
def _recent(dialect: str) -> Executable:
    rows = _ASKED.table(dialect)
    query = select(records.c.organization, records.c.started_ms)
    query = query.join_from(rows, records, records.c.organization == rows.c.organization)
    return query.where(records.c.started_ms > bindparam("since")).order_by(records.c.started_ms.desc())


def refuse_rate(recent: Sequence[int], limit: int | None, moment: Moment) -> SearchError | None:
    """The refusal where so many searches began within sixty seconds; it can be tried again when the oldest leaves them."""
    if limit is None or len(recent) < limit:
        return None
    wait_ms = recent[limit - 1] + WINDOW_MS - moment.milliseconds if limit else WINDOW_MS
    reason = f"this organization may make {limit:,} searches a minute"
    return SearchError(ErrorCode.RATE_LIMITED, reason=reason, retry_after=max(wait_ms, 1) / 1_000)


def too_many_waiting(limit: int) -> SearchError:
    """The refusal of a call for which there is neither a slot nor a place to wait for one."""
    reason = f"this organization may have {limit:,} searches at once, and {WAITING} more are waiting"
    return SearchError(ErrorCode.RATE_LIMITED, reason=reason, retry_after=1)


class Slots(Generic[T]):
    """Searches of each organization in this process: how many there are, and what waits for one of them to end."""

    def __init__(self) -> None:
        self._busy: dict[str, int] = defaultdict(int)
        self._limits: dict[str, int] = {}
        self._waiting: dict[str, deque[T]] = defaultdict(deque)

    def take(self, organization: str, limit: int, *, has_waited: bool) -> bool:
        """Takes a slot where one is free; who has not waited comes after those who wait."""
        self._limits[organization] = limit
        free = limit - self._busy.get(organization, 0)
        if free <= 0 or (not has_waited and self._waiting.get(organization)):
            return False
        self._busy[organization] += 1
        return True

    def park(self, organization: str, waiter: T, *, first: bool) -> bool:
        """Lets it wait, at the head of the queue where `first`; False where the queue is full."""
        queue = self._waiting[organization]
        if first:
            queue.appendleft(waiter)
        elif len(queue) >= WAITING:
            return False
        else:
            queue.append(waiter)
        return True

    def forget(self, organization: str, waiter: T) -> None:
        """Takes it out of the queue, where it is in it."""
        queue = self._waiting.get(organization)
        if queue and waiter in queue:
            queue.remove(waiter)
            self._tidy(organization)

    def release(self, organization: str) -> None:
        """Gives a slot back."""
        self._busy[organization] -= 1
        self._tidy(organization)

    def next_waiting(self, organization: str) -> list[T]:
        """Takes as many out of the queue as there are free slots, in order; each of them must ask for its slot again."""
        queue = self._waiting.get(organization)
        if not queue:
            return []
        free = self._limits.get(organization, 1) - self._busy.get(organization, 0)
        found = [queue.popleft() for _ in range(min(max(free, 0), len(queue)))]
        self._tidy(organization)
        return found

    def busy(self, organization: str) -> int:
        """Searches of the organization in this process now."""
        return self._busy.get(organization, 0)

    def waiting(self, organization: str) -> int:
        """Calls of the organization that wait in this process now."""
        return len(self._waiting.get(organization, ()))

    def _tidy(self, organization: str) -> None:
        if not self._busy.get(organization):
            self._busy.pop(organization, None)
        if not self._waiting.get(organization):
            self._waiting.pop(organization, None)
        if organization not in self._busy and organization not in self._waiting:
            self._limits.pop(organization, None)
