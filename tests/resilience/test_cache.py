"""An answer is kept for those who may have it, as long as they allow, as the vendor gave it."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest

from searchport import ErrorCode, SearchError, SearchRequest, SearchResponse, SearchResult
from searchport.egress import AddressPolicy, Deadline
from searchport.result import render_envelope
from searchport.testing import FakeAnswer, FakeWeb
from searchport_platform.routing.cache import AnswerCache, Answered, Fetch, Spending

KEYED = "https://api.keyed.example/find"
OPEN = "https://api.open.example/find"
TWO = {"max_results": 2}


async def test_without_a_cache_time_nothing_is_kept(bench: Any, web: FakeWeb, hits: Any) -> None:
    web.answer(KEYED, json=hits())
    assert [(await bench.search(options=TWO)).cached for _ in range(2)] == [False, False]
    assert (len(web.requests), len(bench.router.cache)) == (2, 0)


async def test_the_second_call_costs_no_vendor_request(bench: Any, web: FakeWeb, hits: Any) -> None:
    web.answer(KEYED, json=hits())
    first, second = [await bench.search(cache=60, options=TWO) for _ in range(2)]
    assert (first.cached, second.cached, first.results == second.results) == (False, True, True)
    assert [a.vendor_requests for a in bench.attempts] == [1, 0]
    assert render_envelope(second)["cached"] is True


async def test_it_is_kept_as_long_as_the_reader_allows(bench: Any, web: FakeWeb, hits: Any, clock: Any) -> None:
    web.answer(KEYED, json=hits())
    await bench.search(cache=60, options=TWO)
    clock.pass_(30)
    assert (await bench.search(cache=60, options=TWO)).cached is True
    assert (await bench.search(cache=20, options=TWO)).cached is False
    clock.pass_(20)
    assert (await bench.search(cache=60, options=TWO)).cached is False


@pytest.mark.parametrize(
    "other",
    [
        {"organization": "beta"},
        {"credential": "another"},
        {"generation": 2},
        {"model": "deep"},
        {"policy": AddressPolicy(allowed_hosts=["x.example"])},
        {"query": "Tea"},
        *(
            {"options": TWO | option}
            for option in (
                {"max_results": 1},
                {"recency": "day"},
                {"freshness": "P7D"},
                {"site": "pages.example"},
                {"language": "de"},
                {"country": "DE"},
                {"safe": "strict"},
                {"provider_options": {"a": 1}},
                {"provider_options": {"a": "1"}},
                {"provider_options": {"a": True}},
            )
        ),
    ],
)
async def test_all_that_makes_a_call_is_in_the_key(bench: Any, web: FakeWeb, hits: Any, other: dict[str, Any]) -> None:
    web.answer(KEYED, json=hits())
    await bench.search(cache=60, options=TWO)
    assert (await bench.search(cache=60, **{"options": TWO} | other)).cached is False


async def test_settings_are_in_the_key(bench: Any, web: FakeWeb, hits: Any) -> None:
    web.answer(OPEN, json=hits())
    found = [await bench.search(provider="open", cache=60, settings={"edition": e}) for e in ("world", "uk", "world")]
    assert [envelope.cached for envelope in found] == [False, False, True]


def test_no_option_of_the_contract_can_be_left_out_of_the_key(bench: Any) -> None:
    plain = SearchRequest("tea")
    given: dict[str, Any] = {
        "query": "x", "max_results": 1, "recency": "day", "freshness": "P1D", "site": "a.example", "language": "de",
        "country": "DE", "safe": "off", "provider_options": {"a": None},
    }  # fmt: skip
    assert given.keys() == {field.name for field in attrs.fields(SearchRequest)}
    keys = {bench.route().answer_key(attrs.evolve(plain, **{name: value})) for name, value in given.items()}
    assert len(keys | {bench.route().answer_key(plain)}) == len(given) + 1


def test_the_key_holds_neither_credential_nor_query(bench: Any) -> None:
    key = repr(bench.route().answer_key(SearchRequest("canary-query")))
    assert ("canary" in key, len(key) < 1_000) == (False, True)


def test_options_of_any_shape_have_a_key(bench: Any) -> None:
    odd: Any = {"a": {1: [float("nan")], "b": {"c": None}}, "\ud800": "\ud800"}
    assert bench.route().answer_key(SearchRequest("tea", provider_options=odd)) is not None


@pytest.mark.parametrize("given", [{"provider": "forbids"}, {"organization": None}])
async def test_what_may_not_be_kept_is_not(bench: Any, web: FakeWeb, hits: Any, given: dict[str, Any]) -> None:
    """A vendor's terms may forbid storing; a call of no organization has nobody to keep it for."""
    web.answer(KEYED, json=hits())
    assert [(await bench.search(cache=60, options=TWO, **given)).cached for _ in range(2)] == [False, False]


