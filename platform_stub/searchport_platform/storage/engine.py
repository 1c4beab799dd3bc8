"""Opening the database: its engine, and what every connection of it promises."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from searchport_platform.storage.migrate import migrate
from searchport_platform.storage.transactions import LONGEST_SECONDS, WAIT_MS, WRITES, transaction
from searchport_platform.storage.urls import DEFAULT_URL, DatabaseUrlError, is_sqlite, parse_url, read_tls, sqlite_file

__all__ = ["DEFAULT_URL", "DatabaseUrlError", "migrate", "open_engine", "parse_url", "sqlite_file", "transaction"]

POOL_SIZE, POOL_OVERFLOW = 4, 6
"""Connections of a process to PostgreSQL, kept and at most in all 10: one that writes, and those of calls whose token is read.

The usual server allows 100 (`max_connections`), so that nine processes fit.
"""

_POOL_AGE_SECONDS = 900
"""Older connections are made anew: what stands between us and the server may forget them without telling."""

_IDLE_SECONDS = 10
"""A process that stops within a transaction, whatever stopped it, keeps others from its rows no longer."""


@asynccontextmanager
async def open_engine(url: URL) -> AsyncIterator[AsyncEngine]:
    """An engine, closed at the end. Raises DatabaseUrlError for a folder that is missing, before any file is made.

    An SQLite URL without a path is a database of its own in a temporary folder, deleted at the end: one in memory would have a
    single connection, which calls that come at once cannot share.
    """
    if not is_sqlite(url):
        async with _disposed(_open_postgres(url)) as engine:
            yield engine
        return
    with tempfile.TemporaryDirectory(prefix="searchport-") as folder:
        async with _disposed(_open_sqlite(sqlite_file(url) or Path(folder, "searchport.db"))) as engine:
            yield engine


@asynccontextmanager
async def _disposed(engine: AsyncEngine) -> AsyncIterator[AsyncEngine]:
    try:
        yield engine
    finally:
        await engine.dispose()


# SQLite


def _open_sqlite(file: Path) -> AsyncEngine:
    if not file.parent.is_dir():
        raise DatabaseUrlError(f"the folder of the database, {file.parent}, is not there; make it first")
    if not file.exists():
        file.touch(mode=0o600)  # it holds hashes of tokens and sealed keys: the operator's alone
    engine = create_async_engine(URL.create("sqlite+aiosqlite", database=str(file)))
    event.listen(engine.sync_engine, "connect", _set_pragmas)
    event.listen(engine.sync_engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    """SQLite's driver begins a transaction at the first write; what was read before it is then of another moment."""
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get(WRITES) else "BEGIN")


def _set_pragmas(connection: object, _record: object) -> None:
    connection.isolation_level = None  # type: ignore[attr-defined]  # the driver begins nothing of its own: `_begin` does
    cursor = connection.cursor()  # type: ignore[attr-defined]  # a DB-API connection, which has no common type
    # secure_delete: a deleted organization's rows must not linger in free pages.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON", f"busy_timeout={WAIT_MS}"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


# PostgreSQL


def _open_postgres(url: URL) -> AsyncEngine:
    settings = {
        "application_name": "searchport",
        "statement_timeout": f"{LONGEST_SECONDS:.0f}s",
        "lock_timeout": f"{WAIT_MS}ms",
        "idle_in_transaction_session_timeout": f"{_IDLE_SECONDS}s",
    }
    arguments: dict[str, Any] = {"timeout": LONGEST_SECONDS, "server_settings": settings}
    tls = read_tls(url)
    if tls is not None:
        arguments["ssl"] = tls
    engine = create_async_engine(
        url.difference_update_query(["ssl", "sslmode", "sslrootcert"]),
        connect_args=arguments,
        isolation_level="READ COMMITTED",
        pool_size=POOL_SIZE,
        max_overflow=POOL_OVERFLOW,
        pool_timeout=LONGEST_SECONDS,
        pool_recycle=_POOL_AGE_SECONDS,
    )
    event.listen(engine.sync_engine, "checkout", _check_open)
    return engine


def _check_open(connection: Any, _record: object, _proxy: object) -> None:
    """Leaves out what the server has cut, and all that is older: after a restart the next call has a fresh connection.

    The driver knows it without asking, so that this costs no round trip, as `pool_pre_ping` does three.
    """
    if connection.driver_connection.is_closed():
        raise InvalidatePoolError("the server has closed the connection")
