"""Budgets: what an organization's searches may cost in a UTC month, each counted at its worst case until it has ended."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import bindparam, update
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.errors import ErrorCode, SearchError
from searchport_platform.metering import counters
from searchport_platform.metering.counters import Change
from searchport_platform.metering.moments import Moment
from searchport_platform.metering.prices import write_usd
from searchport_platform.storage.schema import organization_months

__all__ = ["Month", "give_back", "read", "refuse", "reserve"]

Month = tuple[str, str]
"""An organization, and a UTC month, `YYYY-MM`."""

_COLUMN = "spent_microusd"


async def read(connection: AsyncConnection, months: Collection[Month], *, lock: bool = True) -> dict[Month, int]:
    """Micro-USD spent and reserved in each of them."""
    return await counters.read(connection, organization_months, _COLUMN, months, lock=lock)


async def reserve(connection: AsyncConnection, changes: Mapping[Month, Change]) -> None:
    """Adds micro-USD to months, seen as `read` gave them in this transaction. Raises CounterMovedError."""
    await counters.add(connection, organization_months, _COLUMN, changes)


async def give_back(connection: AsyncConnection, saved: Mapping[Month, int]) -> None:
    """Takes what was reserved and not spent out of months again, in micro-USD."""
    table = organization_months
    where = (table.c.organization == bindparam("of"), table.c.month == bindparam("in_month"))
    values = {_COLUMN: table.c[_COLUMN] - bindparam("amount")}
    rows = [{"of": of, "in_month": month, "amount": amount} for (of, month), amount in sorted(saved.items()) if amount]
    if rows:
        await connection.execute(update(table).where(*where).values(values), rows)


def refuse(spent: int, cost: int, budget: int | None, moment: Moment) -> SearchError | None:
    """The refusal where a call of this worst case could exceed the budget; all in micro-USD, a budget of None is none."""
    if budget is None or spent + cost <= budget:
        return None
    reason = f"{write_usd(spent)} of {write_usd(budget)} USD is spent or reserved, and this call can cost {write_usd(cost)}"
    return SearchError(ErrorCode.BUDGET_EXCEEDED, reason=reason, retry_after=moment.seconds_to_next_month())