async def test_a_failure_is_never_kept(bench: Any, web: FakeWeb, hits: Any) -> None:
    for answer in ({"status": 500}, {"json": hits()}):
        web.answer(KEYED, **answer)
    with pytest.raises(SearchError):
        await bench.search(cache=60, options=TWO)
    assert (await bench.search(cache=60, options=TWO)).cached is False


async def test_a_hit_asks_no_breaker(bench: Any, web: FakeWeb, hits: Any) -> None:
    for answer in ({"json": hits()}, {"status": 429}):
        web.answer(KEYED, **answer)
    await bench.search(cache=60, options=TWO)
    with pytest.raises(SearchError):
        await bench.search("coffee", cache=60, options=TWO)
    assert (await bench.search(cache=60, options=TWO)).cached is True


async def test_guarantees_run_again_on_a_hit_and_ages_count_from_the_answer(
    bench: Any, web: FakeWeb, hits: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ "1 hour ago" proves less than two hours before the answer; two hours later that is no longer within three hours."""
    web.answer(KEYED, json=hits(d="1 hour ago"))
    now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

    class Frozen(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return now.astimezone(tz)

    monkeypatch.setattr("searchport_platform.routing.router.datetime", Frozen)
    options = TWO | {"freshness": "PT3H"}
    first = await bench.search(cache=86_400, options=options)
    now = datetime(2026, 11, 30, 13, 0, 1, tzinfo=UTC)
    second = await bench.search(cache=86_400, options=options)
    assert (first.filter_report.kept_by_bound, second.filter_report.too_old) == (2, 2)
    assert (second.cached, second.results) == (True, ())


class Held:
    """A vendor that answers when it is told to. asked: set by its first request."""

    def __init__(self, web: FakeWeb, answer: FakeAnswer) -> None:
        self.asked, self.release = asyncio.Event(), asyncio.Event()

        async def respond(_: object) -> FakeAnswer:
            self.asked.set()
            await self.release.wait()
            return answer

        web.handle(KEYED, respond)


async def test_those_who_ask_at_once_share_one_request(bench: Any, web: FakeWeb, hits: Any) -> None:
    held = Held(web, FakeAnswer(json=hits()))
    calls = [asyncio.create_task(bench.search(cache=60, options=TWO)) for _ in range(20)]
    await held.asked.wait()
    held.release.set()
    found = await asyncio.gather(*calls)
    assert len(web.requests) == 1
    assert [envelope.cached for envelope in found] == [False] + [True] * 19
    assert sorted(a.vendor_requests for a in bench.attempts) == [0] * 19 + [1]


async def test_the_first_who_leaves_takes_nobody_along(bench: Any, web: FakeWeb, hits: Any) -> None:
    held = Held(web, FakeAnswer(json=hits()))
    calls = [asyncio.create_task(bench.search(cache=60, options=TWO)) for _ in range(20)]
    await held.asked.wait()
    calls[0].cancel()
    with suppress(asyncio.CancelledError):
        await calls[0]
    held.release.set()
    found = await asyncio.gather(*calls[1:])
    assert (len(web.requests), len(found)) == (1, 19)
    assert [(a.outcome, a.vendor_requests) for a in bench.attempts if a.vendor_requests] == [("cancelled", 1)]


async def test_when_all_have_left_the_request_ends_too(bench: Any, web: FakeWeb) -> None:
    held = Held(web, FakeAnswer())
    calls = [asyncio.create_task(bench.search(cache=60)) for _ in range(5)]
    await held.asked.wait()
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    held.release.set()
    assert (sum(a.vendor_requests or 0 for a in bench.attempts), len(bench.router.cache)) == (1, 0)
    assert len(bench.router.breakers) == 0


async def test_a_shared_failure_is_everybodys_own(bench: Any, web: FakeWeb) -> None:
    held = Held(web, FakeAnswer(status=400))
    calls = [asyncio.create_task(bench.search(cache=60)) for _ in range(5)]
    await held.asked.wait()
    held.release.set()
    errors = await asyncio.gather(*calls, return_exceptions=True)
    assert {(type(error), error.code) for error in errors} == {(SearchError, ErrorCode.PROVIDER_REJECTED)}
    assert (len({id(error) for error in errors}), len(web.requests)) == (5, 1)


async def test_who_has_time_left_is_not_timed_out_by_another(bench: Any, web: FakeWeb, hits: Any) -> None:
    web.stall(KEYED)
    web.answer(KEYED, json=hits())
    hurried, patient = await asyncio.gather(
        bench.search(cache=60, options=TWO, deadline=0.1),
        bench.search(cache=60, options=TWO, deadline=5),
        return_exceptions=True,
    )
    assert hurried.code is ErrorCode.UPSTREAM_TIMEOUT
    assert (patient.results != (), len(web.requests)) == (True, 2)


async def test_who_has_less_time_leaves_at_its_own_deadline(bench: Any, web: FakeWeb, hits: Any) -> None:
    held = Held(web, FakeAnswer(json=hits()))
    patient = asyncio.create_task(bench.search(cache=60, options=TWO, deadline=5))
    await held.asked.wait()
    with pytest.raises(SearchError) as caught:
        await bench.search(cache=60, options=TWO, deadline=0.02)
    assert (caught.value.code, caught.value.provider) == (ErrorCode.UPSTREAM_TIMEOUT, "keyed")
    held.release.set()
    assert (await patient).results


async def test_two_organizations_with_one_query_are_two_vendor_calls(bench: Any, web: FakeWeb, hits: Any) -> None:
    web.answer(OPEN, json=hits())
    found = [await bench.search(provider="open", cache=60, organization=name) for name in ("acme", "beta")]
    assert ([envelope.cached for envelope in found], len(web.requests)) == ([False, False], 2)


# Bounds.


async def fill(cache: AnswerCache, key: str, characters: int = 10, seconds: float = 60) -> bool:
    """Whether another call had asked for it."""

    async def run() -> Answered:
        row = SearchResult("x" * characters, None)
        return Answered(SearchResponse([row], vendor="v"), datetime.now(UTC))

    fetch = Fetch(run=run, count=lambda: 1)
    _, cached = await cache.get(key, fetch, seconds=seconds, deadline=Deadline.after(5), spending=Spending())
    return cached


async def test_the_least_recently_used_goes_first() -> None:
    cache = AnswerCache(most=2)
    assert [await fill(cache, key) for key in "abacab"] == [False, False, True, False, True, False]
    assert len(cache) == 2


async def test_what_is_kept_is_bounded_in_characters() -> None:
    cache = AnswerCache(most_characters=1_000)
    for key in range(50):
        await fill(cache, str(key), characters=60)
    assert (len(cache), cache._characters) == (16, 960)
    await fill(cache, "big", characters=63)
    assert (await fill(cache, "big", characters=63), len(cache)) == (False, 16)


async def test_what_is_over_is_dropped_though_nobody_asks_again(clock: Any) -> None:
    cache = AnswerCache(clock=clock)
    for key in "abc":
        await fill(cache, key, seconds=5)
    clock.pass_(61)
    await fill(cache, "d")
    assert (len(cache), cache._characters) == (1, 10)
