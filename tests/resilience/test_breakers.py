"""A vendor that fails is left alone for a while, by those whom its failure concerns and by nobody else."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from searchport import ErrorCode, SearchError
from searchport.egress import AddressPolicy, Deadline
from searchport.testing import FakeAnswer, FakeWeb
from searchport_platform.routing.resilience import Breakers, Cooling

KEYED = "https://api.keyed.example/find"
OPEN = "https://api.open.example/find"
OTHER = "https://api.other.example/find"
MIRROR = "https://mirror.open.example"


async def fail(bench: Any, times: int = 1, **given: Any) -> SearchError:
    """The last of so many failures in a row."""
    for _ in range(times):
        with pytest.raises(SearchError) as caught:
            await bench.search(**given)
    return caught.value


async def break_(bench: Any, web: FakeWeb, **given: Any) -> None:
    """Opens a circuit, by the failures of a vendor that answers 500 to every request."""
    web.answer(KEYED, status=500)
    await fail(bench, bench.router.breakers.cooling.failures, **given)


async def test_failures_in_a_row_open_it_and_nothing_is_sent_any_more(bench: Any, web: FakeWeb) -> None:
    await break_(bench, web)
    error = await fail(bench)
    assert (error.code, error.provider, error.retry_after) == (ErrorCode.PROVIDER_UNAVAILABLE, "keyed", 15.0)
    assert error.reason == "it failed of late (provider_unavailable), so it was not asked"
    assert (len(web.requests), bench.attempts[-1].vendor_requests) == (5, 0)


async def test_a_success_between_failures_begins_the_count_anew(bench: Any, web: FakeWeb, hits: Any) -> None:
    for answer in [{"status": 500}] * 4 + [{"json": hits()}] + [{"status": 500}]:
        web.answer(KEYED, **answer)
    await fail(bench, 4)
    await bench.search(options={"max_results": 2})
    await fail(bench, 4)
    assert len(web.requests) == 9


async def test_after_the_cool_down_one_success_closes_it(bench: Any, web: FakeWeb, clock: Any, hits: Any) -> None:
    for answer in [{"status": 500}] * 5 + [{"json": hits()}]:
        web.answer(KEYED, **answer)
    await fail(bench, 5)
    clock.pass_(14.9)
    assert (await fail(bench)).retry_after == pytest.approx(0.1)
    clock.pass_(0.1)
    await bench.search(options={"max_results": 2})
    await bench.search(options={"max_results": 2})
    assert (len(web.requests), len(bench.router.breakers)) == (7, 0)


async def test_every_probe_that_fails_doubles_the_cool_down(bench: Any, web: FakeWeb, clock: Any) -> None:
    await break_(bench, web)
    waits = []
    for _ in range(7):
        waits.append((await fail(bench)).retry_after)
        clock.pass_(waits[-1])
        await fail(bench)
    assert waits == [15, 30, 60, 120, 240, 300, 300]
    assert len(web.requests) == 5 + 7


async def test_a_half_open_one_lets_a_single_probe_through(bench: Any, web: FakeWeb, clock: Any, hits: Any) -> None:
    await break_(bench, web)
    clock.pass_(15)
    arrived, release = asyncio.Event(), asyncio.Event()

    async def answer(_: object) -> FakeAnswer:
        arrived.set()
        await release.wait()
        return FakeAnswer(json=hits())

    web._responders.clear()
    web.handle(KEYED, answer)
    probe = asyncio.create_task(bench.search(options={"max_results": 2}))
    await arrived.wait()
    others = await asyncio.gather(*(bench.search() for _ in range(20)), return_exceptions=True)
    assert {(error.code, error.retry_after) for error in others} == {(ErrorCode.PROVIDER_UNAVAILABLE, 1.0)}
    release.set()
    assert (await probe).results
    assert len(web.requests) == 5 + 1


async def test_a_cancelled_probe_frees_its_place(bench: Any, web: FakeWeb, clock: Any, hits: Any) -> None:
    await break_(bench, web)
    clock.pass_(15)
    arrived, release = asyncio.Event(), asyncio.Event()

    async def answer(_: object) -> FakeAnswer:
        if not arrived.is_set():
            arrived.set()
            await release.wait()
        return FakeAnswer(json=hits())

    web._responders.clear()
    web.handle(KEYED, answer)
    probe = asyncio.create_task(bench.search())
    await arrived.wait()
    probe.cancel()
    with suppress(asyncio.CancelledError):
        await probe
    assert (await bench.search(options={"max_results": 2})).results
    release.set()


async def test_a_bad_key_opens_nothing_and_is_told_each_time(bench: Any, web: FakeWeb) -> None:
    web.answer(KEYED, status=401)
    errors = [await fail(bench) for _ in range(8)]
    assert {error.code for error in errors} == {ErrorCode.PROVIDER_UNAUTHORIZED}
    assert (len(web.requests), len(bench.router.breakers)) == (8, 0)


@pytest.mark.parametrize(
    "other",
    [
        {"organization": "beta"},
        {"credential": "another"},
        {"generation": 2},
        {"organization": None, "generation": None},
    ],
)
async def test_one_key_of_one_organization_concerns_nobody_else(bench: Any, web: FakeWeb, other: dict[str, Any]) -> None:
    await break_(bench, web)
    await fail(bench, **other)
    assert len(web.requests) == 5 + 1


async def test_a_keyless_vendor_judges_our_address_so_all_organizations_share_it(bench: Any, web: FakeWeb) -> None:
    web.answer(OPEN, status=500)
    for name in ("acme", "beta", "acme", "gamma", "beta"):
        await fail(bench, provider="open", organization=name)
    await fail(bench, provider="open", organization="delta")
    assert len(web.requests) == 5


async def test_another_base_url_of_a_keyless_vendor_is_another_vendor(bench: Any, web: FakeWeb, hits: Any) -> None:
    web.answer(OPEN, status=500)
    web.answer(f"{MIRROR}/find", json=hits())
    await fail(bench, 6, provider="open")
    assert (await bench.search(provider="open", settings={"base_url": MIRROR})).results
    assert len(web.requests) == 5 + 1


async def test_a_tenants_own_settings_are_not_another_keyless_vendor(bench: Any, web: FakeWeb) -> None:
    web.answer(OPEN, status=500)
    for number in range(6):
        await fail(bench, provider="open", settings={"edition": f"e{number}"})
    assert len(web.requests) == 5


async def test_an_address_that_one_organization_may_not_dial_is_open_to_another(bench: Any, web: FakeWeb, hits: Any) -> None:
    inside = "http://10.1.2.3:8080"
    web.answer(f"{inside}/find", json=hits())
    await fail(bench, 6, provider="open", settings={"base_url": inside})
    allowed = AddressPolicy(allowed_hosts=["10.1.2.3:8080"])
    assert (await bench.search(provider="open", settings={"base_url": inside}, policy=allowed)).results


@pytest.mark.parametrize(("stated", "waits"), [("30", 30.0), ("3600", 3_600.0), ("999999", 86_400.0)])
async def test_a_rate_limit_opens_at_once_for_as_long_as_stated(
    bench: Any, web: FakeWeb, clock: Any, hits: Any, stated: str, waits: float
) -> None:
    web.answer(KEYED, status=429, headers={"Retry-After": stated})
    web.answer(KEYED, json=hits())
    assert (await fail(bench)).code is ErrorCode.PROVIDER_RATE_LIMITED
    clock.pass_(waits - 1)
    error = await fail(bench)
    assert (error.code, error.retry_after) == (ErrorCode.PROVIDER_UNAVAILABLE, 1.0)
    clock.pass_(1)
    assert (await bench.search(options={"max_results": 2})).results
    assert len(web.requests) == 2


async def test_a_rate_limit_that_states_nothing_opens_for_seconds(bench: Any, web: FakeWeb) -> None:
    web.answer(KEYED, status=429)
    await fail(bench)
    assert (await fail(bench)).retry_after == 2.0


async def test_fallbacks_go_on_where_one_is_open(bench: Any, web: FakeWeb, hits: Any) -> None:
    await break_(bench, web)
    web.answer(OTHER, json=hits())
    envelope = await bench.answer(bench.route(), bench.route("other"))
    told = [(a.provider, a.outcome, a.vendor_requests) for a in envelope.attempts]
    assert told == [("keyed", "provider_unavailable", 0), ("other", "ok", 1)]
    assert envelope.notices[-1].message == "answered by other instead of keyed (provider_unavailable)"


@pytest.mark.parametrize("query", ["challenge: x", "limited: x"])
async def test_the_fake_provider_has_none(bench: Any, query: str) -> None:
    codes = {(await fail(bench, query=query, provider="fake")).code for _ in range(8)}
    assert codes in ({ErrorCode.PROVIDER_UNAVAILABLE}, {ErrorCode.PROVIDER_RATE_LIMITED})
    assert len(bench.router.breakers) == 0


def test_neither_fake_nor_local_has_one_and_every_other_built_in_provider_has(registry: Any) -> None:
    without = {toolkit.id for toolkit in registry if not toolkit.web_search.breaker}
    assert without == {"fake", "local"}


async def test_a_caller_in_a_hurry_opens_nothing_for_the_others(bench: Any, web: FakeWeb) -> None:
    web.stall(OPEN)
    await fail(bench, 6, provider="open", deadline=0.03)
    assert (len(web.requests), len(bench.router.breakers)) == (6, 0)


async def test_a_vendor_that_hangs_leaves_its_fallback_time(bench: Any, web: FakeWeb, hits: Any) -> None:
    web.stall(KEYED)
    web.answer(OTHER, json=hits())
    envelope = await bench.answer(bench.route(), bench.route("other"), deadline=0.6)
    assert [(a.provider, a.outcome) for a in envelope.attempts] == [("keyed", "upstream_timeout"), ("other", "ok")]


# The circuit itself.


def end(breakers: Breakers, code: ErrorCode | None, *, key: str = "k", seconds: float = 5.0, **given: Any) -> ErrorCode | None:
    """One call that ends so; the code that it raises."""
    try:
        with breakers.admit(key, provider="p", deadline=Deadline.after(seconds)):
            raise_(code, given)
    except SearchError as error:
        return error.code
    return None


def raise_(code: ErrorCode | None, given: dict[str, Any]) -> None:
    if code is not None:
        raise SearchError(code, **given)


def test_a_bot_challenge_cools_down_as_long_as_its_toolkit_says(clock: Any) -> None:
    breakers = Breakers(clock=clock)
    end(breakers, ErrorCode.PROVIDER_UNAVAILABLE, retry_after=600)
    with pytest.raises(SearchError) as caught, breakers.admit("k", provider="p", deadline=Deadline.after(5)):
        raise AssertionError
    assert caught.value.retry_after == 600


@pytest.mark.parametrize("code", sorted(set(ErrorCode)))
def test_only_the_vendors_own_failures_count(clock: Any, code: ErrorCode) -> None:
    breakers = Breakers(cooling=Cooling(failures=1), clock=clock)
    end(breakers, code)
    counts = {
        ErrorCode.PROVIDER_UNAVAILABLE,
        ErrorCode.PROVIDER_RATE_LIMITED,
        ErrorCode.UPSTREAM_TIMEOUT,
        ErrorCode.UPSTREAM_UNREACHABLE,
    }
    assert (len(breakers) == 1) is (code in counts)


def test_what_began_before_it_opened_neither_closes_nor_shortens_it(clock: Any) -> None:
    breakers = Breakers(clock=clock)
    with breakers.admit("k", provider="p", deadline=Deadline.after(5)):
        end(breakers, ErrorCode.PROVIDER_RATE_LIMITED, retry_after=60)
    assert end(breakers, None) is ErrorCode.PROVIDER_UNAVAILABLE
    clock.pass_(60)
    assert end(breakers, None) is None


def test_the_longest_stated_wait_of_several_counts(clock: Any) -> None:
    breakers = Breakers(clock=clock)
    with suppress(SearchError), breakers.admit("k", provider="p", deadline=Deadline.after(5)):
        end(breakers, ErrorCode.PROVIDER_RATE_LIMITED, retry_after=10)
        raise SearchError(ErrorCode.PROVIDER_RATE_LIMITED, retry_after=60)
    clock.pass_(59)
    assert end(breakers, None) is ErrorCode.PROVIDER_UNAVAILABLE


def test_no_more_circuits_are_kept_than_allowed(clock: Any) -> None:
    breakers = Breakers(most=3, clock=clock)
    for key in "abcde":
        end(breakers, ErrorCode.PROVIDER_RATE_LIMITED, key=key)
    assert len(breakers) == 3
    assert (end(breakers, None, key="a"), end(breakers, None, key="e")) == (None, ErrorCode.PROVIDER_UNAVAILABLE)
