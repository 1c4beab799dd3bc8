"""Vendors' answers, kept for as long as an organization chose, and asked for once by all who ask at the same time.

Our own, in process and bounded: a library's single flight either ends with its first waiter or polls, and the time to keep an
answer is the reading organization's, not the cache's.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from datetime import datetime

import attrs

from searchport.egress import Deadline
from searchport.errors import ErrorCode, SearchError
from searchport.result import SearchResponse, SearchResult

__all__ = ["AnswerCache", "Answered", "Fetch", "Spending"]

SWEEP_SECONDS = 60.0


@attrs.frozen
class Answered:
    """What a toolkit returned, before any guarantee, and when: aware, UTC."""

    response: SearchResponse
    at: datetime


@attrs.define
class Spending:
    """vendor_requests: those that one call paid for; of a shared answer, each request is one call's alone."""

    vendor_requests: int = 0


@attrs.frozen
class Fetch:
    """How to ask the vendor. run: asks. count: requests sent so far, whenever it is asked."""

    run: Callable[[], Awaitable[Answered]]
    count: Callable[[], int]


@attrs.define
class _Kept:
    answered: Answered
    at: float
    ends_at: float
    characters: int


@attrs.define(eq=False)
class _Flight:
    """One fetch under way, in a task that belongs to none of those who wait for it."""

    fetch: Fetch
    task: asyncio.Task[Answered]
    waiters: int = 0
    taken: int = 0

    def pay(self, spending: Spending) -> None:
        """Gives the requests that nobody has paid for yet to whoever leaves."""
        sent = self.fetch.count()
        spending.vendor_requests += sent - self.taken
        self.taken = sent


@attrs.define
class AnswerCache:
    """Answers by key, the least recently used going first.

    most, most_characters: bounds on what is kept, over all organizations; an answer of more than a sixteenth of the
    characters is not kept. clock: seconds, monotonic.
    """

    most: int = 5_000
    most_characters: int = 32_000_000
    clock: Callable[[], float] = time.monotonic
    _kept: OrderedDict[Hashable, _Kept] = attrs.field(factory=OrderedDict, init=False)
    _characters: int = attrs.field(default=0, init=False)
    _swept_at: float = attrs.field(default=0.0, init=False)
    _flights: dict[Hashable, _Flight] = attrs.field(factory=dict, init=False)

    def __len__(self) -> int:
        return len(self._kept)

    async def get(
        self, key: Hashable, fetch: Fetch, *, seconds: float, deadline: Deadline, spending: Spending
    ) -> tuple[Answered, bool]:
        """An answer, and whether another call asked for it: one that is kept and younger than `seconds`, else a fetched one.

        Callers of one key share a fetch, which goes on while one of them waits. What it raises, all of them get, and nothing is
        kept; but who has time left after another's deadline asks anew. Raises what `fetch` raises, and SearchError
        (`upstream_timeout`) at the caller's own deadline.
        """
        kept = self._find(key, seconds)
        if kept is not None:
            return kept, True
        while True:
            flight = self._flights.get(key)
            is_first = flight is None
            if flight is None:
                flight = self._begin(key, fetch, seconds)
            try:
                return await self._wait(key, flight, spending, None if is_first else deadline), not is_first
            except SearchError as error:
                if is_first or error.code is not ErrorCode.UPSTREAM_TIMEOUT or deadline.is_over:
                    raise

    def _find(self, key: Hashable, seconds: float) -> Answered | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        now = self.clock()
        if now >= min(kept.ends_at, kept.at + seconds):
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return kept.answered

    def _begin(self, key: Hashable, fetch: Fetch, seconds: float) -> _Flight:
        async def fly() -> Answered:
            try:
                answered = await fetch.run()
                answered = attrs.evolve(answered, response=attrs.evolve(answered.response, next_page=None))
                self._keep(key, answered, seconds)
                return answered
            finally:
                self._land(key, flight)

        flight = _Flight(fetch, asyncio.create_task(fly()))
        self._flights[key] = flight
        return flight

    async def _wait(self, key: Hashable, flight: _Flight, spending: Spending, deadline: Deadline | None) -> Answered:
        """deadline: None for the call that began the fetch, which has the same."""
        flight.waiters += 1
        try:
            async with asyncio.timeout(None if deadline is None else deadline.remaining_seconds()):
                return await asyncio.shield(flight.task)
        except TimeoutError:
            raise SearchError(ErrorCode.UPSTREAM_TIMEOUT) from None
        finally:
            flight.waiters -= 1
            try:
                if flight.waiters == 0 and not flight.task.done():
                    self._land(key, flight)
                    flight.task.cancel()
                    await asyncio.wait([flight.task])
            finally:
                if deadline is None or flight.waiters == 0 or flight.task.done():
                    flight.pay(spending)

    def _land(self, key: Hashable, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]

    def _keep(self, key: Hashable, answered: Answered, seconds: float) -> None:
        characters = sum(
            len(text)
            for row in answered.response.results
            if isinstance(row, SearchResult)  # a toolkit is not type-checked where it runs
            for text in (row.title, row.url, row.snippet, row.published_date)
            if isinstance(text, str)
        )
        self._drop(key)
        self._sweep()
        if characters > self.most_characters // 16:
            return
        now = self.clock()
        self._kept[key] = _Kept(answered, now, now + seconds, characters)
        self._characters += characters
        while len(self._kept) > self.most or self._characters > self.most_characters:
            self._drop(next(iter(self._kept)))

    def _sweep(self) -> None:
        """Drops what is over, now and then: an answer must not outlive its time because nobody asks again."""
        now = self.clock()
        if now < self._swept_at + SWEEP_SECONDS:
            return
        self._swept_at = now
        for key in [key for key, kept in self._kept.items() if kept.ends_at <= now]:
            self._drop(key)

    def _drop(self, key: Hashable) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._characters -= kept.characters
