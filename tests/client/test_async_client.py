"""Searching from asyncio, over HTTP and in the platform's own process: one contract."""

import asyncio
import inspect
from collections.abc import Mapping
from types import MappingProxyType

import attrs
import pytest

from searchport import ErrorCode, Fault, Freshness, Recency, Safe, SearchError, SearchRequest, Site
from searchport.client import (
    AsyncClient,
    Client,
    PlannedProvider,
    PlanRefusal,
    PlatformError,
    SearchAnswer,
    SearchOptions,
    SearchPlan,
)
from searchport.result import FilterReport, Notice

from .conftest import ANSWER, Bench, Recorder


async def test_a_search_gives_the_organizations_answer(client: AsyncClient) -> None:
    answer = await client.search("red pandas", max_results=2)
    assert isinstance(answer, SearchAnswer)
    assert (answer.query, answer.provider, answer.vendor, answer.model) == ("red pandas", "fake", "fake", None)
    assert [hit.title for hit in answer] == ["Result 1 for red pandas", "Result 2 for red pandas"]
    assert (answer[0].rank, answer[0].url) == (1, "https://example.com/red%20pandas/1")
    assert (answer.filter_report.over_count, answer.cached, answer.untrusted) == (1, False, True)
    assert [(attempt.provider, attempt.outcome) for attempt in answer.attempts] == [("fake", "ok")]
    assert answer.request_id


async def test_every_option_reaches_the_provider_or_is_named(client: AsyncClient) -> None:
    answer = await client.search(
        "tea",
        max_results=3,
        recency="week",
        freshness="P7D",
        site="Docs.Example.com.",
        language="pt-br",
        country="br",
        safe="strict",
        provider_options={"colour": "red"},
    )
    assert answer[0].url.startswith("https://docs.example.com/")
    assert "language: pt-BR. country: BR. safe: strict." in (answer[0].snippet or "")
    assert answer[0].date_basis == "date-time"
    assert answer.ignored == ("providerOptions.colour",)


async def test_no_results_is_an_answer(client: AsyncClient) -> None:
    answer = await client.search("empty: tea")
    assert (len(answer), list(answer), answer.provider) == (0, [], "fake")


async def test_a_failure_of_the_provider_has_the_same_fields_on_both_transports(client: AsyncClient) -> None:
    with pytest.raises(SearchError) as caught:
        await client.search("limited: tea")
    error = caught.value
    assert type(error) is SearchError
    assert (error.code, error.provider, error.retry_after) == (ErrorCode.PROVIDER_RATE_LIMITED, "fake", 30)
    with pytest.raises(SearchError) as caught:
        await client.search("challenge: tea")
    assert caught.value.reason == "it asked for proof that the caller is human"


async def test_what_only_the_platform_can_refuse_it_refuses(client: AsyncClient, bench: Bench) -> None:
    await bench.platform.administration().bound_organization(
        "acme", allowed_providers=["brave"], allowed_hosts=[], allow_private_addresses=False, result_hosts=[]
    )
    with pytest.raises(SearchError, match="the operator does not allow it") as caught:
        await client.search("tea")
    assert caught.value.code is ErrorCode.PROVIDER_NOT_CONFIGURED


async def test_a_plan_says_what_a_search_would_do_and_counts_nothing(client: AsyncClient) -> None:
    plan = await client.plan("tea", max_results=7)
    assert plan == await client.plan("tea", max_results=7)
    assert (plan.provider, plan.max_results, plan.vendor_requests, plan.worst_case_microusd) == ("fake", 7, 1, 0)
    assert (plan.fallbacks, plan.refused, plan.left_this_month_microusd) == ((), None, None)
    await client.search("tea")
    assert plan.left_today is not None
    assert (await client.plan("tea")).left_today == plan.left_today - 1


async def test_a_plan_says_what_a_search_would_be_refused_with(client: AsyncClient, bench: Bench) -> None:
    await bench.platform.administration().turn_off("fake", "its key leaked")
    plan = await client.plan("tea")
    assert plan.refused is not None
    assert (plan.provider, plan.refused.code) == (None, ErrorCode.PROVIDER_NOT_CONFIGURED)
    assert "its key leaked" in plan.refused.detail


async def test_many_searches_keep_their_order_and_each_failure_its_place(client: AsyncClient) -> None:
    found = await client.search_many(["one", "limited: two", " ", "empty: four", "five"], max_results=1)
    assert [type(outcome) for outcome in found] == [SearchAnswer, SearchError, SearchError, SearchAnswer, SearchAnswer]
    assert [outcome.code for outcome in found if isinstance(outcome, SearchError)] == [
        ErrorCode.PROVIDER_RATE_LIMITED,
        ErrorCode.VALIDATION_ERROR,
    ]
    assert [outcome.query for outcome in found if isinstance(outcome, SearchAnswer)] == ["one", "empty: four", "five"]
    assert await client.search_many([]) == []


