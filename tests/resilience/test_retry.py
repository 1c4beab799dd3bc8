"""One more request at most, for what another request can mend, inside the deadline, and counted."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from searchport import ErrorCode, SearchError
from searchport.egress import Deadline
from searchport.egress.client import Setback
from searchport.testing import FakeAnswer, FakeWeb
from searchport_platform.routing.resilience import RetryOnce

KEYED = "https://api.keyed.example/find"
OTHER = "https://api.other.example/find"


@pytest.mark.parametrize("status", [502, 503, 504])
async def test_a_gateway_error_is_asked_once_more(bench: Any, web: FakeWeb, hits: Any, status: int) -> None:
    web.answer(KEYED, status=status)
    web.answer(KEYED, json=hits())
    envelope = await bench.search(options={"max_results": 2})
    assert [(a.outcome, a.vendor_requests) for a in envelope.attempts] == [("ok", 2)]
    assert len(envelope.results) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 422, 500, 501, 302])
async def test_what_another_request_cannot_mend_is_not_asked_again(bench: Any, web: FakeWeb, status: int) -> None:
    web.answer(KEYED, status=status, headers={"Retry-After": "0"})
    with pytest.raises(SearchError):
        await bench.search()
    assert (len(web.requests), [a.vendor_requests for a in bench.attempts]) == (1, [1])


async def test_a_second_failure_is_the_last(bench: Any, web: FakeWeb) -> None:
    web.answer(KEYED, status=503)
    with pytest.raises(SearchError) as caught:
        await bench.search()
    assert (caught.value.code, len(web.requests)) == (ErrorCode.PROVIDER_UNAVAILABLE, 2)
    assert [(a.outcome, a.vendor_requests) for a in bench.attempts] == [("provider_unavailable", 2)]


async def test_a_rate_limit_that_states_a_short_wait_is_waited(bench: Any, web: FakeWeb, hits: Any) -> None:
    web.answer(KEYED, status=429, headers={"Retry-After": "0"})
    web.answer(KEYED, json=hits())
    assert (await bench.search(options={"max_results": 2})).attempts[0].vendor_requests == 2


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "4"}, {"Retry-After": "86400"}, {"Retry-After": "soon"}])
async def test_a_rate_limit_that_states_none_or_one_beyond_the_deadline_is_not(
    bench: Any, web: FakeWeb, headers: dict[str, str]
) -> None:
    web.answer(KEYED, status=429, headers=headers)
    started = time.monotonic()
    with pytest.raises(SearchError, match="rate limit"):
        await bench.search(deadline=2.0)
    assert (len(web.requests), time.monotonic() - started < 1) == (1, True)


async def test_answered_pages_are_not_asked_again(bench: Any, web: FakeWeb, hits: Any) -> None:
    web.answer(KEYED, json=hits())
    web.answer(KEYED, status=503)
    web.answer(KEYED, json=hits())
    envelope = await bench.search(options={"max_results": 4})
    assert [request.query["page"] for request in web.requests] == ["1", "2", "2"]
    assert envelope.attempts[0].vendor_requests == 3


async def test_one_retry_is_for_all_pages_together(bench: Any, web: FakeWeb, hits: Any) -> None:
    for answer in ({"status": 503}, {"json": hits()}, {"status": 503}):
        web.answer(KEYED, **answer)
    with pytest.raises(SearchError):
        await bench.search(options={"max_results": 4})
    assert [request.query["page"] for request in web.requests] == ["1", "1", "2"]


async def test_every_provider_of_a_call_has_its_own(bench: Any, web: FakeWeb, hits: Any) -> None:
    web.answer(KEYED, status=503)
    web.answer(OTHER, status=503)
    web.answer(OTHER, json=hits())
    envelope = await bench.answer(bench.route(), bench.route("other"))
    told = [(a.provider, a.outcome, a.vendor_requests) for a in envelope.attempts]
    assert told == [("keyed", "provider_unavailable", 2), ("other", "ok", 2)]
    assert tuple(bench.attempts) == envelope.attempts


async def test_a_name_that_does_not_resolve_is_asked_once_more(bench: Any, web: FakeWeb, hits: Any) -> None:
    web.resolves("api.keyed.example", [], ["93.184.215.14"])
    web.answer(KEYED, json=hits())
    envelope = await bench.search(options={"max_results": 2})
    assert envelope.attempts[0].vendor_requests == 1  # what never left is not counted


async def test_a_reset_before_an_answer_is_asked_once_more(bench: Any, web: FakeWeb, hits: Any) -> None:
    web.drop(KEYED)
    web.answer(KEYED, json=hits())
    assert (await bench.search(options={"max_results": 2})).attempts[0].vendor_requests == 2


async def test_a_body_cut_short_is_not_asked_again(bench: Any, web: FakeWeb) -> None:
    """An answer had begun: the vendor has counted it."""
    web.cut(KEYED, body=b'{"hits": [')
    with pytest.raises(SearchError) as caught:
        await bench.search()
    assert (caught.value.code, len(web.requests)) == (ErrorCode.UPSTREAM_UNREACHABLE, 1)


async def test_a_connection_that_the_vendor_closed_while_idle_is_replaced(
    raw: Any, vendor: Any, reply: Callable[..., bytes], reset: Any
) -> None:
    """The vendor drops an idle connection at the very moment it is used again."""
    kept: list[asyncio.StreamWriter] = []

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await vendor.read_request(reader, writer)
        writer.write(reply(b'{"hits": []}'))
        kept.append(writer)
        if len(kept) == 1:
            await vendor.read_request(reader, writer)
            reset(writer)

    vendor.script = script
    assert (await raw.search()).attempts[0].vendor_requests == 1
    envelope = await raw.search()
    assert (envelope.attempts[0].vendor_requests, vendor.opened) == (2, 2)


async def test_a_refused_connection_is_asked_once_more_and_nothing_is_counted(raw: Any, vendor: Any) -> None:
    vendor._server.close()
    with pytest.raises(SearchError) as caught:
        await raw.search()
    assert caught.value.code is ErrorCode.UPSTREAM_UNREACHABLE
    assert [(a.outcome, a.vendor_requests) for a in raw.attempts] == [("upstream_unreachable", 0)]


def setback(code: ErrorCode, *, status: int | None = None, retry_after: float | None = None, seconds: float = 0.0) -> Setback:
    return Setback(error=SearchError(code, retry_after=retry_after), status=status, seconds=seconds)


@pytest.mark.parametrize(
    ("failed", "again"),
    [
        (setback(ErrorCode.UPSTREAM_UNREACHABLE), True),
        (setback(ErrorCode.UPSTREAM_UNREACHABLE, status=200), False),
        (setback(ErrorCode.UPSTREAM_TIMEOUT), False),
        (setback(ErrorCode.PROVIDER_UNAVAILABLE), False),
        (setback(ErrorCode.PROVIDER_UNAVAILABLE, status=200), False),
        (setback(ErrorCode.PROVIDER_UNAVAILABLE, status=500), False),
        (setback(ErrorCode.PROVIDER_UNAVAILABLE, status=503), True),
        (setback(ErrorCode.PROVIDER_UNAVAILABLE, status=503, retry_after=60), False),
        (setback(ErrorCode.PROVIDER_REJECTED, status=503), False),
        (setback(ErrorCode.PROVIDER_RATE_LIMITED, status=503, retry_after=0), True),
        (setback(ErrorCode.PROVIDER_RATE_LIMITED, status=200, retry_after=0), False),
        (setback(ErrorCode.PROVIDER_RATE_LIMITED, status=429), False),
        (setback(ErrorCode.PROVIDER_RATE_LIMITED, status=429, retry_after=0), True),
        (setback(ErrorCode.PROVIDER_UNAVAILABLE, status=503, seconds=9.0), False),  # the next would end beyond the deadline too
    ],
)
async def test_what_is_sent_again(failed: Setback, again: bool) -> None:
    retry = RetryOnce(Deadline.after(5))
    assert await retry(failed) is again
    assert await retry(setback(ErrorCode.UPSTREAM_UNREACHABLE)) is not again


async def test_the_wait_is_drawn_from_the_whole_of_it() -> None:
    drawn: list[tuple[float, float]] = []

    def draw(low: float, high: float) -> float:
        drawn.append((low, high))
        return 0.0

    await RetryOnce(Deadline.after(5), draw=draw)(setback(ErrorCode.UPSTREAM_UNREACHABLE))
    await RetryOnce(Deadline.after(0.024), draw=draw)(setback(ErrorCode.UPSTREAM_UNREACHABLE))
    assert drawn[0] == (0.0, 0.005)
    assert drawn[1][1] < 0.003  # half of what is left beside the room for an answer


async def test_cancelling_a_wait_sends_nothing(bench: Any, web: FakeWeb) -> None:
    waits = asyncio.Event()

    async def limit(_: object) -> FakeAnswer:
        asyncio.get_running_loop().call_later(0.05, waits.set)
        return FakeAnswer(status=429, headers={"Retry-After": "2"})

    web.handle(KEYED, limit)
    call = asyncio.create_task(bench.search(deadline=10))
    await waits.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (len(web.requests), [a.outcome for a in bench.attempts]) == (1, ["cancelled"])
