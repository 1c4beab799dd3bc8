"""Prices, budgets, and what a call would cost."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest
from freezegun import freeze_time
from hypothesis import given
from hypothesis import strategies as st

from searchport import (
    ErrorCode,
    SearchContext,
    SearchError,
    SearchRequest,
    SearchResponse,
    define_toolkit,
    define_web_search,
)
from searchport.egress import AddressPolicy
from searchport.price import Price
from searchport.testing import FakeWeb
from searchport_platform.metering.plans import render_plan
from searchport_platform.metering.prices import Prices, PricesError, WorstCase, parse_usd, write_usd
from searchport_platform.registry import Registry

PAGE = 5_000
"""Micro-USD of one request to `acme`; the one that may be sent again is reserved with each call."""


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "5",
        "{",
        '{"acme": "5"}',
        '{"acme": -1}',
        '{"acme": true}',
        '{"acme": NaN}',
        '{"acme": 1e400000}',
        '{"acme": 1000001}',
    ],
)
def test_a_price_table_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(PricesError):
        Prices.parse(text)


def test_an_operators_price_is_exact_and_wins(registry: Registry) -> None:
    prices = Prices.parse('{"acme": 0.1, "free": 3}')
    costs = [prices.worst_case(registry.get(name), 10).cost_of(3) for name in ("acme", "dear", "free")]
    assert costs == [300, 60_000, 9_000]
    assert Prices.parse(" ").table == {}


def test_a_price_counts_the_model_and_the_results_of_a_page() -> None:
    toolkit = define_toolkit(id="tiers", name="Tiers", credential_ref=None)
    price = Price(Decimal(7), models={"deep": Decimal(12)}, usd_per_further_result=Decimal(1))

    @define_web_search(toolkit, recency=None, price_per_1000=price, page_size=20)
    async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
        raise NotImplementedError

    worst = [Prices().worst_case(toolkit, results, model=model) for results, model in ((10, None), (50, None), (50, "deep"))]
    assert [(each.vendor_requests, each.cost_of(1)) for each in worst] == [(1, 7_000), (3, 17_000), (3, 22_000)]


def test_a_part_of_a_microdollar_is_rounded_up() -> None:
    worst = WorstCase(provider="acme", vendor_requests=1, cost_microusd=0, usd_per_1000=Decimal("0.0001"))
    assert [worst.cost_of(requests) for requests in (0, 1, 10, 11)] == [0, 1, 1, 2]


@given(st.integers(0, 10**15))
def test_dollars_are_written_and_read_without_loss(microusd: int) -> None:
    assert parse_usd(write_usd(microusd)) == microusd


@pytest.mark.parametrize(("value", "microusd"), [(12.5, 12_500_000), ("0.000001", 1), (0, 0), ("25", 25_000_000)])
def test_dollars_are_read(value: object, microusd: int) -> None:
    assert parse_usd(value) == microusd


@pytest.mark.parametrize("value", ["", "-1", "NaN", "inf", "0.0000001", None, True, [], "1e30", "12,50"])
def test_what_is_no_sum_of_dollars_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="US dollars"):
        parse_usd(value)


# The budget


async def test_the_worst_case_is_reserved_and_what_was_not_spent_is_given_back(place: Any) -> None:
    during: list[int] = []

    async def look(*_: object) -> None:
        during.append(place.spent())

    place.vendors.act = look
    await place.search(max_results=50)
    assert (during, place.spent()) == ([6 * PAGE] * 5, 0)
    assert place.records("reserved_microusd, cost_microusd") == [(6 * PAGE, 0)]


async def test_a_fallback_is_reserved_too(place: Any) -> None:
    """It is paid for beside the provider that failed; one that could not take the call is not."""
    await place.select("acme", "dear", "keyed")
    await place.search(max_results=10)
    assert place.records("reserved_microusd") == [2 * PAGE + 3 * 20_000]


async def test_a_call_that_fits_into_the_budget_to_the_last_microdollar_is_admitted(place: Any) -> None:
    await place.limit(monthly_budget_microusd=2 * PAGE)
    assert await place.try_search() == "ok"
    await place.limit(monthly_budget_microusd=2 * PAGE - 1)
    with freeze_time("2026-11-30T23:00:00Z", real_asyncio=True), pytest.raises(SearchError) as refused:
        await place.search()
    assert (refused.value.code, refused.value.retry_after) == (ErrorCode.BUDGET_EXCEEDED, 3_600)
    assert (place.used(), len(place.records())) == (1, 1)


async def test_what_is_reserved_counts_until_the_call_has_ended(place: Any) -> None:
    await place.limit(monthly_budget_microusd=3 * PAGE)
    place.vendors.act = place.vendors.hold
    first = asyncio.create_task(place.try_search("first"))
    await place.vendors.reached.get()
    assert await place.try_search("second") == "budget_exceeded"
    place.vendors.release.set()
    assert (await first, await place.try_search("third")) == ("ok", "ok")


async def test_no_budget_is_no_limit_and_a_free_provider_never_meets_one(place: Any) -> None:
    await place.limit(monthly_budget_microusd=0)
    assert await place.try_search() == "budget_exceeded"
    await place.select("free")
    assert await place.try_search() == "ok"
    await place.limit()
    await place.select("acme")
    assert await place.try_search() == "ok"


async def test_what_was_spent_before_the_budget_was_set_counts(place: Any) -> None:
    await place.search()
    place.sql("UPDATE organization_months SET spent_microusd = 95000")
    await place.limit(monthly_budget_microusd=100_000)
    assert await place.try_search() == "budget_exceeded"


async def test_a_month_begins_with_its_whole_budget(place: Any) -> None:
    await place.limit(monthly_budget_microusd=2 * PAGE)
    with freeze_time("2026-12-31T23:59:59Z", real_asyncio=True) as clock:
        await place.search()
        place.sql("UPDATE organization_months SET spent_microusd = 10000")
        assert await place.try_search() == "budget_exceeded"
        clock.tick(1)
        assert await place.try_search() == "ok"
    assert place.sql("SELECT month, spent_microusd FROM organization_months ORDER BY month") == [
        ("2026-12", 10_000),
        ("2027-01", 0),
    ]


async def test_a_record_that_was_never_closed_keeps_its_reservation(place: Any) -> None:
    await place.search()
    place.sql("UPDATE records SET outcome = 'started', cost_microusd = NULL, ends_ms = 1")
    place.sql("UPDATE organization_months SET spent_microusd = 10000")
    await place.limit(monthly_budget_microusd=4 * PAGE - 1)
    assert await place.try_search() == "budget_exceeded"


# Requests that were really sent


@pytest.fixture
async def sent(place: Any) -> Any:
    """A fake web behind `acme`, which sends one request a page; the test says how it answers."""
    async with FakeWeb() as web:
        clients: dict[AddressPolicy, Any] = {}

        def build(policy: AddressPolicy) -> Any:
            return clients.setdefault(policy, web.client(policy))

        object.__setattr__(place.platform.router.clients, "build", build)

        async def ask(_: SearchRequest, context: Any) -> None:
            await context.http.get_json("https://api.acme.example/find")

        place.vendors.act = ask
        yield web


async def test_every_request_is_counted_and_priced(place: Any, sent: FakeWeb) -> None:
    sent.answer("https://api.acme.example/find", json={})
    await place.search()
    assert place.records("vendor_requests, cost_microusd") == [(1, PAGE)]
    assert place.spent() == PAGE


async def test_a_failed_call_pays_for_what_it_sent(place: Any, sent: FakeWeb) -> None:
    """The vendor's failure is asked once more; both are counted, and both were reserved."""
    sent.answer("https://api.acme.example/find", status=503)
    assert await place.try_search() == "provider_unavailable"
    ((requests, cost, reserved),) = place.records("vendor_requests, cost_microusd, reserved_microusd")
    assert (requests, cost, place.spent()) == (len(sent.requests), requests * PAGE, cost)
    assert cost <= reserved