# What is sent


async def test_what_is_not_given_is_not_sent() -> None:
    """So that the organization's own defaults hold."""
    recorder = Recorder()
    await AsyncClient(transport=recorder).search("tea", max_results=None, site=None)
    recorder.answer = {"vendorRequests": 0, "worstCaseMicrousd": 0}
    await AsyncClient(transport=recorder).plan("tea")
    assert recorder.calls == [("action.search.web", {"query": "tea"}), ("action.search.web", {"query": "tea", "dryRun": True})]


async def test_options_may_be_given_parsed() -> None:
    recorder = Recorder()
    options: SearchOptions = {
        "recency": Recency.DAY,
        "freshness": Freshness.parse("PT36H"),
        "site": Site.parse("example.com"),
        "safe": Safe.OFF,
        "provider_options": MappingProxyType({"a": [1, None, "x"]}),
    }
    await AsyncClient(transport=recorder).search("tea", **options)
    ((_, payload),) = recorder.calls
    assert payload == {
        "query": "tea",
        "recency": "day",
        "freshness": "PT36H",
        "site": "example.com",
        "safe": "off",
        "providerOptions": {"a": [1, None, "x"]},
    }
    assert [type(payload[name]) for name in ("recency", "freshness", "site", "safe")] == [str] * 4


async def test_all_faults_are_told_together_before_anything_is_sent() -> None:
    recorder = Recorder()
    with pytest.raises(SearchError) as caught:
        await AsyncClient(transport=recorder).search(
            " ",
            max_results=True,
            freshness="P1M",
            site="https://example.com",
            provider_options={"when": object()},
            freshnes="P7D",  # type: ignore[call-arg]  # the mistake is the point
        )
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    assert {fault.path for fault in caught.value.faults} == {
        "$.query", "$.max_results", "$.freshness", "$.site", "$.provider_options", "$.freshnes",
    }  # fmt: skip
    assert "did you mean 'freshness'?" in str(caught.value)
    assert recorder.calls == []


@pytest.mark.parametrize(
    "odd", [float("nan"), float("inf"), b"x", {1, 2}, "\ud800", object()], ids=lambda odd: type(odd).__name__
)
async def test_provider_options_that_json_cannot_carry_are_refused(odd: object) -> None:
    recorder = Recorder()
    with pytest.raises(SearchError, match=r"\$\.provider_options: holds something that JSON cannot carry"):
        await AsyncClient(transport=recorder).search("tea", provider_options={"x": odd})
    assert recorder.calls == []


def test_the_options_are_the_contracts() -> None:
    contract = [field.name for field in attrs.fields(SearchRequest)]
    assert ["query", *SearchOptions.__annotations__] == contract


@pytest.mark.parametrize("method", ["search", "plan", "search_many"])
@pytest.mark.parametrize("cls", [AsyncClient, Client])
def test_the_signature_shows_every_option(cls: type, method: str) -> None:
    """What `help()` and a notebook's completion read."""
    parameters = inspect.signature(getattr(cls, method)).parameters
    shown = [name for name, given in parameters.items() if given.kind is inspect.Parameter.KEYWORD_ONLY]
    assert [name for name in shown if name not in ("concurrency", "progress")] == list(SearchOptions.__annotations__)
    assert all(given.kind is not inspect.Parameter.VAR_KEYWORD for given in parameters.values())


async def test_either_a_url_and_a_token_or_a_transport_is_given() -> None:
    with pytest.raises(SearchError, match="transport: give either"):
        AsyncClient("https://search.example.com", "t", transport=Recorder())  # type: ignore[call-overload]  # the mistake is the point
    with pytest.raises(SearchError, match="url: "):
        AsyncClient()  # type: ignore[call-overload]  # the mistake is the point


# What comes back


async def test_the_answer_is_read_whole() -> None:
    answer = await AsyncClient(transport=Recorder()).search("tea")
    assert answer.ignored == ("language",)
    assert answer.notices == (Notice("sunset", "It ends."),)
    assert answer.filter_report == FilterReport(too_old=2, undated=1)
    assert (answer[1].snippet, answer[1].published_date, answer[1].date_basis) == (None, None, None)


async def test_a_plan_is_read_whole() -> None:
    told = {
        "dryRun": True,
        "provider": "brave",
        "maxResults": 40,
        "vendorRequests": 2,
        "worstCaseMicrousd": 15_000,
        "fallbacks": [{"provider": "exa", "vendorRequests": 1, "worstCaseMicrousd": 5_000}],
        "leftToday": 0,
        "leftThisMonthMicrousd": 100,
        "refused": {"code": "daily_cap_reached", "detail": "used up", "retryAfter": 60},
    }
    assert await AsyncClient(transport=Recorder(told)).plan("tea") == SearchPlan(
        provider="brave",
        max_results=40,
        vendor_requests=2,
        worst_case_microusd=15_000,
        fallbacks=(PlannedProvider(provider="exa", vendor_requests=1, worst_case_microusd=5_000),),
        left_today=0,
        left_this_month_microusd=100,
        refused=PlanRefusal(code=ErrorCode.DAILY_CAP_REACHED, detail="used up", retry_after=60),
    )


