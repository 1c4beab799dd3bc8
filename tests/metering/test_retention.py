"""Records are kept as long as the operator says, and what is counted stays."""

import asyncio
from typing import Any

import pytest
from freezegun import freeze_time

from searchport_platform.metering import retention
from searchport_platform.metering.retention import delete_old
from searchport_platform.settings import Settings, SettingsError, load_settings

DAY_MS = 86_400_000
RECORD = """INSERT INTO records (organization, id, agent, provider, day, started_ms, ends_ms, outcome, reserved_microusd,
                                 cost_microusd, vendor_requests, duration_ms, results, cached)
            VALUES (?, ?, 'default', 'acme', '2025-01-01', ?, ?, 'ok', 0, 0, 1, 1, 1, false)"""


def insert(place: Any, started_ms: int, how_many: int = 1, organization: str = "ours") -> None:
    for number in range(how_many):
        place.sql(RECORD, organization, f"{started_ms}-{number}", started_ms, started_ms)


@pytest.fixture
async def aged(place: Any) -> Any:
    """A record of each of the last days, the newest of now; the clock stands."""
    with freeze_time("2026-11-30T12:00:00Z", real_asyncio=True):
        await place.search()
        (now_ms,) = place.records("started_ms")
        for days in (1, 2, 3):
            insert(place, now_ms - days * DAY_MS)
        yield place


async def test_what_is_older_is_deleted_and_no_other(aged: Any) -> None:
    assert await delete_old(aged.platform.engine, 2) == 1
    began = aged.records("started_ms")
    assert [began[-1] - started for started in began] == [2 * DAY_MS, DAY_MS, 0]


async def test_caps_and_months_keep_their_sums(aged: Any) -> None:
    tables = ("agent_days", "organization_months")
    before = [aged.sql(f"SELECT * FROM {table}") for table in tables]  # noqa: S608
    assert await delete_old(aged.platform.engine, 1) == 2
    assert [aged.sql(f"SELECT * FROM {table}") for table in tables] == before  # noqa: S608
    await aged.cap(1)
    assert await aged.try_search() == "daily_cap_reached"


async def test_many_are_deleted_in_small_transactions(place: Any, statements: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 10)
    monkeypatch.setattr(retention, "PAUSE_SECONDS", 0)
    insert(place, 1_000, 25)
    assert await delete_old(place.platform.engine, 400) == 25
    assert len([sql for sql, _ in statements if sql.startswith("DELETE FROM records")]) == 3
    assert place.records() == []


async def test_nothing_that_is_old_takes_no_lock(place: Any, store: Any) -> None:
    with store.hold("ours"):
        assert await delete_old(place.platform.engine, 400) == 0


async def test_every_organization_is_looked_at_and_each_statement_names_it(place: Any, statements: Any) -> None:
    await place.platform.administration().create_organization("theirs", "Theirs")
    insert(place, 1_000)
    insert(place, 1_000, organization="theirs")
    del statements[:]
    assert await delete_old(place.platform.engine, 400) == 2
    about = [sql for sql, _ in statements if "records" in sql]
    assert len(about) >= 4
    assert [sql for sql in about if "records.organization = " not in sql] == []


async def test_two_processes_delete_each_record_once(place: Any) -> None:
    insert(place, 1_000, 30)
    async with place.open() as other:
        deleted = await asyncio.gather(delete_old(place.platform.engine, 400), delete_old(other.engine, 400))
    assert (sum(deleted), place.records()) == (30, [])


async def test_a_platform_deletes_while_it_is_open(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    insert(place, 1_000)
    done = asyncio.Event()
    real = retention.delete_old

    async def told(engine: Any, days: int) -> int:
        deleted = await real(engine, days)
        done.set()
        return deleted

    monkeypatch.setattr(retention, "delete_old", told)
    async with place.open(record_days=400):
        await done.wait()
    assert place.records() == []


async def test_a_platform_that_keeps_records_for_ever_deletes_none(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> int:
        raise AssertionError

    monkeypatch.setattr(retention, "delete_old", fail)
    async with place.open(record_days=0) as other:
        assert await other.administration().list_agents("ours")


def test_four_hundred_days_are_kept_unless_the_operator_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().kept_days == 400
    monkeypatch.setenv("SEARCHPORT_RECORD_DAYS", "0")
    assert load_settings().kept_days == 0


@pytest.mark.parametrize("text", ["", "-1", "1.5", "a year", "36501", "٣"])
def test_a_number_of_days_that_is_none_stops_the_start(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SEARCHPORT_RECORD_DAYS", text)
    with pytest.raises(SettingsError, match=r"SEARCHPORT_RECORD_DAYS: .* is no whole number of days"):
        load_settings()
