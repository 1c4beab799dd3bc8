"""The database: its schema, its address, and what a call is told while it is away."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import event

from searchport.errors import SearchError
from searchport.request import SearchRequest
from searchport_platform.platform import Caller, Platform
from searchport_platform.storage.engine import DatabaseUrlError, migrate, open_engine, parse_url
from searchport_platform.storage.schema import METADATA


@pytest.fixture
async def ours(bench: Any) -> Any:
    return await bench.tenant("ours", "acme", keys={"acme": "key-of-ours-acme"})


def files_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


async def test_the_migrations_make_exactly_the_schema(bench: Any) -> None:
    async with bench.platform.engine.connect() as connection:

        def differences(synchronous: Any) -> list[Any]:
            context = MigrationContext.configure(synchronous, opts={"compare_type": True})
            return list(compare_metadata(context, METADATA))

        assert await connection.run_sync(differences) == []


@pytest.mark.only("sqlite", "its constraints are read by pragmas")
async def test_the_migrations_make_the_same_tables_as_the_schema(bench: Any, tmp_path: Path) -> None:
    """Its constraints and their names too, which a comparison by reflection does not see."""
    async with open_engine(parse_url(f"sqlite:///{tmp_path}/other.db")) as engine, engine.begin() as connection:
        await connection.run_sync(METADATA.create_all)

    def shape(file: Path) -> dict[str, list[Any]]:
        with closing(sqlite3.connect(file)) as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            kept = sorted(set(names) - {"alembic_version", "sqlite_sequence"})
            ask = ("table_info", "foreign_key_list", "index_list")
            return {
                f"{name}.{pragma}": connection.execute(f"PRAGMA {pragma}({name})").fetchall() for name in kept for pragma in ask
            }

    assert shape(bench.file) == shape(tmp_path / "other.db")


async def test_opening_twice_is_fine(bench: Any, ours: Any) -> None:
    before = bench.rows()
    async with bench.open() as second:
        assert (await second.search(Caller(organization="ours"), SearchRequest("tea"))).provider == "acme"
    after = bench.rows()
    assert {table for table in after if after[table] != before[table]} == {"records", "agent_days"}


async def test_migrating_again_changes_nothing(bench: Any) -> None:
    before = bench.rows()
    await migrate(bench.platform.engine)
    assert bench.rows() == before


@pytest.mark.only("sqlite", "pragmas are SQLite's")
async def test_the_connection_keeps_its_promises(bench: Any) -> None:
    """Foreign keys hold, a commit is on the disk when it returns, and what is deleted is overwritten."""
    async with bench.platform.engine.connect() as connection:

        async def pragma(name: str) -> object:
            return (await connection.exec_driver_sql(f"PRAGMA {name}")).scalar_one()

        found = {
            name: await pragma(name) for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "busy_timeout")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1, "busy_timeout": 5_000}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "searchport.db",
        "/srv/searchport.db",
        "oracle://u:canary@db.example/s",
        "mysql+pymysql://u:canary@h/s",
        "nonsense://u:canary@h",
    ],
)
def test_a_database_url_that_cannot_be_used_is_one_error_without_its_password(text: str) -> None:
    with pytest.raises(DatabaseUrlError, match=r"sqlite:///searchport\.db") as refused:
        parse_url(text)
    assert ("canary" in str(refused.value), "\n" in str(refused.value)) == (False, False)


async def test_a_missing_folder_is_told_before_any_file_is_made(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUrlError, match="make it first"):
        async with open_engine(parse_url(f"sqlite:///{tmp_path}/missing/searchport.db")):
            pass
    assert files_in(tmp_path) == []


async def test_a_missing_folder_leaves_no_key_file_either(tmp_path: Path) -> None:
    with pytest.raises((DatabaseUrlError, OSError), match="missing"):
        async with Platform.open(f"sqlite:///{tmp_path}/missing/searchport.db", prepare=False):
            pass
    assert files_in(tmp_path) == []


# Going away

AWAY = pytest.mark.only("sqlite", "a server that is away is told in tests/databases")


async def go_away(bench: Any) -> Path:
    """The folder of the database is no longer there, as when a volume is lost."""
    await bench.platform.engine.dispose()
    return bench.file.parent.rename(bench.file.parent.with_name(f"{bench.file.parent.name}-lost"))


@AWAY
async def test_a_database_that_is_away_is_a_clear_error_and_no_vendor_is_asked(bench: Any, ours: Any) -> None:
    await go_away(bench)
    status, body = await bench.search(ours.search)
    assert (status, body["code"], body["retryable"], bench.web.requests) == (503, "storage_unavailable", True, [])


@AWAY
async def test_the_plain_call_is_told_the_same(bench: Any, ours: Any) -> None:
    await go_away(bench)
    with pytest.raises(SearchError) as refused:
        await bench.platform.search(Caller(organization="ours"), SearchRequest("tea"))
    assert str(refused.value.code) == "storage_unavailable"


@AWAY
async def test_every_route_is_told_that_the_database_is_away(bench: Any, ours: Any) -> None:
    """Each of them reads the token first."""
    await go_away(bench)
    for method, path in bench.admin_routes():
        address = path.format(organization="ours", provider="acme", agent="default", token="0")
        status, body = await bench.call(method, address, ours.admin, {})
        assert (method, path, status, body["code"]) == (method, path, 503, "storage_unavailable")


@AWAY
async def test_it_recovers_by_itself(bench: Any, ours: Any) -> None:
    lost = await go_away(bench)
    assert (await bench.search(ours.search))[0] == 503
    lost.rename(bench.file.parent)
    assert (await bench.search(ours.search))[0] == 200


@AWAY
async def test_no_error_of_the_database_is_shown(bench: Any, ours: Any) -> None:
    """Its text names the file, and the statement with its values."""
    await go_away(bench)
    _, body = await bench.search(ours.search)
    assert not any(word in str(body).lower() for word in ("sqlite", str(bench.file.parent), "select"))


@AWAY
async def test_a_database_that_forgot_its_tables_is_away(bench: Any, ours: Any) -> None:
    await bench.platform.engine.dispose()
    for file in bench.file.parent.glob(f"{bench.file.name}*"):
        if file.suffix != ".key":
            file.unlink()
    status, body = await bench.search(ours.search)
    assert (status, body["code"], bench.web.requests) == (503, "storage_unavailable", [])


async def test_admins_read_while_another_process_writes(bench: Any, ours: Any) -> None:
    """Readers do not wait for a writer; the token was used today."""
    assert (await bench.call("GET", ours.path, ours.admin))[0] == 200
    with bench.store.hold("ours"):
        assert (await bench.call("GET", ours.path, ours.admin))[0] == 200


async def test_a_search_waits_for_another_process_that_writes(bench: Any, ours: Any) -> None:
    """It is counted before it is sent."""
    assert (await bench.search(ours.search))[0] == 200
    with bench.store.hold("ours"):
        searching = asyncio.create_task(bench.search(ours.search))
        done, _ = await asyncio.wait([searching], timeout=0.1)
        assert (done, len(bench.web.requests)) == (set(), 1)
    assert (await searching)[0] == 200


@pytest.fixture
def impatient(bench: Any) -> None:
    """Waits for a lock no longer than a test can."""

    def shorten(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA busy_timeout=20")
        cursor.close()

    event.listen(bench.platform.engine.sync_engine, "connect", shorten)


@pytest.mark.only("sqlite", "on PostgreSQL the token's row is not held by who writes of the organization")
@pytest.mark.usefixtures("impatient")
async def test_a_lock_that_does_not_end_is_storage_that_is_away(bench: Any, ours: Any) -> None:
    """The first call of a token's day writes."""
    await bench.platform.engine.dispose()
    with bench.store.hold("ours"):
        status, body = await bench.search(ours.search)
        assert (status, body["code"], bench.web.requests) == (503, "storage_unavailable", [])
    assert (await bench.search(ours.search))[0] == 200


async def test_many_calls_at_once_are_all_answered(bench: Any, ours: Any) -> None:
    """More than the pool holds."""
    answered = await asyncio.gather(*(bench.search(ours.search, f"tea {number}") for number in range(40)))
    assert {status for status, _ in answered} == {200}
    assert len(bench.web.requests) == 40