async def test_a_budget_is_never_exceeded_by_many_at_once(place: Any, sent: FakeWeb) -> None:
    sent.answer("https://api.acme.example/find", json={})
    await place.limit(monthly_budget_microusd=20 * PAGE, concurrency=100)
    outcomes = await asyncio.gather(*(place.try_search() for _ in range(60)))
    assert set(outcomes) <= {"ok", "budget_exceeded"}
    while await place.try_search() == "ok":
        assert place.spent() <= 20 * PAGE
    assert place.spent() == len(sent.requests) * PAGE == 19 * PAGE


# Plans


async def test_a_plan_tells_everything_and_does_nothing(place: Any) -> None:
    await place.select("acme", "dear")
    await place.cap(10)
    await place.limit(monthly_budget_microusd=1_000_000)
    await place.search()
    before = place.sql("SELECT * FROM records"), place.used(), place.spent(), len(place.vendors.asked)
    plan = await place.platform.plan(place.caller, SearchRequest("tea", max_results=25))
    assert render_plan(plan) == {
        "dryRun": True,
        "provider": "acme",
        "maxResults": 25,
        "vendorRequests": 3,
        "worstCaseMicrousd": 4 * PAGE + 6 * 20_000,
        "fallbacks": [{"provider": "dear", "vendorRequests": 5, "worstCaseMicrousd": 120_000}],
        "leftToday": 9,
        "leftThisMonthMicrousd": 1_000_000,
        "refused": None,
    }
    assert (place.sql("SELECT * FROM records"), place.used(), place.spent(), len(place.vendors.asked)) == before


async def test_a_plan_tells_what_would_be_refused(place: Any) -> None:
    await place.cap(0)
    plan = await place.platform.plan(place.caller, SearchRequest("tea"))
    assert (plan.left_today, str(plan.refusal.code), plan.provider) == (0, "daily_cap_reached", "acme")
    await place.select("keyed")
    plan = await place.platform.plan(place.caller, SearchRequest("tea"))
    assert (str(plan.refusal.code), plan.provider, plan.cost_microusd) == ("provider_not_configured", None, 0)
    assert render_plan(plan)["refused"]["code"] == "provider_not_configured"


async def test_a_plan_of_a_wrong_request_is_refused_itself(place: Any) -> None:
    await place.select("acme", max_results=20)
    with pytest.raises(SearchError) as refused:
        await place.platform.plan(place.caller, SearchRequest("tea", max_results=21))
    assert refused.value.code is ErrorCode.VALIDATION_ERROR
