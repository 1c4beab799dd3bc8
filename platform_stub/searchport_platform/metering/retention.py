"""Retention: records of searches are deleted once they are older than the operator keeps them; caps and months stay."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from searchport.errors import SearchError
from searchport_platform.metering.moments import Moment
from searchport_platform.storage.schema import organizations, records
from searchport_platform.storage.transactions import lock_platform, transaction

__all__ = ["BATCH", "RECORD_DAYS", "delete_old", "keep_records"]

RECORD_DAYS = 400
"""As far back as usage can be asked for: a year, and the month before it to compare with."""

BATCH = 500
"""Records a transaction: few enough that searches hardly wait for it."""

INTERVAL_SECONDS = 3_600.0
PAUSE_SECONDS = 0.05
"""Between transactions, so that whoever waits to write comes first."""

_DAY_MS = 86_400_000

_log = structlog.get_logger("searchport.metering")


@asynccontextmanager
async def keep_records(engine: AsyncEngine, days: int) -> AsyncIterator[None]:
    """Deletes, while the block runs, what is older than so many days: at its beginning, then every hour. 0: deletes nothing."""
    if not days:
        yield
        return
    task = asyncio.create_task(_run(engine, days), name="searchport retention")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _run(engine: AsyncEngine, days: int) -> None:
    while True:
        try:
            deleted = await delete_old(engine, days)
        except SearchError:  # the database is away, which is logged; what is old will not be younger in an hour
            deleted = 0
        if deleted:
            _log.info("old records were deleted", records=deleted, older_than_days=days)
        await asyncio.sleep(INTERVAL_SECONDS)


async def delete_old(engine: AsyncEngine, days: int) -> int:
    """Deletes records that began more than so many days ago, `BATCH` a transaction; gives how many.

    A record of an age that is deleted ended long ago: no call lasts a minute. Raises SearchError where the database is away.
    """
    before_ms = Moment.now().milliseconds - days * _DAY_MS
    async with transaction(engine) as connection:
        ids = [row[0] for row in await connection.execute(select(organizations.c.id).order_by(organizations.c.id))]
    total = 0
    for organization in ids:
        while await _has_old(engine, organization, before_ms):
            async with transaction(engine, writes=True) as connection:
                await lock_platform(connection)  # of several processes, one deletes
                total += await _delete_some(connection, organization, before_ms)
            await asyncio.sleep(PAUSE_SECONDS)
    return total


async def _has_old(engine: AsyncEngine, organization: str, before_ms: int) -> bool:
    """Asked without the lock to write, since nearly always there is nothing."""
    query = select(records.c.id).where(records.c.organization == organization, records.c.started_ms < before_ms).limit(1)
    async with transaction(engine) as connection:
        return (await connection.execute(query)).first() is not None


async def _delete_some(connection: AsyncConnection, organization: str, before_ms: int) -> int:
    where = (records.c.organization == organization, records.c.started_ms < before_ms)
    oldest = select(records.c.id).where(*where).order_by(records.c.started_ms).limit(BATCH)
    done = await connection.execute(delete(records).where(records.c.organization == organization, records.c.id.in_(oldest)))
    return done.rowcount
