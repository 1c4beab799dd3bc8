"""Replaying calls: what would become of each, and the pages that it gets today and would get tomorrow."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import attrs

from searchport.errors import ErrorCode, SearchError
from searchport_platform.migration.calls import CallFile
from searchport_platform.migration.sides import Answer, Expectation, GoogleSide, Side
from searchport_platform.migration.translation import Change, Translation, translate

__all__ = ["Expected", "Outcome", "Replay"]

_HOPELESS = frozenset(
    {
        ErrorCode.UNAUTHORIZED,
        ErrorCode.FORBIDDEN,
        ErrorCode.PROVIDER_UNAUTHORIZED,
        ErrorCode.PROVIDER_NOT_CONFIGURED,
        ErrorCode.DAILY_CAP_REACHED,
        ErrorCode.BUDGET_EXCEEDED,
    }
)
"""Failures that the next call would meet too: it is not sent, and counted as failed alike."""


@attrs.frozen
class Expected:
    """A call and what would become of it. expectation: None where it cannot be said in the contract's words."""

    translation: Translation
    expectation: Expectation | None

    @property
    def goes_out(self) -> bool:
        """True where nothing would refuse it."""
        return self.expectation is not None and self.expectation.refusal is None

    @property
    def times(self) -> int:
        """Lines that hold the call."""
        return self.translation.call.times

    @property
    def changes(self) -> tuple[Change, ...]:
        """Everything that would be otherwise than at Google; of a call that would be refused, why."""
        if self.expectation is None:
            return self.translation.changes
        return (*(self.translation.changes if self.goes_out else ()), *self.expectation.changes)

    @property
    def refusal_code(self) -> str:
        """The error's code with which it would be refused."""
        refusal = None if self.expectation is None else self.expectation.refusal
        return str(ErrorCode.VALIDATION_ERROR if refusal is None else refusal.code)

    @property
    def cost_microusd(self) -> int | None:
        """At most, of all these lines together; None where no price is known."""
        cost = None if self.expectation is None else self.expectation.cost_microusd
        return None if cost is None else cost * self.times


@attrs.frozen
class Outcome:
    """What one call got: a page, or the failure. before: None where Google was not asked."""

    translation: Translation
    after: Answer | SearchError
    before: Answer | SearchError | None


@attrs.define
class _Asking:
    """Asks until a failure tells that asking on is in vain."""

    hopeless: SearchError | None = None

    async def ask(self, send: Callable[[], Awaitable[Answer]]) -> Answer | SearchError:
        if self.hopeless is not None:
            return self.hopeless
        try:
            return await send()
        except SearchError as error:
            if error.code in _HOPELESS:
                self.hopeless = error
            return error


@attrs.define(kw_only=True)
class Replay:
    """One run over a file; what it has found stays here, however it ends.

    side: where the calls would go. google: None where it is not to be asked. limit: calls to ask, those that are made most often
    and would not be refused. concurrency: calls at a time, each to both sides at once.
    """

    file: CallFile
    side: Side
    google: GoogleSide | None
    limit: int
    concurrency: int
    expected: list[Expected] = attrs.field(factory=list, init=False)
    outcomes: list[Outcome] = attrs.field(factory=list, init=False)
    _after: _Asking = attrs.field(factory=_Asking, init=False)
    _before: _Asking = attrs.field(factory=_Asking, init=False)

    async def expect(self) -> None:
        """What would become of each call of the file, or, where that takes a request, of those within the limit."""
        going = 0
        for call in self.file.calls:
            translation = translate(call)
            if translation.request is None:
                self.expected.append(Expected(translation, None))
            elif not self.side.asks_to_expect or going < self.limit:
                self.expected.append(Expected(translation, await self.side.expect(translation)))
                going += self.expected[-1].goes_out

    @property
    def sample(self) -> Sequence[Translation]:
        """The calls to ask."""
        return [each.translation for each in self.expected if each.goes_out][: self.limit]

    async def run(self, advance: Callable[[], None]) -> None:
        """Asks. advance: called when a call has its answers."""
        waiting = iter(self.sample)

        async def work() -> None:
            for translation in waiting:
                self.outcomes.append(await self._ask(translation))
                advance()

        async with asyncio.TaskGroup() as workers:
            for _ in range(min(self.concurrency, len(self.sample))):
                workers.create_task(work())

    async def _ask(self, translation: Translation) -> Outcome:
        google = self.google
        after = self._after.ask(lambda: self.side.ask(translation))
        if google is None:
            return Outcome(translation, await after, None)
        before = self._before.ask(lambda: google.ask(translation.call.given))
        new, old = await asyncio.gather(after, before)
        return Outcome(translation, new, old)
