"""What a transaction promises on PostgreSQL, and what its connections are told."""

import asyncio
import base64
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from searchport import SearchError
from searchport_platform.platform import Caller, Platform
from searchport_platform.storage.engine import POOL_OVERFLOW, POOL_SIZE, open_engine, parse_url
from searchport_platform.storage.transactions import hold_organizations, lock_platform, transaction
from searchport_platform.tenancy.sealing import SealingError

on_postgresql = pytest.mark.only("postgresql", "SQLite bounds its waits by pragmas and has one writer")


@pytest.fixture
async def opened(store: Any, open_on: Any) -> Any:
    """A platform with the organizations `ours` and `theirs`."""
    async with open_on(store) as platform:
        for name in ("ours", "theirs"):
            await platform.administration().create_organization(name, name.title(), provider="acme")
        yield platform


@on_postgresql
async def test_a_server_without_secret_keys_stops_the_start_before_it_is_asked(store: Any) -> None:
    before = store.rows()
    with pytest.raises(SealingError, match="SEARCHPORT_SECRET_KEYS: required on PostgreSQL") as refused:
        async with Platform.open(store.url, prepare=False):
            pass
    assert store.rows() == before
    command = str(refused.value).partition("make one: ")[2]
    process = await asyncio.create_subprocess_shell(command, stdout=asyncio.subprocess.PIPE)
    made, _ = await process.communicate()
    assert len(base64.b64decode(made, validate=False)) == 32


@on_postgresql
async def test_no_wait_is_without_an_end(opened: Any) -> None:
    async with transaction(opened.engine) as connection:
        names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "application_name")
        told = {name: (await connection.execute(text(f"SHOW {name}"))).scalar_one() for name in names}
    assert told == {
        "statement_timeout": "10s",
        "lock_timeout": "5s",
        "idle_in_transaction_session_timeout": "10s",
        "application_name": "searchport",
    }


@on_postgresql
async def test_readers_have_a_snapshot_and_cannot_write(opened: Any) -> None:
    async with transaction(opened.engine) as connection:
        assert (await connection.execute(text("SHOW transaction_isolation"))).scalar_one() == "repeatable read"
        assert (await connection.execute(text("SHOW transaction_read_only"))).scalar_one() == "on"
    async with transaction(opened.engine, writes=True) as connection:
        assert (await connection.execute(text("SHOW transaction_isolation"))).scalar_one() == "read committed"
        assert (await connection.execute(text("SHOW transaction_read_only"))).scalar_one() == "off"


@on_postgresql
async def test_an_organization_that_another_holds_is_left_out_and_nobody_waits(opened: Any, store: Any) -> None:
    with store.hold("ours"):
        async with transaction(opened.engine, writes=True) as connection:
            assert await hold_organizations(connection, {"ours", "theirs", "nobody"}) == {"ours"}
    async with transaction(opened.engine, writes=True) as connection:
        assert await hold_organizations(connection, {"ours", "theirs"}) == set()


@on_postgresql
async def test_an_organization_that_is_held_does_not_hold_up_another(opened: Any, store: Any, search: Any) -> None:
    with store.hold("ours"):
        waiting = asyncio.create_task(search(opened, Caller(organization="ours")))
        assert await asyncio.gather(*(search(opened, Caller(organization="theirs")) for _ in range(20))) == ["ok"] * 20
        assert not waiting.done()
    assert await waiting == "ok"


@on_postgresql
async def test_what_belongs_to_no_organization_is_changed_by_one_at_a_time(opened: Any) -> None:
    async with transaction(opened.engine, writes=True) as connection:
        await lock_platform(connection)
        changing = asyncio.create_task(opened.administration().turn_off("acme", "a drill"))
        done, _ = await asyncio.wait([changing], timeout=0.1)
        assert done == set()
    await changing


async def test_switches_that_are_thrown_at_once_all_succeed(opened: Any, open_on: Any, store: Any) -> None:
    """And new organizations of one name: one is made, the others are told that it is taken."""
    async with open_on(store) as other:
        both = (opened.administration(), other.administration())
        await asyncio.gather(*(each.turn_off("acme", "a drill") for each in both for _ in range(4)))
        assert await opened.administration().switched_off() == {"acme": "a drill"}
        outcomes = await asyncio.gather(
            *(each.create_organization("third", "Third") for each in both for _ in range(3)), return_exceptions=True
        )
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Organization"] + ["SearchError"] * 5
    assert {str(outcome.code) for outcome in outcomes if isinstance(outcome, SearchError)} == {"validation_error"}


async def test_changes_and_searches_at_once_never_collide(opened: Any, open_on: Any, store: Any, search: Any) -> None:
    """Deletion locks what admission locks, in the same order: nobody is told of a deadlock."""
    administration = opened.administration()
    async with open_on(store) as other:

        async def change(number: int) -> None:
            name = f"firm-{number}"
            await administration.create_organization(name, "Firm", provider="acme")
            searching = [
                asyncio.create_task(search(each, Caller(organization=name))) for each in (opened, other) for _ in range(4)
            ]
            await administration.put_agent(name, "default", tools=["web.*"], credentials=[], max_searches_per_day=100)
            await administration.delete_organization(name)
            assert set(await asyncio.gather(*searching)) <= {"ok", "unauthorized"}

        await asyncio.gather(*(change(number) for number in range(5)))
    assert store.sql("SELECT count(*) FROM records WHERE organization LIKE 'firm-%'") == [(0,)]


@on_postgresql
async def test_more_calls_than_connections_all_end(opened: Any, store: Any) -> None:
    await asyncio.gather(*(opened.administration().list_organizations() for _ in range(100)))
    query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'searchport' AND datname = current_database()"
    assert store.sql(query)[0][0] <= POOL_SIZE + POOL_OVERFLOW


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
async def test_a_database_without_a_path_serves_calls_that_come_at_once_and_leaves_nothing(
    url: str, open_on: Any, search: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async with open_on(SimpleNamespace(url=url, secret_keys="")) as platform:
        await platform.administration().create_organization("ours", "Ours", provider="acme")
        told = await asyncio.gather(*(search(platform) for _ in range(30)), platform.administration().list_organizations())
        assert told[:-1] == ["ok"] * 30
        assert [folder.stat().st_mode & 0o077 for folder in tmp_path.iterdir()] == [0]
    assert list(tmp_path.iterdir()) == []


async def test_a_password_that_is_wrong_is_named_in_the_log_without_it(postgres: Any, logged: Any) -> None:
    """And a database that is not there."""
    url = parse_url(f"postgresql://searchport:canary@/nothing?host={postgres.folder}")
    async with open_engine(url) as engine:
        with pytest.raises(SearchError):
            async with transaction(engine) as connection:
                await connection.execute(text("SELECT 1"))
    assert "InvalidCatalogNameError" in logged()
    assert "canary" not in logged()
