"""Opening the database: its engine, its pragmas, its migrations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import StaticPool

from searchport.errors import ErrorCode, SearchError

__all__ = ["DEFAULT_URL", "WRITES", "DatabaseUrlError", "migrate", "open_engine", "parse_url", "sqlite_file", "transaction"]

DEFAULT_URL = "sqlite:///searchport.db"
_BUSY_MS = 5_000
WRITES = "searchport_writes"
"""Execution option of a connection whose transaction waits for its turn to write before it reads."""

_log = structlog.get_logger("searchport.storage")


class DatabaseUrlError(ValueError):
    """A database URL that cannot be used; its text shows no password."""


def parse_url(text: str) -> URL:
    """A database URL with its asynchronous driver. Raises DatabaseUrlError, which never shows a password."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # ValueError: a port that is no number; its text may hold a part of the password
        raise DatabaseUrlError(f"the database URL cannot be read; write it like {DEFAULT_URL}") from None
    if url.get_backend_name() == "sqlite":
        if url.query or "\0" in (url.database or ""):
            raise DatabaseUrlError(f"an SQLite URL is a path alone; write it like {DEFAULT_URL}")
        return url.set(drivername="sqlite+aiosqlite")
    raise DatabaseUrlError(f"database {url.get_backend_name()!r} is not supported; write the URL like {DEFAULT_URL}")


def sqlite_file(url: URL) -> Path | None:
    """The file of an SQLite database; None for one in memory."""
    return Path(url.database) if url.database and url.database != ":memory:" else None


@asynccontextmanager
async def open_engine(url: URL) -> AsyncIterator[AsyncEngine]:
    """An engine, closed at the end. A folder that is missing raises DatabaseUrlError, before any file is made."""
    file = sqlite_file(url)
    if file is not None and not file.parent.is_dir():
        raise DatabaseUrlError(f"the folder of the database, {file.parent}, is not there; make it first")
    if file is not None and not file.exists():
        file.touch(mode=0o600)  # it holds hashes of tokens and sealed keys: the operator's alone
    engine = create_async_engine(url) if file is not None else create_async_engine(url, poolclass=StaticPool)
    event.listen(engine.sync_engine, "connect", _set_pragmas)
    event.listen(engine.sync_engine, "begin", _begin)
    try:
        yield engine
    finally:
        await engine.dispose()


@asynccontextmanager
async def transaction(engine: AsyncEngine, *, writes: bool = False) -> AsyncIterator[AsyncConnection]:
    """A transaction, committed at the end: all that it reads is of one moment.

    writes: True where it changes anything: it then waits for its turn before it reads, so that what it read still holds.
    Raises SearchError (`storage_unavailable`) where the database does not answer.
    """
    try:
        async with engine.execution_options(**{WRITES: writes}).begin() as connection:
            yield connection
    except (DBAPIError, PoolTimeoutError) as error:
        # Its text holds the statement and its parameters.
        _log.error("the database did not answer", exception=type(getattr(error, "orig", None) or error).__name__)
        raise SearchError(ErrorCode.STORAGE_UNAVAILABLE) from None


def _begin(connection: Connection) -> None:
    """SQLite's driver begins a transaction at the first write; what was read before it is then of another moment."""
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get(WRITES) else "BEGIN")


def _set_pragmas(connection: object, _record: object) -> None:
    connection.isolation_level = None  # type: ignore[attr-defined]  # the driver begins nothing of its own: `_begin` does
    cursor = connection.cursor()  # type: ignore[attr-defined]  # a DB-API connection, which has no common type
    # secure_delete: a deleted organization's rows must not linger in free pages.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON", f"busy_timeout={_BUSY_MS}"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


async def migrate(engine: AsyncEngine) -> None:
    """Brings the schema to the newest revision; does nothing where it is there."""
    async with transaction(engine, writes=True) as connection:  # of two processes that start, one migrates
        await connection.run_sync(_upgrade)


def _upgrade(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
