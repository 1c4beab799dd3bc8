"""Who is asked: a provider in this process, an organization's provider on a platform, and Google while it lives."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Mapping
from typing import Any, Protocol

import attrs

from searchport.client import AsyncClient
from searchport.egress import AddressPolicy, Deadline
from searchport.errors import ErrorCode, Fault, SearchError
from searchport.published_date import first_stated, normalize
from searchport.request import SearchRequest
from searchport.result import Envelope
from searchport.web_search import wire_names
from searchport_platform.doors.compat.google_cse import OWN_PATH, PARAMETERS
from searchport_platform.metering.prices import Prices
from searchport_platform.migration.translation import Becomes, Change, Translation, name_as_given, name_refused
from searchport_platform.registry import AnyToolkit
from searchport_platform.routing.resilience import RetryOnce
from searchport_platform.routing.route import Route
from searchport_platform.routing.router import Router

__all__ = ["GOOGLE", "Answer", "Expectation", "GoogleSide", "PlatformSide", "ProviderSide", "Side"]

GOOGLE = "google-cse"

_OF_THE_CALL = frozenset({ErrorCode.UNSUPPORTED_OPTION, ErrorCode.VALIDATION_ERROR})
"""Refusals that another call may not meet."""


@attrs.frozen(kw_only=True)
class Answer:
    """One page of results, as a caller would get it.

    urls: in order. dated: results with a date. seconds: until it came. ignored: in Google's spelling. vendor_requests: that it
    took; None where nobody says.
    """

    urls: tuple[str, ...] = attrs.field(repr=False)
    dated: int
    seconds: float
    ignored: tuple[str, ...] = ()
    vendor_requests: int | None = None


@attrs.frozen(kw_only=True)
class Expectation:
    """What is known of a call before it is sent. refusal: why it would not be. cost_microusd: at most; None: not known."""

    refusal: SearchError | None = None
    changes: tuple[Change, ...] = ()
    vendor_requests: int = 0
    cost_microusd: int | None = None


class Side(Protocol):
    """Where the calls would go. asks_to_expect: True where an expectation takes a request to somewhere."""

    @property
    def name(self) -> str:
        """As the report calls it."""

    @property
    def asks_to_expect(self) -> bool:
        """True where `expect` is a request to a platform."""

    async def expect(self, translation: Translation) -> Expectation:
        """What would become of the call; no vendor is asked. Raises SearchError where no call can be made at all."""

    async def ask(self, translation: Translation) -> Answer:
        """The page that the call would get. Raises SearchError."""


@attrs.frozen(kw_only=True)
class ProviderSide:
    """A provider, asked from this process. deadline_seconds: of each call."""

    router: Router
    route: Route = attrs.field(repr=False)
    prices: Prices
    deadline_seconds: float
    asks_to_expect: bool = attrs.field(default=False, init=False)

    @property
    def name(self) -> str:
        """The provider's id."""
        return self.route.toolkit.id

    async def expect(self, translation: Translation) -> Expectation:
        """From what the provider declares; nothing is sent."""
        request, toolkit = _request(translation), self.route.toolkit
        try:
            self.router.check(self.route, request)
        except SearchError as error:
            if error.code not in _OF_THE_CALL:
                raise
            return Expectation(refusal=error, changes=name_refused(error, translation))
        ignored = PARAMETERS.names_of(wire_names(toolkit.web_search.ignored(request)))
        why = f"{toolkit.id} has nothing to send it as"
        return Expectation(
            changes=tuple(Change(name, Becomes.IGNORED, why) for name in name_as_given(ignored, translation)),
            vendor_requests=toolkit.web_search.page_limit(request.max_results),
            cost_microusd=price_of(self.prices, toolkit, toolkit.web_search.page_limit(request.max_results)),
        )

    async def ask(self, translation: Translation) -> Answer:
        """Raises SearchError."""
        started = time.monotonic()
        envelope = await self.router.dispatch(
            self.route, _request(translation), request_id=uuid.uuid4().hex, deadline_seconds=self.deadline_seconds
        )
        return _read_page(translation, envelope, time.monotonic() - started)


