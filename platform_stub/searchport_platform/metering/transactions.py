"""A transaction that will write: on SQLite it takes the write lock first, and waits for it only as long as somebody wants it."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncTransaction

from searchport_platform.storage.engine import WRITES

__all__ = ["NobodyWaitsError", "write_transaction"]

LOCK_WAIT_MS = 40
"""SQLite's own wait, which heeds no deadline; after it we look whether anybody still waits."""

_PAUSE_SECONDS = 0.005
_TIMEOUT = "metering.busy_timeout"


class NobodyWaitsError(RuntimeError):
    """The lock did not come while somebody wanted it; nothing was written."""


@asynccontextmanager
async def write_transaction(engine: AsyncEngine, *, is_wanted: Callable[[], bool]) -> AsyncIterator[AsyncConnection]:
    """A transaction, committed at the end, rolled back on an exception. Raises NobodyWaitsError, and what the driver raises."""
    async with engine.execution_options(**{WRITES: True}).connect() as connection:
        if connection.dialect.name != "sqlite":
            async with connection.begin():
                yield connection
            return
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
        await asyncio.sleep(random.uniform(0, _PAUSE_SECONDS))  # noqa: S311  # processes must not try in step


def _is_locked(error: OperationalError) -> bool:
    """SQLITE_BUSY, in any of its forms. Source: https://www.sqlite.org/rescode.html#busy."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    return code is not None and code & 0xFF == 5
