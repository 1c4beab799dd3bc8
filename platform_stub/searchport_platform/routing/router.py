"""From a route to an answer: one provider, asked under one deadline, then every guarantee."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs
import structlog

from searchport import guarantees
from searchport.egress import AddressPolicy, Deadline
from searchport.errors import ErrorCode, SearchError
from searchport.request import SearchRequest
from searchport.result import Attempt, Envelope, Notice, SearchResponse
from searchport.toolkit import Sunset
from searchport.web_search import Page, SearchContext, SearchModel, wire_names
from searchport_platform.registry import AnyToolkit, Registry
from searchport_platform.routing.cache import AnswerCache, Answered, Fetch, Spending
from searchport_platform.routing.resilience import Breakers, RetryOnce
from searchport_platform.routing.route import Route

if TYPE_CHECKING:
    from searchport.egress import HttpClient
    from searchport_platform.routing.clients import HttpClients

__all__ = ["Route", "Router"]

DEADLINE_SECONDS = 15.0
SHARE_BEFORE_FALLBACKS = 2 / 3
PUBLIC = AddressPolicy()

_OF_THE_PROVIDER = frozenset(
    {
        ErrorCode.PROVIDER_UNAUTHORIZED,
        ErrorCode.PROVIDER_REJECTED,
        ErrorCode.PROVIDER_RATE_LIMITED,
        ErrorCode.PROVIDER_UNAVAILABLE,
        ErrorCode.UPSTREAM_UNREACHABLE,
        ErrorCode.UPSTREAM_TIMEOUT,
    }
)
"""Failures that another provider may not have; the rest are the caller's or the configuration's."""

_log = structlog.get_logger("searchport.search")


def _ignore(_: Attempt) -> None:
    """Nobody listens."""


@attrs.frozen(kw_only=True)
class _Asking:
    """One call of one provider, ready to be asked."""

    toolkit: AnyToolkit
    http: HttpClient
    deadline: Deadline
    circuit: Hashable | None
    fetch: Callable[[], Awaitable[SearchResponse]]
    request_id: str


@attrs.frozen(kw_only=True)
class Router:
    """Sends calls along routes.

    origins: provider id -> the origin to call instead of the vendor's. kept: ids of ended providers that stay usable.
    public_url: scheme, host and port under which this server is reached; None where it serves nothing. breakers, cache: what
    this process has learnt of vendors, and what it keeps of their answers.
    """

    registry: Registry
    clients: HttpClients
    breakers: Breakers = attrs.field(factory=Breakers)
    cache: AnswerCache = attrs.field(factory=AnswerCache)
    origins: Mapping[str, str] = attrs.field(factory=lambda: MappingProxyType({}))
    kept: frozenset[str] = frozenset()
    public_url: str | None = None

    async def dispatch(
        self,
        route: Route,
        request: SearchRequest,
        *,
        request_id: str,
        deadline_seconds: float = DEADLINE_SECONDS,
        result_policy: AddressPolicy = PUBLIC,
        attempts: Sequence[Attempt] = (),
        cache_seconds: float = 0.0,
        on_attempt: Callable[[Attempt], None] = _ignore,
    ) -> Envelope:
        """The answer of the route's provider, every guarantee applied. Raises SearchError.

        Everything that can be refused is refused before the first request to the vendor. result_policy: judges the URLs of
        results, never what is dialled. attempts: those before this one. cache_seconds: how old an answer may be that was asked
        for earlier; 0: none is kept. on_attempt: told once how the provider was asked and how it ended, whatever it was, a
        cancelled call (`cancelled`) too.
        """
        spending, outcome = Spending(), str(ErrorCode.INTERNAL_ERROR)
        try:
            envelope = await self._dispatch(
                route, request, request_id, Deadline.after(deadline_seconds), result_policy, cache_seconds, spending
            )
            outcome = "ok"
        except asyncio.CancelledError:
            outcome = "cancelled"
            raise
        except SearchError as error:
            outcome = str(error.code)
            raise
        finally:
            attempt = Attempt(provider=route.toolkit.id, outcome=outcome, vendor_requests=spending.vendor_requests)
            on_attempt(attempt)
        return attrs.evolve(envelope, attempts=(*attempts, attempt))

    async def _dispatch(
        self,
        route: Route,
        request: SearchRequest,
        request_id: str,
        deadline: Deadline,
        result_policy: AddressPolicy,
        cache_seconds: float,
        spending: Spending,
    ) -> Envelope:
        toolkit, now = route.toolkit, datetime.now(UTC)
        settings, unknown = self.check(route, request)
        asking = self._prepare(route, request, settings, request_id, deadline, now)
        try:
            answered, cached = await self._find(asking, route, request, cache_seconds, spending)
        except SearchError as error:
            raise self._with_way_out(error, toolkit) from None
        response = answered.response
        kept = guarantees.apply(response, request, toolkit.web_search, result_policy, now, answered.at)
        return Envelope(
            query=request.query,
            provider=toolkit.id,
            vendor=response.vendor,
            model=route.model,
            results=kept.results,
            ignored=wire_names(response.ignored) + tuple(f"providerOptions.{name}" for name in unknown),
            notices=self.read_notices(toolkit),
            filter_report=kept.report,
            cached=cached,
            attempts=(),
            request_id=request_id,
        )

    def check(self, route: Route, request: SearchRequest) -> tuple[object, tuple[str, ...]]:
        """The toolkit's settings for this call, and the `provider_options` that it does not know.

        Raises SearchError where the call must be refused; nobody is asked.
        """
        self._check_sunset(route.toolkit, datetime.now(UTC))
        self._check_options(route.toolkit, request)
        built = route.toolkit.build_settings(route.settings, request.provider_options)
        _check_credential(route)
        return built

    def _prepare(
        self, route: Route, request: SearchRequest, settings: object, request_id: str, deadline: Deadline, now: datetime
    ) -> _Asking:
        toolkit, origin = route.toolkit, self.origins.get(route.toolkit.id)
        http = toolkit.web_search.bind(self.clients.open(route.policy, origin=origin), deadline=deadline, origin=origin)
        http = http.bind(repeat=RetryOnce(deadline))

        async def fetch() -> SearchResponse:
            return await toolkit.web_search.fetch(
                request,
                http=http,
                settings=settings,
                credential=route.credential,
                now=now,
                deadline=deadline,
                model=route.model,
                public_url=self.public_url,
            )

        circuit = route.circuit(settings, origin)
        return _Asking(toolkit=toolkit, http=http, deadline=deadline, circuit=circuit, fetch=fetch, request_id=request_id)

    async def _find(
        self, asking: _Asking, route: Route, request: SearchRequest, cache_seconds: float, spending: Spending
    ) -> tuple[Answered, bool]:
        """The vendor's answer, and whether another call asked for it."""
        key = route.answer_key(request) if cache_seconds > 0 else None
        if key is None:
            try:
                return await self._ask(asking), False
            finally:
                spending.vendor_requests += asking.http.requests_sent
        fetch = Fetch(run=lambda: self._ask(asking), count=lambda: asking.http.requests_sent)
        answered, cached = await self.cache.get(key, fetch, seconds=cache_seconds, deadline=asking.deadline, spending=spending)
        if cached:
            _log.info("search", provider=asking.toolkit.id, outcome="cached", vendor_requests=0, record=asking.request_id)
        return answered, cached

    async def _ask(self, asking: _Asking) -> Answered:
        """Awaits the provider's answer until the deadline, and logs how it ended; the log holds no query, key or URL."""
        started, outcome = time.monotonic(), "cancelled"
        try:
            with self.breakers.admit(asking.circuit, provider=asking.toolkit.id, deadline=asking.deadline):
                response = await _await(asking)
            outcome = "ok"
            return Answered(response, datetime.now(UTC))
        except SearchError as error:
            outcome = str(error.code)
            raise
        finally:
            _log.info(
                "search",
                provider=asking.toolkit.id,
                outcome=outcome,
                vendor_requests=asking.http.requests_sent,
                duration_ms=round((time.monotonic() - started) * 1_000),
                record=asking.request_id,
            )

    async def answer(
        self,
        routes: Sequence[Callable[[], Route]],
        request: SearchRequest,
        *,
        request_id: str,
        deadline_seconds: float,
        result_policy: AddressPolicy = PUBLIC,
        cache_seconds: float = 0.0,
        on_attempt: Callable[[Attempt], None] = _ignore,
    ) -> Envelope:
        """The answer of the first route, or, where its provider fails, of the next that can take the call.

        routes: each builds its route, or raises SearchError where it cannot. One deadline for all of them together; each but
        the last gets two thirds of what is left, since a vendor that hangs must not take the time of who could answer. The
        call's `provider_options` are for the first alone. cache_seconds, on_attempt: as in `dispatch`; a route that cannot be
        built is no attempt. Raises what the first raised where no fallback answers.
        """
        ends = Deadline.after(deadline_seconds)
        failed: list[Attempt] = []
        first_error: SearchError | None = None

        def note(attempt: Attempt) -> None:
            if attempt.outcome != "ok":
                failed.append(attempt)
            on_attempt(attempt)

        for number, build_route in enumerate(routes, start=1):
            share = 1.0 if number == len(routes) else SHARE_BEFORE_FALLBACKS
            asked = request if first_error is None else attrs.evolve(request, provider_options={})
            before = len(failed)
            try:
                envelope = await self.dispatch(
                    build_route(),
                    asked,
                    request_id=request_id,
                    deadline_seconds=ends.remaining_seconds() * share,
                    result_policy=result_policy,
                    attempts=failed,
                    cache_seconds=cache_seconds,
                    on_attempt=note,
                )
            except SearchError as error:
                if first_error is None and error.code not in _OF_THE_PROVIDER:
                    raise
                first_error = first_error or error
                if len(failed) == before:
                    failed.append(Attempt(provider=error.provider or "", outcome=error.code, vendor_requests=0))
                if ends.is_over:
                    break
            else:
                return _tell_fallback(envelope, failed)
        raise first_error or SearchError(ErrorCode.PROVIDER_NOT_CONFIGURED)

    async def list_models(self, route: Route) -> list[SearchModel]:
        """The models of the route's provider, as its vendor or its toolkit lists them. Raises SearchError."""
        toolkit, web_search = route.toolkit, route.toolkit.web_search
        settings, _ = toolkit.build_settings(route.settings, {})
        deadline = Deadline.after(DEADLINE_SECONDS)
        origin = self.origins.get(toolkit.id)
        context = SearchContext(
            http=web_search.bind(self.clients.open(route.policy, origin=origin), deadline=deadline, origin=origin),
            page=Page(size=1),
            settings=settings,
            now=datetime.now(UTC),
            deadline=deadline,
            credential=route.credential,
        )
        try:
            async with asyncio.timeout(deadline.remaining_seconds()):
                return await web_search.list_models(context)
        except TimeoutError:
            raise SearchError(ErrorCode.UPSTREAM_TIMEOUT, provider=toolkit.id) from None

    def _check_sunset(self, toolkit: AnyToolkit, now: datetime) -> None:
        sunset = toolkit.sunset
        if sunset is None or toolkit.id in self.kept or not sunset.is_over(now.date()):
            return
        raise SearchError(
            ErrorCode.PROVIDER_NOT_CONFIGURED,
            reason=f"it ended on {sunset.ends}: {sunset.reason}",
            provider=toolkit.id,
            alternatives=self._successors(sunset),
        )

    def _with_way_out(self, error: SearchError, toolkit: AnyToolkit) -> SearchError:
        """A vendor that goes away and refuses the account will not take it back: the error names where to go.

        Always a new error: those who shared a fetch share its failure, but no exception.
        """
        is_closed = toolkit.sunset is not None and error.code is ErrorCode.PROVIDER_REJECTED
        alternatives = self._successors(toolkit.sunset) if is_closed and toolkit.sunset is not None else error.alternatives
        return attrs.evolve(error, provider=error.provider or toolkit.id, alternatives=alternatives)

    def read_notices(self, toolkit: AnyToolkit) -> tuple[Notice, ...]:
        """What an organization should know of this provider, though calls still succeed."""
        sunset = toolkit.sunset
        if sunset is None:
            return ()
        successors = ", ".join(self._successors(sunset))
        moving = f"; move to one of: {successors}" if successors else ""
        verb = "ended" if sunset.is_over(datetime.now(UTC).date()) else "ends"
        return (Notice("sunset", f"{toolkit.name} {verb} on {sunset.ends}: {sunset.reason}{moving}"),)

    def _successors(self, sunset: Sunset) -> tuple[str, ...]:
        return tuple(name for name in sunset.successors if name in self.registry.toolkits)

    def _check_options(self, toolkit: AnyToolkit, request: SearchRequest) -> None:
        try:
            toolkit.web_search.check(request)
        except SearchError as error:
            if error.code is not ErrorCode.UNSUPPORTED_OPTION:
                raise
            raise attrs.evolve(error, alternatives=self.registry.able(request, but=toolkit.id)) from None


def _tell_fallback(envelope: Envelope, failed: Sequence[Attempt]) -> Envelope:
    if not failed:
        return envelope
    words = ", ".join(f"{attempt.provider} ({attempt.outcome})" for attempt in failed)
    notice = Notice("fallback", f"answered by {envelope.provider} instead of {words}")
    return attrs.evolve(envelope, notices=(*envelope.notices, notice))


def _check_credential(route: Route) -> None:
    if not route.toolkit.is_keyless and not route.credential:
        raise SearchError(
            ErrorCode.PROVIDER_NOT_CONFIGURED, reason="it takes a key, and none was given", provider=route.toolkit.id
        )


async def _await(asking: _Asking) -> SearchResponse:
    """Raises SearchError (`upstream_timeout`) at the deadline."""
    try:
        async with asyncio.timeout(asking.deadline.remaining_seconds()):
            return await asking.fetch()
    except TimeoutError:
        raise SearchError(ErrorCode.UPSTREAM_TIMEOUT, provider=asking.toolkit.id) from None
