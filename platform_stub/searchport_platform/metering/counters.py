"""Counting in the database: reading numbers under a lock, and adding to each only where it still is what was read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import TypeVar

from sqlalchemy import Executable, Insert, Table, select, true, tuple_
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport_platform.storage.asked import Asked, matches

__all__ = ["Change", "CounterMovedError", "add", "read"]

K = TypeVar("K", bound=tuple[str, ...])
"""A key: a value for each column of the table's primary key, in its order; the first is the organization."""

Change = tuple[int, int]
"""What was read of a counter, and what is added to it."""


class CounterMovedError(RuntimeError):
    """Another transaction made the row after it was read as missing; nothing was written, so do it all again."""


async def read(connection: AsyncConnection, table: Table, column: str, keys: Collection[K], *, lock: bool = True) -> dict[K, int]:
    """The number in `column` of the row of each key, 0 where there is none. lock: keep others from changing them until commit.

    On SQLite the lock is the transaction's own (`BEGIN IMMEDIATE`); on PostgreSQL the organization's row is locked before.
    """
    if not keys:
        return {}
    dialect = connection.dialect.name
    result = await connection.execute(_reading(table, column, dialect, lock), _key(table).values(dialect, sorted(keys)))
    found = {tuple(key): int(number) for *key, number in result}
    return {key: found.get(key, 0) for key in keys}


async def add(connection: AsyncConnection, table: Table, column: str, changes: Mapping[K, Change]) -> None:
    """Adds to each number that was seen, making the row where it is missing. Raises CounterMovedError where one is another."""
    if not changes:
        return
    dialect = connection.dialect.name
    before, after = _counted(table, column)
    rows = sorted(changes.items())
    values = before.values(dialect, [(*key, seen) for key, (seen, _) in rows])
    values |= after.values(dialect, [(*key, sum(change)) for key, change in rows])
    if (await connection.execute(_adding(table, column, dialect), values)).rowcount != len(changes):
        raise CounterMovedError(table.name)


def _names(table: Table) -> list[str]:
    return list(table.primary_key.columns.keys())


def _key(table: Table) -> Asked:
    return Asked(dict.fromkeys(_names(table), str))


def _counted(table: Table, column: str) -> tuple[Asked, Asked]:
    """Rows as they are to be before, and after."""
    columns = dict.fromkeys(_names(table), str) | {column: int}
    return Asked(columns, "asked_before"), Asked(columns, "asked_after")


@cache
def _reading(table: Table, column: str, dialect: str, lock: bool) -> Executable:
    rows = _key(table).table(dialect)
    columns = [table.c[name] for name in _names(table)]
    query = select(*columns, table.c[column]).join_from(rows, table, matches(table, rows, _names(table))).order_by(*columns)
    return query.with_for_update(of=table) if lock else query


@cache
def _adding(table: Table, column: str, dialect: str) -> Insert:
    insert = sqlite.insert if dialect == "sqlite" else postgresql.insert
    before, after = (rows.table(dialect) for rows in _counted(table, column))
    names = _names(table)
    # WHERE true: without it SQLite reads ON CONFLICT as the ON of a join (https://www.sqlite.org/lang_upsert.html, 2.2).
    statement = insert(table).from_select([*names, column], select(after).where(true()))
    return statement.on_conflict_do_update(
        index_elements=names,
        set_={column: statement.excluded[column]},
        where=tuple_(*(table.c[name] for name in (*names, column))).in_(select(before)),
    )
