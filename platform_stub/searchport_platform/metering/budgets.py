"""Budgets: what an organization's searches may cost in a UTC month, each counted at its worst case until it has ended."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.errors import ErrorCode, SearchError
from searchport_platform.metering import counters
from searchport_platform.metering.moments import Moment
from searchport_platform.metering.prices import write_usd
from searchport_platform.storage.schema import organization_months

__all__ = ["give_back", "read", "refuse", "reserve"]

_COLUMN = "spent_microusd"


def _key(organization: str, month: str) -> Mapping[str, str]:
    return {"organization": organization, "month": month}


async def read(connection: AsyncConnection, organization: str, month: str, *, lock: bool = True) -> int:
    """Micro-USD spent and reserved in this UTC month."""
    return await counters.read(connection, organization_months, _key(organization, month), _COLUMN, lock=lock)


async def reserve(connection: AsyncConnection, organization: str, month: str, *, seen: int, amount: int) -> None:
    """Adds micro-USD to the month. seen: what `read` gave in this transaction."""
    await counters.add(connection, organization_months, _key(organization, month), _COLUMN, seen=seen, amount=amount)


async def give_back(connection: AsyncConnection, organization: str, month: str, amount: int) -> None:
    """Takes what was reserved and not spent out of the month again, in micro-USD."""
    table = organization_months
    where = (table.c.organization == organization, table.c.month == month)
    await connection.execute(update(table).where(*where).values({_COLUMN: table.c[_COLUMN] - amount}))


def refuse(spent: int, cost: int, budget: int | None, moment: Moment) -> SearchError | None:
    """The refusal where a call of this worst case could exceed the budget; all in micro-USD, a budget of None is none."""
    if budget is None or spent + cost <= budget:
        return None
    reason = f"{write_usd(spent)} of {write_usd(budget)} USD is spent or reserved, and this call can cost {write_usd(cost)}"
    return SearchError(ErrorCode.BUDGET_EXCEEDED, reason=reason, retry_after=moment.seconds_to_next_month())
