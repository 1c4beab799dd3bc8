"""Rate and concurrency of an organization."""

import asyncio
from functools import partial
from typing import Any

import pytest
from freezegun import freeze_time

from searchport import ErrorCode, SearchError, SearchRequest
from searchport_platform.metering.limits import WAITING, Slots

REQUEST = SearchRequest("tea")


async def test_the_rate_is_counted_over_any_sixty_seconds(place: Any) -> None:
    await place.limit(searches_per_minute=2)
    with freeze_time("2026-11-30T10:00:00Z", real_asyncio=True) as clock:
        assert await place.try_search() == "ok"
        clock.tick(45)
        assert await place.try_search() == "ok"
        with pytest.raises(SearchError) as refused:
            await place.search()
        assert (refused.value.code, refused.value.retry_after) == (ErrorCode.RATE_LIMITED, 15)
        clock.tick(15)
        assert [await place.try_search() for _ in range(2)] == ["ok", "rate_limited"]
    assert place.used() == 3


async def test_the_rate_holds_for_calls_that_come_at_once_and_in_every_process(place: Any) -> None:
    await place.limit(searches_per_minute=5)
    async with place.open() as other:

        async def call(platform: Any) -> str:
            try:
                await platform.search(place.caller, REQUEST)
            except SearchError as error:
                return str(error.code)
            return "ok"

        outcomes = await asyncio.gather(*(call(platform) for platform in (place.platform, other) for _ in range(10)))
    assert sorted(outcomes) == ["ok"] * 5 + ["rate_limited"] * 15


async def test_one_more_than_the_limit_waits_and_then_goes(place: Any) -> None:
    await place.limit(concurrency=2)
    place.vendors.act = place.vendors.hold
    calls = [asyncio.create_task(place.try_search(str(number))) for number in range(3)]
    assert {await place.vendors.reached.get() for _ in range(2)} == {"0", "1"}
    async with place.open() as other:  # its commit comes after the third was decided
        await other.administration().list_agents("ours")
    assert (place.used(), place.platform.meter._slots.busy("ours")) == (2, 2)
    place.vendors.release.set()
    assert await asyncio.gather(*calls) == ["ok"] * 3
    assert place.platform.meter._slots.busy("ours") == 0


async def settle(place: Any, waiting: int) -> None:
    """Until so many calls wait for a slot."""
    while place.platform.meter._slots.waiting("ours") != waiting:  # noqa: ASYNC110  # nothing in the product tells it
        await asyncio.sleep(0)


async def test_beyond_the_queue_a_call_is_refused(place: Any) -> None:
    await place.limit(concurrency=1)
    place.vendors.act = place.vendors.hold
    calls = [asyncio.create_task(place.try_search()) for _ in range(1 + WAITING)]
    await place.vendors.reached.get()
    await settle(place, WAITING)
    with pytest.raises(SearchError) as refused:
        await place.search()
    assert (refused.value.code, refused.value.retry_after) == (ErrorCode.RATE_LIMITED, 1)
    place.vendors.release.set()
    assert await asyncio.gather(*calls) == ["ok"] * (1 + WAITING)
    assert place.used() == 1 + WAITING


async def test_who_gives_up_in_the_queue_frees_its_place(place: Any) -> None:
    await place.limit(concurrency=1)
    place.vendors.act = place.vendors.hold
    first, second = (asyncio.create_task(place.try_search(name)) for name in ("first", "second"))
    await place.vendors.reached.get()
    await settle(place, 1)
    second.cancel()
    await asyncio.wait([second])
    assert place.platform.meter._slots.waiting("ours") == 0
    place.vendors.release.set()
    assert (await first, await place.try_search("third"), place.used()) == ("ok", "ok", 2)


async def hold_the_slot(place: Any) -> Any:
    """Takes the only slot; what it gives lets it go."""
    await place.select("acme", deadline_seconds=2)
    await place.limit(concurrency=1)
    entry = await place.platform.meter.admit(place.caller, lambda admission: place.platform._decide(lambda _: REQUEST, admission))
    return partial(place.platform.meter._cancel, entry)


async def test_a_slot_that_came_too_late_for_one_goes_to_the_next(place: Any) -> None:
    let_go = await hold_the_slot(place)
    second, third = asyncio.create_task(place.try_search("second")), asyncio.create_task(place.try_search("third"))
    await settle(place, 2)
    let_go()
    second.cancel()
    assert (await third, place.vendors.asked) == ("ok", ["third"])


