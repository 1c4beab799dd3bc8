"""Bringing the schema to the newest revision; of several processes that start at once, one does it."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine

from searchport_platform.storage.transactions import FAILURES, WRITES, report
from searchport_platform.storage.urls import DatabaseUrlError

__all__ = ["NewerSchemaError", "configure", "migrate"]

_LOCK = 0x5EA2C5
"""Of `pg_advisory_xact_lock`: held by whoever migrates."""

_TURN_SECONDS = 300
"""How long a process that starts waits for another one's migration."""

_TABLE_SECONDS = 10
"""How long a migration waits for a table that is in use: searches that come meanwhile wait behind it."""


class NewerSchemaError(DatabaseUrlError):
    """A database that a newer version has brought up, which this one would spoil."""


async def migrate(engine: AsyncEngine) -> None:
    """Brings the schema to the newest revision, all of it or nothing; does nothing where it is there.

    Raises NewerSchemaError, and SearchError (`storage_unavailable`) where the database does not answer.
    """
    try:
        async with engine.execution_options(**{WRITES: True}).begin() as connection:
            if connection.dialect.name != "sqlite":
                for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
                    await connection.execute(text(f"SET LOCAL {name} = 0"))
                await connection.execute(text(f"SET LOCAL lock_timeout = '{_TURN_SECONDS}s'"))
                await connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
                await connection.execute(text(f"SET LOCAL lock_timeout = '{_TABLE_SECONDS}s'"))
            await connection.run_sync(_upgrade)
    except FAILURES as error:
        raise report(error) from None


def _upgrade(connection: Connection) -> None:
    config = configure(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    unknown = sorted(set(MigrationContext.configure(connection).get_current_heads()) - known)
    if unknown:
        raise NewerSchemaError(
            f"the database is of a newer version (schema {unknown[0]!r}) than this one knows (up to {max(known)!r}); "
            "run that version, or restore a backup made before it"
        )
    command.upgrade(config, "head")


def configure(connection: Connection) -> Config:
    """Alembic's configuration for this connection."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    return config
