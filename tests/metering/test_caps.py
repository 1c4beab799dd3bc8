"""The daily cap: exact, whatever happens to the calls."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from freezegun import freeze_time

from searchport import ErrorCode, SearchError, SearchRequest
from searchport_platform.metering import caps, counters
from searchport_platform.metering.counters import CounterMovedError
from searchport_platform.metering.meter import Meter
from searchport_platform.metering.standing import Ask
from searchport_platform.platform import Caller
from searchport_platform.storage.engine import transaction

REQUEST = SearchRequest("tea")
Lock = Callable[[], Any]


async def test_a_cap_admits_exactly_as_many(place: Any) -> None:
    await place.cap(3)
    assert [await place.try_search() for _ in range(5)] == ["ok"] * 3 + ["daily_cap_reached"] * 2
    assert (place.used(), place.records(), len(place.vendors.asked)) == (3, ["ok"] * 3, 3)


async def test_a_cap_of_zero_refuses_all_and_writes_nothing(place: Any) -> None:
    await place.cap(0)
    assert [await place.try_search() for _ in range(2)] == ["daily_cap_reached"] * 2
    assert (place.sql("SELECT * FROM agent_days"), place.records(), place.spent()) == ([], [], 0)
    assert place.platform.meter.refusals == {"daily_cap_reached": 2}


async def test_the_usual_cap_is_two_hundred(place: Any) -> None:
    (agent,) = await place.platform.administration().list_agents("ours")
    assert agent.max_searches_per_day == 200


@pytest.mark.parametrize("value", [-1, 1.5, True, "5", 10**10])
@pytest.mark.only("sqlite", "refused before anything is written")
async def test_a_cap_is_a_whole_number_and_there_is_no_unlimited(place: Any, value: Any) -> None:
    with pytest.raises(SearchError) as refused:
        await place.cap(value)
    assert [fault.path for fault in refused.value.faults] == ["$.maxSearchesPerDay"]


async def test_a_changed_cap_holds_for_the_very_next_call(place: Any) -> None:
    await place.cap(1)
    assert [await place.try_search() for _ in range(2)] == ["ok", "daily_cap_reached"]
    await place.cap(3)
    assert [await place.try_search() for _ in range(3)] == ["ok", "ok", "daily_cap_reached"]
    await place.cap(2)
    assert await place.try_search() == "daily_cap_reached"


async def test_gates_that_change_keep_the_cap(place: Any) -> None:
    await place.cap(7)
    agent = await place.platform.administration().put_agent("ours", "default", tools=["web.search"], credentials=[])
    assert agent.max_searches_per_day == 7


async def test_an_agent_that_is_made_anew_has_not_its_units_back(place: Any) -> None:
    await place.cap(1, "robot")
    assert await place.try_search(agent="robot") == "ok"
    await place.platform.administration().remove_agent("ours", "robot")
    await place.cap(1, "robot")
    assert await place.try_search(agent="robot") == "daily_cap_reached"


async def test_every_agent_has_a_cap_of_its_own(place: Any) -> None:
    for agent in ("one", "two"):
        await place.cap(1, agent)
    assert [await place.try_search(agent=agent) for agent in ("one", "two", "one")] == ["ok", "ok", "daily_cap_reached"]


async def test_the_day_turns_at_midnight_in_utc(place: Any) -> None:
    await place.cap(1)
    with freeze_time("2026-11-30T23:59:30Z", real_asyncio=True) as clock:
        assert await place.try_search() == "ok"
        with pytest.raises(SearchError) as refused:
            await place.search()
        assert refused.value.retry_after == 30
        clock.tick(30)
        assert [await place.try_search() for _ in range(2)] == ["ok", "daily_cap_reached"]
    assert place.records("day") == ["2026-11-30", "2026-12-01"]


async def test_a_call_that_is_refused_otherwise_takes_no_unit(place: Any) -> None:
    """A wrong option, too many results, no key, a gate: each is told before anything is counted."""
    await place.cap(5)
    await place.select("acme", max_results=20)
    assert await place.try_search(safe="strict") == "unsupported_option"
    assert await place.try_search(max_results=21) == "validation_error"
    await place.select("keyed")
    assert await place.try_search() == "provider_not_configured"
    await place.platform.administration().put_agent("ours", "robot", tools=[], credentials=[])
    assert await place.try_search(agent="robot") == "forbidden"
    assert (place.used(), place.records(), place.spent(), place.vendors.asked) == (0, [], 0, [])


async def test_a_failed_call_takes_its_unit(place: Any) -> None:
    async def fail(*_: object) -> None:
        raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE)

    await place.cap(2)
    place.vendors.act = fail
    assert [await place.try_search() for _ in range(3)] == ["provider_unavailable"] * 2 + ["daily_cap_reached"]
    assert place.records() == ["provider_unavailable"] * 2


async def test_pages_and_fallbacks_take_no_further_unit(place: Any) -> None:
    async def fail_acme(_: object, context: Any) -> None:
        if context.page.size == 10:
            raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE)

    place.vendors.act = fail_acme
    await place.select("acme", "dear")
    answer = await place.search(max_results=50)
    assert ([attempt.provider for attempt in answer.attempts], place.used()) == (["acme", "dear"], 1)
    assert place.records("provider, outcome, results") == [("dear", "ok", 1)]


async def test_many_callers_of_one_process_share_commits(place: Any, record_property: Any) -> None:
    """An admission and a closing are two writes of each search; together they take a fraction of a commit."""
    await place.cap(10_000)
    await place.limit(concurrency=64)
    await place.search()
    before = place.platform.meter.commits

    async def call() -> None:
        for _ in range(10):
            await place.search()

    await asyncio.gather(*(call() for _ in range(64)))
    commits = (place.platform.meter.commits - before) / 640
    record_property("commits_a_search", commits)
    print(f"commits a search under 64 callers: {commits:.3f}")  # noqa: T201  # a figure to report
    assert commits < 0.5
    assert place.records() == ["ok"] * 641


async def test_the_record_is_on_the_disk_before_the_vendor_is_asked(place: Any) -> None:
    seen: list[Any] = []

    async def look(*_: object) -> None:
        seen.append([*place.records("outcome, cost_microusd"), place.used()])

    place.vendors.act = look
    await place.search()
    assert seen == [[("started", None), 1]]


async def test_the_record_is_closed_before_the_answer_leaves(place: Any) -> None:
    answer = await place.search()
    assert place.records("id, outcome, provider, results, cached") == [(answer.request_id, "ok", "acme", 1, 0)]


# One transaction for many


async def queue_up(place: Any, lock: Lock, *calls: Any) -> list[Any]:
    """What becomes of calls that all wait for the lock, and so share a transaction."""
    with lock():
        running = [asyncio.create_task(call) for call in calls]
        await asyncio.sleep(0)
    return await asyncio.gather(*running, return_exceptions=True)


async def test_a_member_that_is_refused_does_not_fail_the_others(place: Any, locked: Lock) -> None:
    """A cap, a token that is gone, an agent that is not there, a key that does not open, a defect."""
    await place.cap(0, "capped")
    administration = place.platform.administration()
    await administration.create_organization("theirs", "Theirs", provider="keyed")
    await administration.store_credential("theirs", "keyed", "a-key-of-theirs")
    place.sql("UPDATE credentials SET sealed = ?", b"\0")

    def defect(_: object) -> Ask:
        raise ZeroDivisionError

    commits = place.platform.meter.commits
    outcomes = await queue_up(
        place,
        locked,
        place.try_search("first"),
        place.try_search(agent="capped"),
        place.platform.meter.admit(Caller(organization="ours", token="0" * 16), defect),
        place.try_search(agent="nobody"),
        place.platform.search(Caller(organization="theirs"), REQUEST),
        place.platform.meter.admit(place.caller, defect),
        place.try_search("last"),
    )
    assert [outcomes[number] for number in (0, 1, 3, 6)] == ["ok", "daily_cap_reached", "forbidden", "ok"]
    assert [str(outcomes[number].code) for number in (2, 4)] == ["unauthorized", "provider_not_configured"]
    assert isinstance(outcomes[5], ZeroDivisionError)
    assert sorted(place.vendors.asked) == ["first", "last"]
    assert place.platform.meter.commits - commits <= 3


async def test_a_member_that_the_database_refuses_does_not_fail_the_others(place: Any, locked: Lock) -> None:
    def spoil(admission: Any) -> Ask:
        ask = place.platform._decide(lambda _: REQUEST, admission)
        return attrs.evolve(ask, worst_cases=[attrs.evolve(ask.worst_cases[0], provider="\ud800")])

    outcomes = await queue_up(
        place, locked, place.try_search("first"), place.platform.meter.admit(place.caller, spoil), place.try_search("last")
    )
    assert (outcomes[0], str(outcomes[1].code), outcomes[2]) == ("ok", "storage_unavailable", "ok")
    assert (place.used(), place.records()) == (2, ["ok", "ok"])


async def test_a_batch_admits_up_to_the_cap_and_refuses_the_rest(place: Any, locked: Lock) -> None:
    await place.cap(5)
    await place.limit(concurrency=100)
    outcomes = await queue_up(place, locked, *(place.try_search() for _ in range(12)))
    assert sorted(outcomes) == ["daily_cap_reached"] * 7 + ["ok"] * 5
    assert (place.used(), place.records()) == (5, ["ok"] * 5)


# Waiting, and giving up


async def test_a_lock_that_does_not_end_is_told_within_the_deadline(place: Any, locked: Lock) -> None:
    await place.select("acme", deadline_seconds=0.3)
    assert await place.try_search("before") == "ok"
    with locked():
        started = asyncio.get_running_loop().time()
        assert await place.try_search() == "storage_unavailable"
        assert asyncio.get_running_loop().time() - started < 0.3 + 0.25  # the rest is for a busy machine
    assert [await place.try_search("after"), place.vendors.asked] == ["ok", ["before", "after"]]
    assert place.used() == 2


async def test_a_lock_that_ends_in_time_is_waited_for(place: Any, locked: Lock) -> None:
    assert await queue_up(place, locked, place.try_search()) == ["ok"]


async def test_a_caller_that_gives_up_while_it_waits_leaves_nothing(place: Any, locked: Lock) -> None:
    with locked():
        waiting = asyncio.create_task(place.search())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert await place.try_search("next") == "ok"
    assert (place.used(), place.records(), place.vendors.asked) == (1, ["ok"], ["next"])


async def test_a_caller_that_gives_up_at_its_vendor_has_its_record_closed(place: Any) -> None:
    place.vendors.act = place.vendors.hold
    calling = asyncio.create_task(place.search())
    await place.vendors.reached.get()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert place.records("outcome, cost_microusd") == [("cancelled", 0)]
    assert (place.used(), place.spent(), place.platform.meter._slots.busy("ours")) == (1, 0, 0)


async def test_a_caller_that_gives_up_just_as_it_is_admitted_has_its_record_closed(place: Any) -> None:
    """Admitted and not yet told: the unit is taken, no vendor was asked, and nothing stays open."""
    calling: list[asyncio.Task[Any]] = []
    settle = Meter._settle

    def cancel_first(meter: Meter, batch: Any, closing: Any) -> None:
        if batch.admitted:
            calling[0].cancel()
        settle(meter, batch, closing)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Meter, "_settle", cancel_first)
        calling.append(asyncio.create_task(place.search()))
        with pytest.raises(asyncio.CancelledError):
            await calling[0]
    assert await place.try_search() == "ok"
    assert (place.records(), len(place.vendors.asked), place.platform.meter._slots.busy("ours")) == (["cancelled", "ok"], 1, 0)


async def test_a_thousand_calls_given_up_at_any_moment_leave_nothing_open(place: Any) -> None:
    await place.cap(10_000)
    await place.limit(concurrency=100)

    async def give_up(number: int) -> None:
        calling = asyncio.create_task(place.search())
        for _ in range(number % 97):
            await asyncio.sleep(0)
        calling.cancel()
        await asyncio.wait([calling])

    for begin in range(0, 1_000, 50):
        await asyncio.gather(*(give_up(number) for number in range(begin, begin + 50)))
    async with place.open() as other:  # every closing that was before this one's is written
        await other.search(place.caller, REQUEST)
    assert await place.try_search() == "ok"
    assert set(place.records()) <= {"ok", "cancelled"}
    assert place.used() == len(place.records())
    assert (place.platform.meter._slots.busy("ours"), place.platform.meter._slots.waiting("ours"), place.spent()) == (0, 0, 0)


async def test_an_answer_whose_record_cannot_be_closed_is_not_given(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("searchport_platform.metering.meter.CLOSING_SECONDS", 0.1)

    async def lose(*_: object) -> None:
        place.sql("ALTER TABLE records RENAME TO lost")

    place.vendors.act = lose
    assert await place.try_search() == "storage_unavailable"
    place.sql("ALTER TABLE lost RENAME TO records")
    assert (place.records(), place.used()) == (["started"], 1)


async def test_closing_the_platform_writes_what_is_left(place: Any) -> None:
    place.vendors.act = place.vendors.hold
    async with place.open() as other:
        calling = asyncio.create_task(other.search(place.caller, REQUEST))
        await place.vendors.reached.get()
        calling.cancel()
    assert place.records() == ["cancelled"]
    await asyncio.wait([calling])


async def test_a_deleted_organization_takes_its_books_with_it(place: Any) -> None:
    await place.search()
    await place.platform.administration().delete_organization("ours")
    assert (place.records(), place.sql("SELECT * FROM agent_days")) == ([], [])
    assert place.sql("SELECT * FROM organization_months") == []


async def test_an_organization_that_is_deleted_during_a_call_stays_deleted(place: Any) -> None:
    async def delete(*_: object) -> None:
        await place.platform.administration().delete_organization("ours")

    place.vendors.act = delete
    assert await place.try_search() == "ok"
    assert (place.records(), place.sql("SELECT * FROM organization_months")) == ([], [])


async def test_no_statement_on_the_books_lacks_an_organization(place: Any, statements: list[tuple[str, Any]]) -> None:
    await place.limit(monthly_budget_microusd=10**9, searches_per_minute=100)
    await asyncio.gather(*(place.search() for _ in range(5)))
    await place.platform.plan(place.caller, REQUEST)
    tables = ("records", "agent_days", "organization_months")
    about = [sql for sql, _ in statements if any(table in sql for table in tables)]
    assert len(about) >= 10
    for sql in about:
        assert re.search(r"organization = ([?$]|asked\.)", sql) or (sql.startswith("INSERT") and "(organization," in sql), sql


async def test_a_budget_of_nothing_costs_no_write(place: Any, statements: list[tuple[str, Any]]) -> None:
    """Refused calls leave the file as it is: nobody can keep the disk busy with them."""
    await place.cap(0)
    del statements[:]
    await asyncio.gather(*(place.try_search() for _ in range(20)))
    assert [sql for sql, _ in statements if sql.startswith(("INSERT", "UPDATE", "DELETE"))] == []


async def test_a_counter_that_moved_is_never_written_over(place: Any) -> None:
    """What another transaction makes between reading and writing, as PostgreSQL allows for a row that was not there."""
    await place.search()
    with pytest.raises(CounterMovedError):
        async with transaction(place.platform.engine, writes=True) as connection:
            await caps.count(connection, {("ours", "default", place.records("day")[0]): (0, 1)})
    assert place.used() == 1


async def test_one_counter_that_moved_keeps_all_of_them_from_being_written(place: Any) -> None:
    await place.search()
    day = place.records("day")[0]
    with pytest.raises(CounterMovedError):
        async with transaction(place.platform.engine, writes=True) as connection:
            await caps.count(connection, {("ours", "another", day): (0, 5), ("ours", "default", day): (0, 1)})
    assert place.sql("SELECT agent, searches FROM agent_days") == [("default", 1)]


async def test_counters_are_each_added_to_their_own_row(place: Any) -> None:
    await place.platform.administration().create_organization("theirs", "Theirs", provider="acme")
    days = [(of, agent, day) for of in ("ours", "theirs") for agent in ("a", "b") for day in ("2026-01-01", "2026-01-02")]
    async with transaction(place.platform.engine, writes=True) as connection:
        await caps.count(connection, {day: (0, number) for number, day in enumerate(days[:5], 1)})
        await caps.count(connection, {day: (number, 10 * number) for number, day in enumerate(days[:3], 1)} | {days[6]: (0, 7)})
        assert list((await caps.read(connection, days)).values()) == [11, 22, 33, 4, 5, 0, 7, 0]


async def test_a_batch_whose_counter_moved_is_decided_again(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    add, calls = counters.add, iter([True])

    async def moved_once(*given: Any, **named: Any) -> None:
        if next(calls, False):
            raise CounterMovedError
        await add(*given, **named)

    monkeypatch.setattr(counters, "add", moved_once)
    await place.limit(concurrency=1)
    assert [await place.try_search(), await place.try_search()] == ["ok", "ok"]
    assert (place.used(), place.records()) == (2, ["ok", "ok"])