async def test_a_slot_that_one_is_refused_goes_to_the_next(place: Any) -> None:
    await place.cap(5, "robot")
    let_go = await hold_the_slot(place)
    second = asyncio.create_task(place.try_search("second"))
    await settle(place, 1)
    third = asyncio.create_task(place.try_search("third", agent="robot"))
    await settle(place, 2)
    await place.cap(1)
    let_go()
    assert await asyncio.gather(second, third) == ["daily_cap_reached", "ok"]


async def test_who_finds_no_slot_again_keeps_his_place(place: Any) -> None:
    let_go = await hold_the_slot(place)
    calls = []
    for number in range(1, 4):
        calls.append(asyncio.create_task(place.try_search(str(number))))
        await settle(place, number)
    place.platform.meter._slots._limits["ours"] = 9  # as this process knew it before an admin lowered it
    place.platform.meter._wake("ours")
    await settle(place, 3)
    let_go()
    assert await asyncio.gather(*calls) == ["ok"] * 3
    assert place.vendors.asked == ["1", "2", "3"]


async def test_who_waits_too_long_is_told_at_the_deadline(place: Any) -> None:
    await place.select("acme", deadline_seconds=1)
    await place.limit(concurrency=1)
    await place.platform.meter.admit(place.caller, lambda admission: place.platform._decide(lambda _: REQUEST, admission))
    started = asyncio.get_running_loop().time()
    assert (await place.try_search(), place.used()) == ("rate_limited", 1)
    assert asyncio.get_running_loop().time() - started < 1.5
    assert place.platform.meter._slots.waiting("ours") == 0


async def test_a_raised_limit_lets_those_go_who_wait(place: Any) -> None:
    await place.limit(concurrency=1)
    place.vendors.act = place.vendors.hold
    calls = [asyncio.create_task(place.try_search()) for _ in range(3)]
    await place.vendors.reached.get()
    await settle(place, 2)
    await place.limit(concurrency=4)
    calls.append(asyncio.create_task(place.try_search()))
    for _ in range(3):
        await place.vendors.reached.get()
    place.vendors.release.set()
    assert await asyncio.gather(*calls) == ["ok"] * 4


async def test_organizations_do_not_share_slots(place: Any) -> None:
    await place.platform.administration().create_organization("theirs", "Theirs", provider="free")
    await place.limit(concurrency=1)
    place.vendors.act = place.vendors.hold
    ours = [asyncio.create_task(place.try_search()) for _ in range(5)]
    await place.vendors.reached.get()
    place.caller = type(place.caller)(organization="theirs")
    theirs = asyncio.create_task(place.try_search("theirs"))
    assert await place.vendors.reached.get() == "theirs"
    place.vendors.release.set()
    assert await asyncio.gather(theirs, *ours) == ["ok"] * 6


@pytest.mark.parametrize(
    ("limits", "path"),
    [
        ({"monthly_budget_microusd": -1}, "$.monthlyBudgetMicrousd"),
        ({"searches_per_minute": 0}, "$.searchesPerMinute"),
        ({"searches_per_minute": True}, "$.searchesPerMinute"),
        ({"concurrency": 0}, "$.concurrency"),
        ({"concurrency": 100_000}, "$.concurrency"),
    ],
)
@pytest.mark.only("sqlite", "refused before anything is written")
async def test_a_wrong_limit_is_refused_by_name(place: Any, limits: dict[str, Any], path: str) -> None:
    with pytest.raises(SearchError) as refused:
        await place.limit(**limits)
    assert [fault.path for fault in refused.value.faults] == [path]


def test_slots_forget_organizations_that_do_nothing() -> None:
    slots: Slots[str] = Slots()
    assert slots.take("ours", 1, has_waited=False)
    assert not slots.take("ours", 1, has_waited=False)
    assert slots.park("ours", "waiter", first=False)
    slots.release("ours")
    assert not slots.take("ours", 1, has_waited=False), "it comes after the one who waits"
    assert slots.next_waiting("ours") == ["waiter"]
    assert slots.next_waiting("ours") == []
    assert (slots._busy, slots._waiting, slots._limits) == ({}, {}, {})
