"""From a route to an answer: one provider, asked under one deadline, then every guarantee."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
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

if TYPE_CHECKING:
    from searchport.egress import HttpClient
    from searchport_platform.routing.clients import HttpClients

__all__ = ["Route", "Router"]

DEADLINE_SECONDS = 15.0
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


@attrs.frozen(kw_only=True)
class Route:
    """Whom one call asks, and with what.

    credential: the key for this call; None for a keyless toolkit. settings: stored values of the toolkit's settings class.
    policy: what may be dialled.
    """

    toolkit: AnyToolkit
    credential: str | None = attrs.field(default=None, repr=False)
    settings: Mapping[str, object] = attrs.field(factory=lambda: MappingProxyType({}))
    model: str | None = None
    policy: AddressPolicy = attrs.field(factory=AddressPolicy)


@attrs.frozen(kw_only=True)
class Router:
    """Sends calls along routes.

    origins: provider id -> the origin to call instead of the vendor's. kept: ids of ended providers that stay usable.
    public_url: scheme, host and port under which this server is reached; None where it serves nothing.
    """

    registry: Registry
    clients: HttpClients
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
    ) -> Envelope:
        """The answer of the route's provider, every guarantee applied. Raises SearchError.

        Everything that can be refused is refused before the first request to the vendor. result_policy: judges the URLs of
        results, never what is dialled. attempts: those before this one.
        """
        toolkit, web_search = route.toolkit, route.toolkit.web_search
        now = datetime.now(UTC)
        self._check_sunset(toolkit, now)
        self._check_options(toolkit, request)
        settings, unknown = toolkit.build_settings(route.settings, request.provider_options)
        _check_credential(route)
        deadline = Deadline.after(deadline_seconds)
        origin = self.origins.get(toolkit.id)
        http = web_search.bind(self.clients.open(route.policy, origin=origin), deadline=deadline, origin=origin)
        fetching = web_search.fetch(
            request,
            http=http,
            settings=settings,
            credential=route.credential,
            now=now,
            deadline=deadline,
            model=route.model,
            public_url=self.public_url,
        )
        try:
            response = await _ask(fetching, http=http, deadline=deadline, provider=toolkit.id, request_id=request_id)
        except SearchError as error:
            raise self._with_way_out(error, toolkit) from None
        kept = guarantees.apply(response, request, web_search, result_policy, now, datetime.now(UTC))
        return Envelope(
            query=request.query,
            provider=toolkit.id,
            vendor=response.vendor,
            model=route.model,
            results=kept.results,
            ignored=wire_names(response.ignored) + tuple(f"providerOptions.{name}" for name in unknown),
            notices=self.read_notices(toolkit),
            filter_report=kept.report,
            attempts=(*attempts, Attempt(provider=toolkit.id, outcome="ok", vendor_requests=http.requests_sent)),
            request_id=request_id,
        )

    async def answer(
        self,
        routes: Sequence[Callable[[], Route]],
        request: SearchRequest,
        *,
        request_id: str,
        deadline_seconds: float,
        result_policy: AddressPolicy = PUBLIC,
    ) -> Envelope:
        """The answer of the first route, or, where its provider fails, of the next that can take the call.

        routes: each builds its route, or raises SearchError where it cannot. One deadline for all of them together. The
        call's `provider_options` are for the first alone. Raises what the first raised where no fallback answers.
        """
        ends = Deadline.after(deadline_seconds)
        failed: list[Attempt] = []
        first_error: SearchError | None = None
        for build_route in routes:
            asked = request if first_error is None else attrs.evolve(request, provider_options={})
            try:
                envelope = await self.dispatch(
                    build_route(),
                    asked,
                    request_id=request_id,
                    deadline_seconds=ends.remaining_seconds(),
                    result_policy=result_policy,
                    attempts=failed,
                )
            except SearchError as error:
                if first_error is None and error.code not in _OF_THE_PROVIDER:
                    raise
                first_error = first_error or error
                failed.append(Attempt(provider=error.provider or "", outcome=error.code))
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
        """A vendor that goes away and refuses the account will not take it back: the error names where to go."""
        if toolkit.sunset is None or error.code is not ErrorCode.PROVIDER_REJECTED:
            return error
        return attrs.evolve(error, alternatives=self._successors(toolkit.sunset))

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


async def _ask(
    fetching: Awaitable[SearchResponse], *, http: HttpClient, deadline: Deadline, provider: str, request_id: str
) -> SearchResponse:
    """Awaits the provider's answer until the deadline, and logs how it ended; the log holds no query, key or URL."""
    started = time.monotonic()
    outcome = "cancelled"
    try:
        async with asyncio.timeout(deadline.remaining_seconds()):
            response = await fetching
        outcome = "ok"
    except TimeoutError:
        outcome = ErrorCode.UPSTREAM_TIMEOUT
        raise SearchError(ErrorCode.UPSTREAM_TIMEOUT, provider=provider) from None
    except SearchError as error:
        outcome = error.code
        raise
    finally:
        _log.info(
            "search",
            provider=provider,
            outcome=str(outcome),
            vendor_requests=http.requests_sent,
            duration_ms=round((time.monotonic() - started) * 1_000),
            request_id=request_id,
        )
    return response
