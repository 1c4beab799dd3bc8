"""The ledger: one record for each admitted search, made before the first vendor request and closed before the answer leaves.

A record holds no query, no URL and no key. One that was never closed, because its process died, counts at its worst case and is
told as `unknown` once its deadline is over.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

import attrs
from sqlalchemy import Executable, bindparam, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport_platform.storage.asked import Asked, matches
from searchport_platform.storage.schema import records

__all__ = ["CANCELLED", "OK", "STARTED", "UNKNOWN", "Closing", "Opening", "Record", "close_all", "find_open", "open_all"]

STARTED = "started"
OK = "ok"
CANCELLED = "cancelled"
UNKNOWN = "unknown"

_ASKED = Asked({"organization": str, "id": str})


@attrs.frozen(kw_only=True)
class Opening:
    """A record as it begins. started_ms, ends_ms: since 1970 in UTC, `ends_ms` when it must have ended."""

    organization: str
    id: str
    agent: str
    provider: str
    day: str
    started_ms: int
    ends_ms: int
    reserved_microusd: int


@attrs.frozen(kw_only=True)
class Closing:
    """How a search ended. outcome: `ok`, `cancelled`, or an error's code. provider: who answered, else who was asked first."""

    outcome: str
    provider: str
    vendor_requests: int = 0
    cost_microusd: int = 0
    duration_ms: int = 0
    results: int = 0
    cached: bool = False


@attrs.frozen(kw_only=True)
class Record:
    """A closed record: what a usage listener is given."""

    opening: Opening
    closing: Closing

    @property
    def month(self) -> str:
        """The UTC month in which it began, `YYYY-MM`."""
        return self.opening.day[:7]

    @property
    def saved_microusd(self) -> int:
        """What was reserved and not spent; below 0 where it cost more."""
        return self.opening.reserved_microusd - self.closing.cost_microusd


async def open_all(connection: AsyncConnection, openings: Sequence[Opening]) -> None:
    """Inserts the records as started."""
    rows = [attrs.asdict(opening) | {"outcome": STARTED, "cached": False} for opening in openings]
    await connection.execute(insert(records), rows)


async def find_open(connection: AsyncConnection, wanted: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Which of these records (organization, id) are not closed; locked until commit, so that none is closed twice."""
    dialect = connection.dialect.name
    result = await connection.execute(_open(dialect), _ASKED.values(dialect, sorted(wanted)))
    return {(organization, record_id) for organization, record_id in result}


@cache
def _open(dialect: str) -> Executable:
    rows = _ASKED.table(dialect)
    key = records.c.organization, records.c.id
    query = select(*key).join_from(rows, records, matches(records, rows, ("organization", "id")))
    return query.where(records.c.outcome == STARTED).order_by(*key).with_for_update(of=records)


async def close_all(connection: AsyncConnection, closed: Sequence[Record]) -> None:
    """Closes records that `find_open` found in this transaction."""
    where = (records.c.organization == bindparam("of"), records.c.id == bindparam("with_id"))
    values: dict[str, object] = {field.name: bindparam(f"new_{field.name}") for field in attrs.fields(Closing)}
    rows = [
        {"of": record.opening.organization, "with_id": record.opening.id}
        | {f"new_{name}": value for name, value in attrs.asdict(record.closing).items()}
        for record in closed
    ]
    await connection.execute(update(records).where(*where).values(values), rows)
