"""From a route to an answer: one provider, asked under one deadline, then every guarantee."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Mapping
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
from searchport.web_search import wire_names
from searchport_platform.registry import AnyToolkit, Registry

if TYPE_CHECKING:
    from searchport.egress import HttpClient
    from searchport_platform.routing.clients import HttpClients

__all__ = ["Route", "Router"]

DEADLINE_SECONDS = 15.0

_log = structlog.get_logger("searchport.search")


@attrs.frozen(kw_only=True)
class Route:
    """Whom one call asks, and with what.

    credential: the key for this call; None for a keyless toolkit. settings: stored values of the toolkit's settings class.
    """

    toolkit: AnyToolkit
    credential: str | None = attrs.field(default=None, repr=False)
    settings: Mapping[str, object] = attrs.field(factory=lambda: MappingProxyType({}))
    model: str | None = None
    deadline_seconds: float = DEADLINE_SECONDS


@attrs.frozen(kw_only=True)
class Router:
    """Sends calls along routes.

    origins: provider id -> the origin to call instead of the vendor's. kept: ids of ended providers that stay usable.
    result_policy: judges the URLs of results, never what is dialled.
    """

    registry: Registry
    clients: HttpClients
    origins: Mapping[str, str] = attrs.field(factory=lambda: MappingProxyType({}))
    kept: frozenset[str] = frozenset()
    result_policy: AddressPolicy = attrs.field(factory=AddressPolicy)

    async def dispatch(self, route: Route, request: SearchRequest, *, request_id: str) -> Envelope:
        """The answer of the route's provider, every guarantee applied. Raises SearchError.

        Everything that can be refused is refused before the first request to the vendor.
        """
        toolkit, web_search = route.toolkit, route.toolkit.web_search
        now = datetime.now(UTC)
        self._check_sunset(toolkit, now)
        self._check_options(toolkit, request)
        settings, unknown = toolkit.build_settings(route.settings, request.provider_options)
        _check_credential(route)
        deadline = Deadline.after(route.deadline_seconds)
        origin = self.origins.get(toolkit.id)
        http = web_search.bind(self.clients.open(origin), deadline=deadline, origin=origin)
        fetching = web_search.fetch(
            request,
            http=http,
            settings=settings,
            credential=route.credential,
            now=now,
            deadline=deadline,
            model=route.model,
        )
        try:
            response = await _ask(fetching, http=http, deadline=deadline, provider=toolkit.id, request_id=request_id)
        except SearchError as error:
            raise self._with_way_out(error, toolkit) from None
        kept = guarantees.apply(response, request, web_search, self.result_policy, now, datetime.now(UTC))
        return Envelope(
            query=request.query,
            provider=toolkit.id,
            vendor=response.vendor,
            model=route.model,
            results=kept.results,
            ignored=wire_names(response.ignored) + tuple(f"providerOptions.{name}" for name in unknown),
            notices=self.read_notices(toolkit),
            filter_report=kept.report,
            attempts=(Attempt(provider=toolkit.id, outcome="ok", vendor_requests=http.requests_sent),),
            request_id=request_id,
        )

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
        return (Notice("sunset", f"{toolkit.name} ends on {sunset.ends}: {sunset.reason}{moving}"),)

    def _successors(self, sunset: Sunset) -> tuple[str, ...]:
        return tuple(name for name in sunset.successors if name in self.registry.toolkits)

    def _check_options(self, toolkit: AnyToolkit, request: SearchRequest) -> None:
        try:
            toolkit.web_search.check(request)
        except SearchError as error:
            if error.code is not ErrorCode.UNSUPPORTED_OPTION:
                raise
            raise attrs.evolve(error, alternatives=self.registry.able(request, but=toolkit.id)) from None


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
