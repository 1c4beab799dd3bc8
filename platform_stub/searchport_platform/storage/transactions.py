"""Transactions: all that one reads is of one moment, and nobody waits for one longer than is of use to him.

SQLite: one writer at a time takes the lock before it reads (`BEGIN IMMEDIATE`). PostgreSQL: a reader has a snapshot (REPEATABLE
READ, which cannot fail where nothing is written); a writer reads what is committed (READ COMMITTED) of an organization whose row
it has locked. Whoever changes an organization, or counts its searches, locks that row first, and several in sorted order: nobody
waits in a circle, and no transaction fails because another came before it.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncTransaction

from searchport.errors import ErrorCode, SearchError
from searchport_platform.storage.schema import organizations

__all__ = [
    "FAILURES",
    "WRITES",
    "NobodyWaitsError",
    "hold_organizations",
    "is_away",
    "is_collision",
    "is_cut",
    "lock_platform",
    "name_failure",
    "pause",
    "report",
    "transaction",
    "write_transaction",
]

WRITES = "searchport_writes"
"""Execution option of an SQLite connection whose transaction takes the write lock before it reads."""

WAIT_MS = 5_000
"""How long an administrator's change waits for its turn."""

LOCK_WAIT_MS = 40
"""SQLite's own wait, which heeds no deadline; after it we look whether anybody still waits."""

LONGEST_SECONDS = 10.0
"""How long a transaction on PostgreSQL may take in all: the wait for a connection, for the server, and for every lock."""

_PAUSE_SECONDS = 0.005
_TIMEOUT = "storage.busy_timeout"
_PLATFORM_LOCK = 0x5EA2C4
"""Of `pg_advisory_xact_lock`: held by whoever changes what belongs to no organization."""

_AWAY = ("08", "25P03", "25006", "28", "3D", "42P01", "53", "55P03", "57", "58")
"""SQLSTATEs, or their beginnings, of a server that is not there, not ready, not ours, full, or that broke off.

Source: https://www.postgresql.org/docs/current/errcodes-appendix.html (read 2026-11-30).
"""

FAILURES = (DBAPIError, PoolTimeoutError, OSError)
"""What a transaction fails with where the database fails it; a server that is not there is an OSError."""

_COLLISIONS = ("40001", "40P01")
_READS = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}

_log = structlog.get_logger("searchport.storage")


class NobodyWaitsError(RuntimeError):
    """The lock did not come while somebody wanted it; nothing was written."""


@asynccontextmanager
async def transaction(engine: AsyncEngine, *, writes: bool = False) -> AsyncIterator[AsyncConnection]:
    """A transaction, committed at the end: all that it reads is of one moment.

    writes: True where it changes anything; what it read then still holds on SQLite, and on PostgreSQL of what it has locked.
    Raises SearchError (`storage_unavailable`) where the database does not answer.
    """
    try:
        async with _bounded(engine), _choose(engine, writes=writes).begin() as connection:
            yield connection
    except FAILURES as error:
        raise report(error) from None


@asynccontextmanager
async def write_transaction(engine: AsyncEngine, *, is_wanted: Callable[[], bool]) -> AsyncIterator[AsyncConnection]:
    """The same for a writer that others wait for. Raises NobodyWaitsError, and what the driver raises."""
    if engine.dialect.name != "sqlite":
        async with _bounded(engine), engine.begin() as connection:
            yield connection
        return
    async with _choose(engine, writes=True).connect() as connection:
        usual_ms = await _shorten_wait(connection)
        try:
            begun = await _begin(connection, is_wanted)
            try:
                yield connection
            except BaseException:
                with suppress(DBAPIError):
                    await begun.rollback()
                raise
            await begun.commit()
        finally:
            with suppress(DBAPIError, sqlite3.Error):
                await _pragma(connection, f"busy_timeout={usual_ms}")


def _choose(engine: AsyncEngine, *, writes: bool) -> AsyncEngine:
    if engine.dialect.name == "sqlite":
        return engine.execution_options(**{WRITES: writes})
    return engine if writes else engine.execution_options(**_READS)


