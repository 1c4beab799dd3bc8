"""What a vendor's bad day may cost: one more request at most, and then none until there is hope.

The breakers are our own: purgatory, the asyncio library that is alive, lets every caller through while half open, counts a
cancelled call as the vendor's failure, has one fixed cool-down and keeps a circuit for ever.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from enum import Enum

import attrs

from searchport.egress import Deadline
from searchport.egress.client import Setback
from searchport.errors import ErrorCode, SearchError

__all__ = ["Breakers", "Cooling", "RetryOnce"]

BACKOFF_SECONDS = 0.25
LEAST_ROOM_SECONDS = 0.02

_TRANSIENT = frozenset({502, 503, 504})
_MAY_STATE_A_WAIT = _TRANSIENT | {429}

_ANSWERED = frozenset({ErrorCode.PROVIDER_UNAUTHORIZED, ErrorCode.PROVIDER_REJECTED})
"""A vendor that refuses a key or a request is not ill."""

_FAILURES = frozenset({ErrorCode.PROVIDER_UNAVAILABLE, ErrorCode.UPSTREAM_UNREACHABLE, ErrorCode.UPSTREAM_TIMEOUT})


@attrs.define
class RetryOnce:
    """Lets one request of one call to one provider be sent again; the `repeat` of its HTTP client.

    Only the request that failed is: pages that were answered before it are not paid for twice. It is for no answer at all, 502,
    503, 504, and a 429 that states a wait. Before it, what the vendor stated is waited, and a random part of `BACKOFF_SECONDS`
    (full jitter). Nothing is sent again unless that wait, and as long again as the failure took, fit into the deadline.
    """

    deadline: Deadline
    draw: Callable[[float, float], float] = random.uniform
    _is_spent: bool = attrs.field(default=False, init=False)

    async def __call__(self, setback: Setback) -> bool:
        """Waits; True where the request is to be sent again."""
        if self._is_spent or not _is_transient(setback):
            return False
        stated = setback.error.retry_after or 0.0
        left = self.deadline.remaining_seconds() - stated - max(setback.seconds, LEAST_ROOM_SECONDS)
        if left <= 0:
            return False
        self._is_spent = True
        await asyncio.sleep(stated + self.draw(0.0, min(BACKOFF_SECONDS, left / 2)))
        return True


def _is_transient(setback: Setback) -> bool:
    error, status = setback.error, setback.status
    if status is None:
        return error.code is ErrorCode.UPSTREAM_UNREACHABLE
    if error.code is ErrorCode.PROVIDER_RATE_LIMITED:
        return status in _MAY_STATE_A_WAIT and error.retry_after is not None
    return status in _TRANSIENT and error.code is ErrorCode.PROVIDER_UNAVAILABLE


@attrs.frozen(kw_only=True)
class Cooling:
    """When a breaker opens, and for how long; seconds.

    failures: that many in a row open it, for `seconds`, and twice as long after each probe that fails, up to `longest_seconds`.
    rate_limited_seconds: after a rate limit that states no wait, which opens it at once, as does every error that states one
    (a `Retry-After`, or the minutes that a toolkit gives a bot challenge), for as long as stated, up to
    `longest_stated_seconds`. fair_seconds: a timeout counts only where the provider was given as long: a caller in a hurry
    must not close a vendor to the others. probe_seconds: what is said to those who come while a probe is under way.
    """

    failures: int = 5
    seconds: float = 15.0
    longest_seconds: float = 300.0
    rate_limited_seconds: float = 2.0
    longest_stated_seconds: float = 86_400.0
    fair_seconds: float = 2.5
    probe_seconds: float = 1.0

    def stated_seconds(self, error: SearchError) -> float | None:
        """How long an error by itself keeps the vendor from being asked; None: it is one failure among others."""
        is_limit = error.code is ErrorCode.PROVIDER_RATE_LIMITED
        if is_limit and error.retry_after is None:
            return self.rate_limited_seconds
        if not error.retry_after or not (is_limit or error.code is ErrorCode.PROVIDER_UNAVAILABLE):
            return None
        return min(error.retry_after, self.longest_stated_seconds)

    def growing_seconds(self, openings: int) -> float:
        """The cool-down after so many openings in a row, from 0."""
        return min(self.longest_seconds, self.seconds * 2.0 ** min(openings, 16))


class _Verdict(Enum):
    ANSWERED = "answered"
    FAILED = "failed"
    UNKNOWN = "unknown"


@attrs.define
class _Breaker:
    """One circuit. shut_until: None while calls pass; from that instant on one probe may. epoch: of openings and closings."""

    cooling: Cooling
    failures: int = 0
    openings: int = 0
    shut_until: float | None = None
    is_probed: bool = False
    epoch: int = 0
    in_flight: int = 0
    last: ErrorCode | None = None

    @property
    def is_idle(self) -> bool:
        """True where nothing would be lost with it."""
        return self.failures == 0 and self.shut_until is None and self.in_flight == 0

    def enter(self, now: float) -> float | None:
        """None where the call may pass, else the seconds to wait."""
        if self.shut_until is not None:
            if now < self.shut_until:
                return self.shut_until - now
            if self.is_probed:
                return self.cooling.probe_seconds
            self.is_probed = True
        self.in_flight += 1
        return None

    def leave(self, now: float, epoch: int, verdict: _Verdict, error: SearchError | None) -> None:
        """Counts how a call of an epoch ended."""
        self.in_flight -= 1
        stated = None if error is None or verdict is not _Verdict.FAILED else self.cooling.stated_seconds(error)
        if epoch != self.epoch:  # it began before the last opening or closing: only what the vendor states still counts
            if stated is not None and self.shut_until is not None:
                self.shut_until = max(self.shut_until, now + stated)
            return
        was_probe, self.is_probed = self.is_probed, False
        if verdict is _Verdict.ANSWERED:
            self._close()
        elif verdict is _Verdict.FAILED:
            self.failures += 1
            self.last = error.code if error is not None else None
            if was_probe or stated is not None or self.failures >= self.cooling.failures:
                self._open(now, stated)

    def _open(self, now: float, stated: float | None) -> None:
        self.shut_until = now + (self.cooling.growing_seconds(self.openings) if stated is None else stated)
        self.openings += stated is None
        self.epoch += 1

    def _close(self) -> None:
        self.failures = self.openings = 0
        if self.shut_until is not None:
            self.shut_until = None
            self.epoch += 1


@attrs.define
class Breakers:
    """The circuits of this process, by whom a failure concerns; processes share none, each learns within a few calls.

    most: circuits kept; the oldest goes first. A circuit with nothing to tell is not kept.
    """

    cooling: Cooling = attrs.field(factory=Cooling)
    most: int = 10_000
    clock: Callable[[], float] = time.monotonic
    _circuits: dict[Hashable, _Breaker] = attrs.field(factory=dict, init=False)

    def __len__(self) -> int:
        return len(self._circuits)

    @contextmanager
    def admit(self, key: Hashable | None, *, provider: str, deadline: Deadline) -> Iterator[None]:
        """Around a call; how it ends is what the next one learns. A cancelled call tells nothing and frees its place.

        key: whom a failure concerns; None: nobody. Raises SearchError (`provider_unavailable`, with the wait) where the
        circuit is open, or where it is half open and another call is its probe.
        """
        if key is None:
            yield
            return
        breaker = self._find(key)
        self._check(breaker, provider)
        epoch, is_fair = breaker.epoch, deadline.remaining_seconds() >= self.cooling.fair_seconds
        verdict, failure = _Verdict.UNKNOWN, None
        try:
            yield
            verdict = _Verdict.ANSWERED
        except SearchError as error:
            verdict, failure = _judge(error, is_fair=is_fair), error
            raise
        finally:
            breaker.leave(self.clock(), epoch, verdict, failure)
            if breaker.is_idle and self._circuits.get(key) is breaker:
                del self._circuits[key]

    def _find(self, key: Hashable) -> _Breaker:
        if key not in self._circuits:
            if len(self._circuits) >= self.most:
                del self._circuits[next(iter(self._circuits))]
            self._circuits[key] = _Breaker(self.cooling)
        return self._circuits[key]

    def _check(self, breaker: _Breaker, provider: str) -> None:
        wait_seconds = breaker.enter(self.clock())
        if wait_seconds is not None:
            reason = f"it failed of late ({breaker.last}), so it was not asked"
            raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE, reason=reason, retry_after=wait_seconds, provider=provider)


def _judge(error: SearchError, *, is_fair: bool) -> _Verdict:
    if error.code in _ANSWERED:
        return _Verdict.ANSWERED
    if error.code is ErrorCode.UPSTREAM_TIMEOUT and not is_fair:
        return _Verdict.UNKNOWN
    is_failure = error.code in _FAILURES or error.code is ErrorCode.PROVIDER_RATE_LIMITED
    return _Verdict.FAILED if is_failure else _Verdict.UNKNOWN