async def test_a_plan_that_cannot_be_read_has_counted_nothing() -> None:
    client = AsyncClient(transport=Recorder({"results": []}))
    with pytest.raises(PlatformError) as planned:
        await client.plan("tea")
    with pytest.raises(PlatformError) as searched:
        await client.search("tea")
    assert (planned.value.may_have_counted, searched.value.may_have_counted) == (False, True)


async def test_fields_of_a_newer_platform_are_passed_over() -> None:
    newer = ANSWER | {"pages": 3, "filterReport": {"tooOld": 1, "tooLoud": 2}}
    assert len(await AsyncClient(transport=Recorder(newer)).search("tea")) == 2


# Many


@attrs.define
class Gate:
    """A transport whose calls wait until they are let through."""

    running: int = 0
    most: int = 0
    ended: int = 0
    opened: asyncio.Event = attrs.field(factory=asyncio.Event)
    full: asyncio.Event = attrs.field(factory=asyncio.Event)
    enough: int = 3

    async def call(self, _action: str, payload: Mapping[str, object]) -> Mapping[str, object]:
        self.running += 1
        self.most = max(self.most, self.running)
        if self.running == self.enough:
            self.full.set()
        try:
            await self.opened.wait()
            return ANSWER | {"query": payload["query"]}
        finally:
            self.running -= 1
            self.ended += 1


async def test_no_more_searches_run_at_once_than_asked_for() -> None:
    gate = Gate()
    many = asyncio.create_task(AsyncClient(transport=gate).search_many((f"q{n}" for n in range(20)), concurrency=3))
    await gate.full.wait()
    gate.opened.set()
    found = await many
    assert (gate.most, gate.ended) == (3, 20)
    assert [outcome.query for outcome in found if isinstance(outcome, SearchAnswer)] == [f"q{n}" for n in range(20)]


async def test_cancelling_many_searches_ends_those_that_run_and_begins_no_other() -> None:
    gate = Gate()
    many = asyncio.create_task(AsyncClient(transport=gate).search_many([f"q{n}" for n in range(20)], concurrency=3))
    await gate.full.wait()
    many.cancel()
    with pytest.raises(asyncio.CancelledError):
        await many
    assert (gate.running, gate.ended) == (0, 3)


async def test_what_is_wrong_with_all_of_many_searches_is_raised_at_once() -> None:
    recorder = Recorder()
    client = AsyncClient(transport=recorder)
    with pytest.raises(SearchError) as caught:
        await client.search_many("tea", concurrency=0, freshness="P1M")
    assert {fault.path for fault in caught.value.faults} == {"$.queries", "$.concurrency", "$.freshness"}
    for odd in (True, 65, 2.0):
        with pytest.raises(SearchError, match=r"\$\.concurrency: "):
            await client.search_many(["tea"], concurrency=odd)  # type: ignore[arg-type]  # the mistake is the point
    assert recorder.calls == []


# Closing


async def test_a_closed_client_says_so() -> None:
    recorder = Recorder()
    async with AsyncClient(transport=recorder) as client:
        await client.search("tea")
    await client.close()
    with pytest.raises(SearchError, match="the client is closed"):
        await client.search("tea")
    assert len(recorder.calls) == 1


async def test_a_client_in_process_leaves_the_platform_open(bench: Bench) -> None:
    from searchport_platform.doors.in_process import LocalTransport
    from searchport_platform.platform import Caller

    transport = LocalTransport(bench.platform, Caller(organization="acme"))
    async with AsyncClient(transport=transport) as client:
        await client.search("tea")
    async with AsyncClient(transport=transport) as client:
        assert len(await client.search("tea")) == 3


async def test_in_process_a_dry_run_is_a_switch_and_anything_else_an_unknown_field(bench: Bench) -> None:
    from searchport_platform.doors.in_process import LocalTransport
    from searchport_platform.platform import Caller

    transport = LocalTransport(bench.platform, Caller(organization="acme"))
    assert "results" in await transport.call("action.search.web", {"query": "tea", "dryRun": False})
    with pytest.raises(SearchError) as caught:
        await transport.call("action.search.web", {"query": "tea", "dryRun": "yes"})
    assert [fault.path for fault in caught.value.faults] == ["$.dryRun"]
    assert isinstance(caught.value.faults[0], Fault)
    assert "Platform" not in repr(transport)
