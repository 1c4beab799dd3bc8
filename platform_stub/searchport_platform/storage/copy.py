"""Moving to another database: `python -m searchport_platform.storage.copy FROM_URL TO_URL`, with no platform running on either.

What was sealed stays sealed: the other database needs the same secret keys.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

from sqlalchemy import Table, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.errors import SearchError
from searchport_platform.storage.engine import open_engine
from searchport_platform.storage.migrate import migrate
from searchport_platform.storage.schema import METADATA, audit
from searchport_platform.storage.transactions import FAILURES, report
from searchport_platform.storage.urls import DatabaseUrlError, parse_url, sqlite_file

__all__ = ["copy_database", "main"]

ROWS = 500
_SLOW_MS = 3_600_000


async def copy_database(source: str, target: str, on_table: Callable[[str, int], None] = lambda _table, _rows: None) -> None:
    """Copies every row, all or nothing; both are brought to the newest schema. on_table: told of each table and its rows.

    Raises DatabaseUrlError where the source's file is not there and where the target holds anything, SearchError
    (`storage_unavailable`) where either is away or does not take it.
    """
    urls = parse_url(source), parse_url(target)
    file = sqlite_file(urls[0])
    if file is not None and not file.is_file():
        raise DatabaseUrlError(f"the database to copy from, {file}, is not there")
    async with open_engine(urls[0]) as old, open_engine(urls[1]) as new:
        await migrate(old)
        await migrate(new)
        try:
            async with old.connect() as reading, new.begin() as writing:
                await _copy_all(reading, writing, on_table)
        except FAILURES as error:
            raise report(error) from None


async def _copy_all(reading: AsyncConnection, writing: AsyncConnection, on_table: Callable[[str, int], None]) -> None:
    for connection in (reading, writing):
        await _take_time(connection)
    for table in METADATA.sorted_tables:
        if (await writing.execute(select(func.count()).select_from(table))).scalar_one():
            raise DatabaseUrlError(f"the database to copy to is not empty: it has rows in {table.name!r}; name a new one")
    for table in METADATA.sorted_tables:
        on_table(table.name, await _copy(table, reading, writing))
    if writing.dialect.name != "sqlite":
        await _count_on(writing)


async def _take_time(connection: AsyncConnection) -> None:
    """A copy takes longer than a call."""
    if connection.dialect.name != "sqlite":
        for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
            await connection.execute(text(f"SET LOCAL {name} = {_SLOW_MS}"))


async def _copy(table: Table, reading: AsyncConnection, writing: AsyncConnection) -> int:
    copied = 0
    rows = await reading.stream(select(table))
    async for some in rows.mappings().partitions(ROWS):
        await writing.execute(insert(table), [dict(row) for row in some])
        copied += len(some)
    return copied


async def _count_on(connection: AsyncConnection) -> None:
    """PostgreSQL numbers new audit lines by a sequence, which does not see numbers that are given."""
    last = select(func.coalesce(func.max(audit.c.id), 0) + 1).scalar_subquery()
    await connection.execute(select(func.setval("audit_id_seq", last, False)))


def main(arguments: list[str]) -> int:
    """The command: its exit code."""
    if len(arguments) != 2:
        sys.stderr.write("usage: python -m searchport_platform.storage.copy FROM_URL TO_URL\n")
        return 2

    def tell(table: str, rows: int) -> None:
        sys.stdout.write(f"{table}: {rows:,}\n")

    try:
        asyncio.run(copy_database(arguments[0], arguments[1], tell))
    except (DatabaseUrlError, SearchError) as error:
        sys.stderr.write(f"searchport: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
