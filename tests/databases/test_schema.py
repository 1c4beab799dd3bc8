"""The schema on every database: the same as its migrations make, brought up from every revision with all that it holds."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect
from stores import PostgresStore, SqliteStore

from searchport_platform.metering.usage import Question
from searchport_platform.storage.engine import migrate, open_engine, parse_url
from searchport_platform.storage.migrate import configure
from searchport_platform.storage.schema import METADATA
from searchport_platform.tenancy.selections import Choice, Selection


def list_revisions() -> list[str]:
    with create_engine("sqlite://").connect() as connection:
        return [script.revision for script in reversed(list(ScriptDirectory.from_config(configure(connection)).walk_revisions()))]


REVISIONS = list_revisions()

HELD: dict[str, list[str]] = {
    "0001": [
        """INSERT INTO organizations (id, name, created_at, allowed_providers, allowed_hosts, allow_private_addresses,
                                      result_hosts)
           VALUES ('ours', 'Ours', '2026-11-01T00:00:00Z', NULL, '[]', false, '[]')""",
        """INSERT INTO agents (organization, id, tools, credentials, allowed_hosts, allow_private_addresses)
           VALUES ('ours', 'default', '["web.*"]', '["search.apiKey"]', '["10.0.0.7"]', false)""",
        """INSERT INTO selections (organization, provider, model, settings, fallbacks, default_results, max_results, deadline_ms)
           VALUES ('ours', 'acme', NULL, '{}', '[{"provider": "other", "model": null, "settings": {"a": 1}}]', 7, 40, 9000)""",
        """INSERT INTO tokens (id, organization, agent, name, scopes, hash, created_at, expires_at, last_used_day)
           VALUES ('0123456789abcdef', 'ours', NULL, 'laptop', '["search"]', 'hash', '2026-11-01T00:00:00Z', NULL, NULL)""",
        """INSERT INTO credentials (organization, provider, name, key_id, nonce, sealed, last_four, generation, stored_at)
           VALUES ('ours', 'other', 'search.apiKey', 'key', 'nonce', 'sealed', '0001', 3, '2026-11-01T00:00:00Z')""",
        """INSERT INTO operator_settings (organization, provider, settings) VALUES ('ours', 'other', '{"b": 2}')""",
        "INSERT INTO switches (provider, reason, since) VALUES ('other', 'a leak', '2026-11-01T00:00:00Z')",
        """INSERT INTO audit (organization, at, actor, action, subject, details)
           VALUES ('ours', '2026-11-01T00:00:00Z', 'command line', 'token.issue', 'laptop', '{}')""",
    ],
    "0002": [
        "UPDATE organizations SET monthly_budget_microusd = 25000000, searches_per_minute = 30, concurrency = 5",
        "UPDATE agents SET max_searches_per_day = 12",
        "UPDATE selections SET cache_seconds = 60",
        "INSERT INTO agent_days (organization, agent, day, searches) VALUES ('ours', 'default', '2026-11-29', 4)",
        "INSERT INTO organization_months (organization, month, spent_microusd) VALUES ('ours', '2026-11', 40000)",
        """INSERT INTO records (organization, id, agent, provider, day, started_ms, ends_ms, outcome, reserved_microusd,
                                cost_microusd, vendor_requests, duration_ms, results, cached)
           VALUES ('ours', 'r1', 'default', 'acme', '2026-11-29', 1795953600000, 1795953615000, 'ok', 10000,
                   5000, 1, 20, 3, false)""",
    ],
}
"""Revision -> what a platform of that revision has written, over what those before it have; a new revision adds its own."""


@pytest.fixture(params=["sqlite", "postgresql"])
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """A database without any table."""
    if request.param == "sqlite":
        yield SqliteStore(file=tmp_path / "searchport.db")
        return
    server = request.getfixturevalue("postgres")
    store = PostgresStore(server=server, name=server.make_database(), file=tmp_path / "none", reusable=False)
    yield store
    store.close()


async def alter(store: Any, work: Callable[[Connection], Any]) -> Any:
    """Runs something on the database as Alembic does."""
    async with open_engine(parse_url(store.url)) as engine, engine.begin() as connection:
        return await connection.run_sync(work)


def upgrade_to(revision: str) -> Callable[[Connection], None]:
    def run(connection: Connection) -> None:
        command.upgrade(configure(connection), revision)

    return run


def hold(revision: str) -> Callable[[Connection], None]:
    """Makes a database of a revision, with everything that its platform may have written."""

    def run(connection: Connection) -> None:
        for each in REVISIONS[: REVISIONS.index(revision) + 1]:
            command.upgrade(configure(connection), each)
            for statement in HELD[each]:
                connection.exec_driver_sql(statement)

    return run


def read_cells(store: Any) -> set[tuple[str, str, str]]:
    """(table, column, value) of everything in it."""

    def names(connection: Connection) -> dict[str, list[str]]:
        look = inspect(connection)
        return {table: [column["name"] for column in look.get_columns(table)] for table in look.get_table_names()}

    columns = asyncio.run(alter(store, names))
    found = set()
    for table in sorted(set(columns) - {"alembic_version"}):
        quoted = ", ".join(f'"{name}"' for name in columns[table])
        for row in store.sql(f'SELECT {quoted} FROM "{table}"'):  # noqa: S608
            found |= {(table, name, str(cell)) for name, cell in zip(columns[table], row, strict=True)}
    return found


def test_every_revision_says_what_it_held() -> None:
    """A new migration is not tested until its data is written above."""
    assert list(HELD) == REVISIONS


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_database_of_every_revision_is_brought_up_with_all_that_it_holds(
    bare: Any, open_on: Any, search: Any, revision: str
) -> None:
    asyncio.run(alter(bare, hold(revision)))
    before = read_cells(bare)
    asyncio.run(accept(bare, open_on, search))
    assert before - read_cells(bare) == set()


async def accept(store: Any, open_on: Any, search: Any) -> None:
    """What an admin and a caller do; nothing that was there before is changed by it."""
    async with open_on(store) as platform:
        administration = platform.administration()
        (agent,) = await administration.list_agents("ours")
        (token,) = await administration.list_tokens("ours")
        (firm,) = await administration.list_organizations()
        assert (agent.tools, token.name, firm.name) == (("web.*",), "laptop", "Ours")
        assert await search(platform) == "ok"
        selection = await administration.find_selection("ours")
        assert selection is not None
        assert (selection.default_results, selection.max_results, selection.deadline_seconds) == (7, 40, 9)
        await administration.create_organization("theirs", "Theirs")
        await administration.put_selection("theirs", Selection(choice=Choice(provider="acme")))
        question = Question.parse(None, None, "agent", datetime.now(UTC).date())
        (line,) = await administration.read_usage("ours", question)
        assert line.searches >= 1
        assert [change.action for change in await administration.list_changes("ours")] == ["token.issue"]


@pytest.mark.parametrize("revision", REVISIONS[:-1])
def test_the_newest_schema_can_be_taken_back(bare: Any, open_on: Any, search: Any, revision: str) -> None:
    """And brought up again."""
    asyncio.run(alter(bare, hold(revision)))
    before = read_cells(bare)
    asyncio.run(accept(bare, open_on, search))
    asyncio.run(alter(bare, lambda connection: command.downgrade(configure(connection), revision)))
    assert before - read_cells(bare) == set()
    asyncio.run(alter(bare, upgrade_to("head")))


async def test_the_migrations_make_exactly_the_schema(bare: Any) -> None:
    await alter(bare, upgrade_to("head"))

    def differences(connection: Connection) -> list[Any]:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        return list(compare_metadata(context, METADATA))

    assert await alter(bare, differences) == []


async def test_processes_that_start_at_once_on_a_new_database_all_start(bare: Any, open_on: Any) -> None:
    """One migrates, the others wait for it."""

    async def start() -> None:
        async with open_on(bare):
            pass

    await asyncio.gather(*(start() for _ in range(4)))
    assert bare.sql("SELECT version_num FROM alembic_version") == [(REVISIONS[-1],)]


async def test_a_migration_that_fails_changes_nothing(bare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    await alter(bare, hold(REVISIONS[0]))
    before = bare.rows()

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("alembic.op.create_index", fail)
    async with open_engine(parse_url(bare.url)) as engine:
        with pytest.raises(ZeroDivisionError):
            await migrate(engine)
    assert bare.rows() == before
