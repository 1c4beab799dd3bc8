"""A test's database, looked at from outside: the same questions whichever kind it is."""

import re
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Protocol

import asyncpg
import attrs
from postgres_server import ROLE, PostgresServer

from searchport_platform.storage.schema import METADATA

KINDS = ("sqlite", "postgresql")
SECRET_KEY = "c2VjcmV0IGtleSBvZiB0aGUgdGVzdHMsIDMyIGJ5dGU="


class Store(Protocol):
    """url: what an operator writes. secret_keys: SEARCHPORT_SECRET_KEYS, empty where a file serves.

    file: SQLite's; beside it a test may keep files of its own, whichever kind this is.
    """

    kind: str
    file: Path

    @property
    def url(self) -> str: ...

    @property
    def secret_keys(self) -> str: ...

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Runs a statement behind the platform's back; `?` stands for a value."""

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table."""

    def bytes_on_disk(self) -> bytes:
        """Everything that the database keeps; not the sealing key."""

    def hold(self, organization: str) -> Any:
        """Keeps others from writing of this organization, as a process that writes and does not end; closing it lets go."""


@attrs.define(kw_only=True)
class SqliteStore:
    """A file, a copy of a migrated one."""

    file: Path
    kind: str = "sqlite"
    secret_keys: str = ""

    @property
    def url(self) -> str:
        return f"sqlite:///{self.file}"

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.file)) as connection, connection:
            return connection.execute(statement, values).fetchall()

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        names = [row[0] for row in self.sql("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {name: self.sql(f'SELECT * FROM "{name}" ORDER BY rowid') for name in names}  # noqa: S608

    def bytes_on_disk(self) -> bytes:
        files = [file for file in self.file.parent.glob(f"{self.file.name}*") if file.suffix != ".key"]
        return b"\n".join(file.read_bytes() for file in sorted(files))

    def hold(self, organization: str) -> Any:  # noqa: ARG002  # SQLite's lock is on everything
        connection = sqlite3.connect(self.file, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        return closing(connection)

    def close(self) -> None:
        """Its folder is the test's own."""


@attrs.define(kw_only=True)
class _Held:
    """A transaction of the test's own that holds a row."""

    store: Any
    connection: Any

    def __enter__(self) -> None:
        """Held since it was made."""

    def __exit__(self, *_: object) -> None:
        self.store.server.thread.run(self.connection.close())


@attrs.define(kw_only=True)
class PostgresStore:
    """A database of the private server, a copy of a migrated one."""

    server: PostgresServer
    name: str
    file: Path
    kind: str = "postgresql"
    secret_keys: str = SECRET_KEY
    reusable: bool = True
    _connection: Any = None

    @property
    def url(self) -> str:
        return self.server.url(self.name)

    async def _connect(self) -> Any:
        place = {"host": str(self.server.folder), "user": ROLE, "database": self.name}
        return await asyncpg.connect(**place, timeout=10, statement_cache_size=0)

    async def _fetch(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._connect()
        return [tuple(row) for row in await self._connection.fetch(statement, *values)]

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        numbers = iter(range(1, len(values) + 1))
        written = re.sub(r"\?", lambda _: f"${next(numbers)}", statement)
        return list(self.server.thread.run(self._fetch(written, values)))

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1"
        return {name: sorted(self.sql(f'SELECT * FROM "{name}"'), key=repr) for (name,) in self.sql(query)}  # noqa: S608

    def bytes_on_disk(self) -> bytes:
        """As its tables are told, since the server's files hold those of all tests."""
        lines = [row for rows in self.rows().values() for row in rows]
        told = [[cell if isinstance(cell, bytes) else str(cell).encode() for cell in row] for row in lines]
        return b"\n".join(b"\t".join(row) for row in told)

    def hold(self, organization: str) -> Any:
        async def begin() -> Any:
            connection = await self._connect()
            await connection.execute("BEGIN")
            await connection.fetch("SELECT id FROM organizations WHERE id = $1 FOR UPDATE", organization)
            return connection

        return _Held(store=self, connection=self.server.thread.run(begin()))

    def close(self) -> None:
        """Empties it for the next test, which costs a tenth of a new database; one that was changed is taken away."""

        async def clear() -> bool:
            names = ", ".join(f"'{table.name}'" for table in METADATA.sorted_tables)
            there = f"SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public' AND table_name IN ({names})"  # noqa: S608
            others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            if await self._fetch(there, ()) != [(len(METADATA.tables),)] or await self._fetch(others, ()) != [(0,)]:
                return False
            empty = "; ".join(f'DELETE FROM "{table.name}"' for table in reversed(METADATA.sorted_tables))  # noqa: S608
            await self._connection.execute(f"{empty}; ALTER SEQUENCE audit_id_seq RESTART")
            return True

        async def leave() -> None:
            if self._connection is not None:
                await self._connection.close()

        is_clean = False
        with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            is_clean = self.reusable and self.server.thread.run(clear())
            self.server.thread.run(leave())
        if is_clean:
            self.server.spare.append(self.name)
        else:
            self.server.drop_database(self.name)


def copy_sqlite(migrated: Path, file: Path) -> SqliteStore:
    """The test's own copy."""
    return SqliteStore(file=Path(shutil.copy(migrated, file)))