def _bounded(engine: AsyncEngine) -> asyncio.Timeout:
    """SQLite bounds its waits itself; a server can fall silent, with everything that it was asked."""
    return asyncio.timeout(None if engine.dialect.name == "sqlite" else LONGEST_SECONDS)


# Locks


async def lock_platform(connection: AsyncConnection) -> None:
    """Waits until nobody else changes what belongs to no organization; on SQLite, whoever writes is alone."""
    if connection.dialect.name != "sqlite":
        await connection.execute(select(func.pg_advisory_xact_lock(_PLATFORM_LOCK)))


async def hold_organizations(connection: AsyncConnection, ids: Collection[str]) -> set[str]:
    """Locks the rows of these organizations until the transaction ends, waiting for none; gives those that another holds.

    An organization that is not there is not among them. On SQLite, whoever writes is alone.
    """
    if connection.dialect.name == "sqlite" or not ids:
        return set()
    query = select(organizations.c.id).where(organizations.c.id.in_(sorted(ids))).order_by(organizations.c.id)
    held = {row[0] for row in await connection.execute(query.with_for_update(key_share=True, skip_locked=True))}
    return {row[0] for row in await connection.execute(query)} - held if len(held) < len(ids) else set()


async def pause() -> None:
    """A moment before trying again; processes must not try in step."""
    await asyncio.sleep(random.uniform(0, _PAUSE_SECONDS))  # noqa: S311  # nothing secret is drawn


async def _shorten_wait(connection: AsyncConnection) -> int:
    """Sets the wait for the lock, and gives the one that was set before, in milliseconds."""
    info = (await connection.get_raw_connection()).info
    if _TIMEOUT not in info:
        info[_TIMEOUT] = await _pragma(connection, "busy_timeout")
    await _pragma(connection, f"busy_timeout={LOCK_WAIT_MS}")
    return int(info[_TIMEOUT])


async def _pragma(connection: AsyncConnection, words: str) -> int:
    """Asks the driver itself: what goes through SQLAlchemy begins a transaction."""
    driver: Any = (await connection.get_raw_connection()).driver_connection
    async with driver.execute(f"PRAGMA {words}") as cursor:
        return int((await cursor.fetchone())[0])


async def _begin(connection: AsyncConnection, is_wanted: Callable[[], bool]) -> AsyncTransaction:
    while True:
        try:
            return await connection.begin()
        except OperationalError as error:
            if not _is_locked(error):
                raise
        if not is_wanted():
            raise NobodyWaitsError
        await pause()


# Failures


def is_away(error: BaseException) -> bool:
    """True where the database is to blame and not what it was asked: it is gone, silent, full, or lost its tables."""
    if isinstance(error, PoolTimeoutError | OSError):
        return True
    if not isinstance(error, DBAPIError):
        return False
    code = getattr(error.orig, "sqlstate", None)
    if code is None:
        return error.connection_invalidated or (_is_sqlite(error) and isinstance(error, OperationalError | InterfaceError))
    return error.connection_invalidated or str(code).startswith(_AWAY)


def is_cut(error: BaseException) -> bool:
    """True where the connection was lost and another may be had at once, as after a restart."""
    return isinstance(error, DBAPIError) and (
        error.connection_invalidated or str(getattr(error.orig, "sqlstate", None)).startswith(("08", "57P01"))
    )


def is_collision(error: BaseException) -> bool:
    """True where another transaction came before it, so that all of it is to be done again."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in _COLLISIONS


def report(error: BaseException) -> SearchError:
    """Logs a failure of the database, and gives what the caller is told."""
    _log.error("the database did not answer", exception=name_failure(error))
    return SearchError(ErrorCode.STORAGE_UNAVAILABLE)


def name_failure(error: BaseException) -> str:
    """The class of the driver's own exception; never its text, which holds the statement and its values."""
    origin = getattr(error, "orig", None) or error
    return type(origin.__cause__ or origin).__name__


def _is_sqlite(error: DBAPIError) -> bool:
    return isinstance(error.orig, sqlite3.Error)


def _is_locked(error: OperationalError) -> bool:
    """SQLITE_BUSY, in any of its forms. Source: https://www.sqlite.org/rescode.html#busy."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    return code is not None and code & 0xFF == 5
