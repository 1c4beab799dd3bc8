"""Caps: how many searches an agent may make in a UTC day. One call takes one unit, nothing gives one back."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.errors import ErrorCode, SearchError
from searchport_platform.metering import counters
from searchport_platform.metering.counters import Change
from searchport_platform.metering.moments import Moment
from searchport_platform.storage.schema import agent_days

__all__ = ["Day", "count", "read", "refuse"]

Day = tuple[str, str, str]
"""An organization, its agent, and a UTC day, `YYYY-MM-DD`."""

_COLUMN = "searches"


async def read(connection: AsyncConnection, days: Collection[Day], *, lock: bool = True) -> dict[Day, int]:
    """Searches that each agent was admitted on its day."""
    return await counters.read(connection, agent_days, _COLUMN, days, lock=lock)


async def count(connection: AsyncConnection, changes: Mapping[Day, Change]) -> None:
    """Takes units, of days seen as `read` gave them in this transaction. Raises CounterMovedError."""
    await counters.add(connection, agent_days, _COLUMN, changes)


def refuse(used: int, cap: int, moment: Moment) -> SearchError | None:
    """The refusal where no unit is left of the day; it can be tried again after the next UTC midnight."""
    if used < cap:
        return None
    reason = f"{used:,} of {cap:,} taken"
    return SearchError(ErrorCode.DAILY_CAP_REACHED, reason=reason, retry_after=moment.seconds_to_next_day())