@attrs.frozen(kw_only=True)
class PlatformSide:
    """Whatever provider an organization has chosen on a platform."""

    client: AsyncClient
    asks_to_expect: bool = attrs.field(default=True, init=False)
    name: str = attrs.field(default="the platform", init=False)

    async def expect(self, translation: Translation) -> Expectation:
        """The platform's plan of the call, which counts nothing."""
        request = _request(translation)
        try:
            plan = await self.client.plan(request.query, **_options(request))
        except SearchError as error:
            if error.code not in _OF_THE_CALL:
                raise
            return Expectation(refusal=error, changes=name_refused(error, translation))
        if plan.refused is None:
            return Expectation(vendor_requests=plan.vendor_requests, cost_microusd=plan.worst_case_microusd)
        faults = [Fault(path, "") for path in _PLACES.findall(plan.refused.detail)]
        refusal = SearchError(plan.refused.code, faults=faults, reason=None)
        return Expectation(refusal=refusal, changes=name_refused(refusal, translation))

    async def ask(self, translation: Translation) -> Answer:
        """Raises SearchError."""
        request, started = _request(translation), time.monotonic()
        answer = await self.client.search(request.query, **_options(request))
        return _read_page(translation, answer, time.monotonic() - started)


_PLACES = re.compile(r"\$\.[A-Za-z]+(?=: )")
"""Where the text of an error tells its faults (`Fault.__str__`), which is all that a plan has of them."""


@attrs.frozen(kw_only=True)
class GoogleSide:
    """Google itself, asked what the call asked, word for word, with a key of one's own."""

    router: Router
    key: str = attrs.field(repr=False)
    deadline_seconds: float

    def check(self) -> None:
        """Raises SearchError where Google's API has ended, or the operator has disabled it."""
        toolkit = self.router.registry.get(GOOGLE)
        route = Route(toolkit=toolkit, settings={"cx": "any"}, credential=self.key)
        self.router.check(route, SearchRequest("any"))

    async def ask(self, given: Mapping[str, str]) -> Answer:
        """Google's page. Raises SearchError: `validation_error` for a call without an engine's id."""
        if not given.get("cx"):
            raise SearchError.invalid("$.cx", "the call names no engine")
        toolkit, origin = self.router.registry.get(GOOGLE), self.router.origins.get(GOOGLE)
        deadline, started = Deadline.after(self.deadline_seconds), time.monotonic()
        http = toolkit.web_search.bind(self.router.clients.open(AddressPolicy(), origin=origin), deadline=deadline, origin=origin)
        http = http.bind(repeat=RetryOnce(deadline))
        answer = await http.get_json(f"https://www.googleapis.com{OWN_PATH}", params={**given, "key": self.key})
        rows = [row for row in answer.rows("items") if row.text("link")]
        return Answer(
            urls=tuple(row.text("link") or "" for row in rows),
            dated=sum(normalize(first_stated(row.at("pagemap", "metatags", 0).raw)) is not None for row in rows),
            seconds=time.monotonic() - started,
            vendor_requests=http.requests_sent,
        )


def price_of(prices: Prices, toolkit: AnyToolkit, vendor_requests: int) -> int | None:
    """Micro-USD for so many requests; None where neither the operator nor the toolkit names a price."""
    if toolkit.web_search.price is None and toolkit.id not in prices.table:
        return None
    return prices.worst_case(toolkit, 1).cost_of(vendor_requests)


def _request(translation: Translation) -> SearchRequest:
    if translation.request is None:
        raise SearchError(ErrorCode.INTERNAL_ERROR, reason="a call that would be refused was asked")
    return translation.request


def _options(request: SearchRequest) -> dict[str, Any]:
    """What the client takes beside the query."""
    return {name: getattr(request, name) for name in request.given()} | {"max_results": request.max_results}


def _read_page(translation: Translation, envelope: Envelope, seconds: float) -> Answer:
    results = translation.page.take(envelope) if translation.page is not None else envelope.results
    requests = [attempt.vendor_requests for attempt in envelope.attempts]
    return Answer(
        urls=tuple(result.url for result in results),
        dated=sum(result.published_date is not None for result in results),
        seconds=seconds,
        ignored=name_as_given(PARAMETERS.names_of(envelope.ignored), translation),
        vendor_requests=None if None in requests else sum(count or 0 for count in requests),
    )
