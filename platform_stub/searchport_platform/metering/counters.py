"""Counting in the database: reading a number under a lock, and adding to it only where it still is what was read."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Table, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["CounterMovedError", "add", "read"]


class CounterMovedError(RuntimeError):
    """Another transaction made the row after it was read as missing; nothing was written, so do it all again."""


async def read(connection: AsyncConnection, table: Table, key: Mapping[str, str], column: str, *, lock: bool = True) -> int:
    """The number in `column` of the row with this key, 0 where there is none. lock: keep others from changing it until commit.

    On SQLite the lock is the transaction's own (`BEGIN IMMEDIATE`); on PostgreSQL the organization's row is locked before.
    """
    query = select(table.c[column]).where(*(table.c[name] == part for name, part in key.items()))
    row = (await connection.execute(query.with_for_update() if lock else query)).first()
    return 0 if row is None else int(row[0])


async def add(connection: AsyncConnection, table: Table, key: Mapping[str, str], column: str, *, seen: int, amount: int) -> None:
    """Adds to the number that was `seen`, making the row where it is missing. Raises CounterMovedError where it is another."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = insert(table).values({**key, column: seen + amount})
    statement = statement.on_conflict_do_update(
        index_elements=list(key), set_={column: seen + amount}, where=table.c[column] == seen
    )
    if (await connection.execute(statement)).rowcount != 1:
        raise CounterMovedError(table.name)
