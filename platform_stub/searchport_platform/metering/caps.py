"""Caps: how many searches an agent may make in a UTC day. One call takes one unit, nothing gives one back."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.errors import ErrorCode, SearchError
from searchport_platform.metering import counters
from searchport_platform.metering.moments import Moment
from searchport_platform.storage.schema import agent_days

__all__ = ["count", "read", "refuse"]

_COLUMN = "searches"


def _key(organization: str, agent: str, day: str) -> Mapping[str, str]:
    return {"organization": organization, "agent": agent, "day": day}


async def read(connection: AsyncConnection, organization: str, agent: str, day: str, *, lock: bool = True) -> int:
    """Searches that the agent was admitted on this UTC day."""
    return await counters.read(connection, agent_days, _key(organization, agent, day), _COLUMN, lock=lock)


async def count(connection: AsyncConnection, organization: str, agent: str, day: str, *, seen: int, amount: int) -> None:
    """Takes `amount` units. seen: what `read` gave in this transaction."""
    await counters.add(connection, agent_days, _key(organization, agent, day), _COLUMN, seen=seen, amount=amount)


def refuse(used: int, cap: int, moment: Moment) -> SearchError | None:
    """The refusal where no unit is left of the day; it can be tried again after the next UTC midnight."""
    if used < cap:
        return None
    reason = f"{used:,} of {cap:,} taken"
    return SearchError(ErrorCode.DAILY_CAP_REACHED, reason=reason, retry_after=moment.seconds_to_next_day())
