"""Usage: what an organization's records add up to, by day, agent, provider and outcome."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

import attrs
from sqlalchemy import ColumnElement, RowMapping, and_, case, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.errors import ErrorCode, Fault, SearchError, shorten
from searchport_platform.metering.ledger import STARTED, UNKNOWN
from searchport_platform.metering.moments import Moment
from searchport_platform.storage.schema import records

__all__ = ["DIMENSIONS", "Question", "Usage", "read", "write_csv"]

DIMENSIONS = ("day", "agent", "provider", "outcome")
_SUMS = ("searches", "vendor_requests", "cost_microusd", "results", "cached")
_LONGEST_DAYS = 400


@attrs.frozen(kw_only=True)
class Question:
    """Which records, and how they are told apart. first, last: UTC days, both included. by: of `DIMENSIONS`, in their order."""

    first: date
    last: date
    by: tuple[str, ...] = DIMENSIONS

    @classmethod
    def parse(cls, first: str | None, last: str | None, by: str | None, today: date) -> Question:
        """From texts; by default this month until today, by every dimension. Raises SearchError with every fault."""
        faults: list[Fault] = []
        ends = _parse_day("$.to", last, today, faults)
        begins = _parse_day("$.from", first, ends.replace(day=1), faults)
        names = [name.strip() for name in by.split(",")] if by else DIMENSIONS
        unknown = [name for name in names if name not in DIMENSIONS]
        if unknown:
            faults.append(Fault("$.by", f"{shorten(unknown[0])} is not one of: {', '.join(DIMENSIONS)}"))
        if not faults and not timedelta(0) <= ends - begins < timedelta(days=_LONGEST_DAYS):
            faults.append(Fault("$.from", f"expected a day up to `to`, at most {_LONGEST_DAYS} days in all"))
        if faults:
            raise SearchError(ErrorCode.VALIDATION_ERROR, faults=faults)
        return cls(first=begins, last=ends, by=tuple(name for name in DIMENSIONS if name in names))


def _parse_day(path: str, text: str | None, default: date, faults: list[Fault]) -> date:
    try:
        return default if text is None else datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        faults.append(Fault(path, f"{shorten(text)} is no day such as 2026-11-30"))
        return default


@attrs.frozen(kw_only=True)
class Usage:
    """One line. A dimension that was not asked for is None. cost_microusd: what is not closed counts at its worst case."""

    day: str | None = None
    agent: str | None = None
    provider: str | None = None
    outcome: str | None = None
    searches: int
    vendor_requests: int
    cost_microusd: int
    results: int
    cached: int


def _outcome(moment: Moment) -> ColumnElement[str]:
    is_lost = and_(records.c.outcome == STARTED, records.c.ends_ms < moment.milliseconds)
    return case((is_lost, literal(UNKNOWN)), else_=records.c.outcome)


def _midnight_ms(day: date) -> int:
    return round(datetime.combine(day, time(), UTC).timestamp() * 1_000)


async def read(connection: AsyncConnection, organization: str, question: Question) -> list[Usage]:
    """The lines, sorted. A record that was never closed is `unknown` from its deadline on, `started` before."""
    columns = {"day": records.c.day, "agent": records.c.agent, "provider": records.c.provider, "outcome": _outcome(Moment.now())}
    told = [columns[name].label(f"by_{name}") for name in question.by]
    sums = [
        func.count().label("searches"),
        func.coalesce(func.sum(records.c.vendor_requests), 0).label("vendor_requests"),
        func.sum(func.coalesce(records.c.cost_microusd, records.c.reserved_microusd)).label("cost_microusd"),
        func.coalesce(func.sum(records.c.results), 0).label("results"),
        func.sum(case((records.c.cached, 1), else_=0)).label("cached"),
    ]
    names = [column.name for column in told]
    query = (
        select(*told, *sums)
        .where(
            records.c.organization == organization,
            records.c.started_ms >= _midnight_ms(question.first),
            records.c.started_ms < _midnight_ms(question.last + timedelta(days=1)),
        )
        .group_by(*names)
        .order_by(*names)
    )
    rows = (await connection.execute(query)).mappings()
    return [_read_row(row, question.by) for row in rows]


def _read_row(row: RowMapping, by: Sequence[str]) -> Usage:
    told = {name: str(row[f"by_{name}"]) for name in by}
    sums = {name: int(row[name]) for name in _SUMS}  # of whole numbers, yet decimals on some databases
    return Usage(
        day=told.get("day"),
        agent=told.get("agent"),
        provider=told.get("provider"),
        outcome=told.get("outcome"),
        searches=sums["searches"],
        vendor_requests=sums["vendor_requests"],
        cost_microusd=sums["cost_microusd"],
        results=sums["results"],
        cached=sums["cached"],
    )


def write_csv(lines: Sequence[Usage], names: dict[str, str]) -> str:
    """The lines as CSV (RFC 4180). names: field -> heading, in order."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names.values())
    writer.writerows([getattr(line, name) for name in names] for line in lines)
    return text.getvalue()
