"""Attaching web search to a toolkit, and calling it: one page at a time, under one deadline."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar, cast

import attrs

from searchport import locale
from searchport.context import Page, SearchContext, SearchModel, Window
from searchport.egress.refusals import Refusal, RefusalKey, Refusals, RefusalTable
from searchport.errors import ErrorCode, Fault, SearchError
from searchport.mistakes import BEST_EFFORT, CONTRACT, Evidence, Text, find_mistakes
from searchport.price import Price
from searchport.request import MAX_QUERY, OPTION_NAMES, Recency, SearchRequest
from searchport.result import SearchResponse
from searchport.toolkit import DeclarationError, S, Toolkit
from searchport.windows import REACHES_BACK
from searchport.wire import camel_case

if TYPE_CHECKING:
    from searchport.egress import Deadline, HttpClient, JsonBody

__all__ = [
    "CONTRACT",
    "Page",
    "SearchContext",
    "SearchModel",
    "WebSearch",
    "Window",
    "define_web_search",
]

WindowValue: TypeAlias = str | Callable[[datetime], str] | None

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Awaitable[SearchResponse]])

# No month is shorter than 28 days, and none longer than the 31 that the window reaches back.
_COVERS = {Recency.DAY: 1, Recency.WEEK: 7, Recency.MONTH: 28, Recency.YEAR: 365}

Support: TypeAlias = Literal["native", "honoured", "best effort", "ignored", "unsupported"]
"""What becomes of an option."""

_UNMENTIONED_IGNORED = frozenset({"language", "country"})


SearchFunction: TypeAlias = Callable[[SearchRequest, SearchContext[S]], Awaitable[SearchResponse]]
FetchModels: TypeAlias = Callable[[SearchContext[S]], Awaitable[Collection[SearchModel]]]


@attrs.frozen(kw_only=True, eq=False)
class WebSearch(Generic[S]):
    """A toolkit's declared web search; made by `define_web_search`, whose docstring explains the fields."""

    toolkit: Toolkit[S] = attrs.field(repr=False)
    function: SearchFunction[S] = attrs.field(repr=False)
    recency: Mapping[Recency, WindowValue] | None
    languages: Mapping[str, str] | None
    countries: Mapping[str, str] | None
    fetch_models: FetchModels[S] | None
    unsupported: frozenset[str]
    native: frozenset[str]
    best_effort: frozenset[str]
    page_size: int
    max_pages: int | None
    max_query: int
    max_query_words: int | None
    literal: bool
    text: Text
    price: Price | None
    cacheable: bool
    breaker: bool
    evidence: Evidence | None
    contract: str
    refusals: Refusals = attrs.field(repr=False)

    def page_limit(self, max_results: int) -> int:
        """The most vendor requests that a call for `max_results` can make."""
        needed = -(-max_results // self.page_size)
        return needed if self.max_pages is None else min(needed, self.max_pages)

    def check(self, request: SearchRequest) -> None:
        """Refuses, before anything is spent, what this provider cannot take.

        Raises SearchError: `unsupported_option` naming every such option, `validation_error` for a query that is too long.
        """
        refused = [name for name in OPTION_NAMES if name in request.given() & self.unsupported]
        if refused:
            message = f"not supported by provider {self.toolkit.id!r}"
            faults = [Fault(f"$.{name}", f"option {name!r} is {message}") for name in refused]
            raise SearchError(ErrorCode.UNSUPPORTED_OPTION, faults=faults, provider=self.toolkit.id)
        length, words = len(request.query), len(request.query.split())
        if length > self.max_query:
            self._refuse_query(f"{length:,} characters; this provider takes at most {self.max_query:,}")
        if self.max_query_words is not None and words > self.max_query_words:
            self._refuse_query(f"{words:,} words; this provider takes at most {self.max_query_words:,}")

    def _refuse_query(self, message: str) -> None:
        raise SearchError(ErrorCode.VALIDATION_ERROR, faults=(Fault("$.query", message),), provider=self.toolkit.id)

    def support(self, option: str) -> Support:
        """How this provider declares an option; those listed nowhere are honoured, but `language` and `country`."""
        listed: dict[Support, frozenset[str]] = {
            "unsupported": self.unsupported,
            "native": self.native,
            "best effort": self.best_effort,
        }
        for words, names in listed.items():
            if option in names:
                return words
        is_unsent = option in _UNMENTIONED_IGNORED or (option == "recency" and self.recency is None)
        return "ignored" if is_unsent else "honoured"

    def ignored(self, request: SearchRequest) -> frozenset[str]:
        """Best-effort options of this request that this provider does not send."""
        names = {name for name in request.given() if self.support(name) == "ignored"}
        if request.recency is not None and (self.recency is None or self.recency[request.recency] is None):
            names.add("recency")
        if request.language is not None and self.language(request) is None:
            names.add("language")
        if request.country is not None and self.country(request) is None:
            names.add("country")
        return frozenset(names)

    def language(self, request: SearchRequest) -> str | None:
        """The vendor's code for the language, by its closed list (RFC 4647, section 3.4), or the tag where it has none."""
        if request.language is None or self.languages is None:
            return request.language
        return locale.lookup(request.language, self.languages)

    def country(self, request: SearchRequest) -> str | None:
        """The vendor's code for the request's country, by its closed list, or the ISO code where it has none."""
        if request.country is None or self.countries is None:
            return request.country
        return self.countries.get(request.country)

    def window(self, request: SearchRequest, now: datetime) -> Window | None:
        """What recency and freshness ask of the vendor together.

        An explicit recency wins, else the narrowest window that covers the freshness, widened to the next that the vendor has.
        """
        if self.recency is None:
            return None
        if request.recency is not None and self.recency[request.recency] is not None:
            return self._build_window(request.recency, now)
        if request.freshness is None:
            return None
        covering = [r for r in Recency if request.freshness.duration <= timedelta(days=_COVERS[r])]
        chosen = next((r for r in covering if self.recency[r] is not None), None)
        return None if chosen is None else self._build_window(chosen, now)

    def _build_window(self, recency: Recency, now: datetime) -> Window:
        value = self.recency[recency] if self.recency is not None else None
        try:
            text = value(now) if callable(value) else value
        except Exception as error:  # noqa: BLE001  # a toolkit's function
            raise self._blame(error, has_answer=False) from None
        if not isinstance(text, str):
            reason = f"recency[{recency}] gave {type(text).__name__}, not a text"
            raise SearchError(ErrorCode.INTERNAL_ERROR, reason=reason, provider=self.toolkit.id)
        return Window(recency=recency, value=text, since=now - REACHES_BACK[recency])

    async def fetch(
        self,
        request: SearchRequest,
        *,
        http: HttpClient,
        settings: S,
        credential: str | None,
        now: datetime,
        deadline: Deadline,
        model: str | None = None,
        public_url: str | None = None,
    ) -> SearchResponse:
        """All pages of one call, joined; its `ignored` holds every best-effort option that was not honoured.

        http: bound to this provider, see `bind`. Raises SearchError, and nothing else, whatever the provider's function does; a
        failure on a later page fails the call.
        """
        context = SearchContext(
            http=http,
            page=Page(size=min(request.max_results, self.page_size)),
            settings=settings,
            now=now,
            deadline=deadline,
            window=self.window(request, now),
            language=self.language(request),
            country=self.country(request),
            model=model,
            public_url=public_url,
            credential=credential,
        )
        return await self._fetch_pages(request, context)

    def bind(self, http: HttpClient, *, deadline: Deadline, origin: str | None = None) -> HttpClient:
        """A view of `http` for one call of this provider: its deadline, its refusals, its name in errors.

        origin: scheme, host and port that replace those of every URL the provider calls; None: the vendor's own.
        """
        return http.bind(deadline=deadline, refusals=self.refusals, origin=origin, provider=self.toolkit.id)

    async def _fetch_pages(self, request: SearchRequest, context: SearchContext[S]) -> SearchResponse:
        ignored = set(self.ignored(request))
        response = await self._fetch_page(request, context)
        rows = list(response.results)
        ignored.update(response.ignored)
        for number in range(2, self.page_limit(request.max_results) + 1):
            if len(rows) >= request.max_results or not response.results or response.more is False:
                break
            size = context.page.size
            page = Page(number=number, offset=(number - 1) * size, size=size, cursor=response.next_page)
            response = await self._fetch_page(request, attrs.evolve(context, page=page))
            rows.extend(response.results)
            ignored.update(response.ignored)
        return attrs.evolve(response, results=rows, ignored=tuple(sorted(ignored)))

    async def _fetch_page(self, request: SearchRequest, context: SearchContext[S]) -> SearchResponse:
        response = await self._run(self.function(request, context), context, query=request.query)
        if not _is_response(response):
            reason = f"the toolkit returned {type(response).__name__}, not a SearchResponse of the declared types"
            raise SearchError(ErrorCode.INTERNAL_ERROR, reason=reason, provider=self.toolkit.id)
        dropped = sorted(map(str, set(response.ignored) - BEST_EFFORT))
        if dropped:
            reason = f"the toolkit ignored {', '.join(dropped)[:80]}, which is not best effort"
            raise SearchError(ErrorCode.INTERNAL_ERROR, reason=reason, provider=self.toolkit.id)
        return response

    async def list_models(self, context: SearchContext[S]) -> list[SearchModel]:
        """The vendor's tiers or engines; empty for a toolkit that has none. Raises SearchError, and nothing else."""
        if self.fetch_models is None:
            return []
        return list(await self._run(self.fetch_models(context), context, query=""))

    async def _run(self, calling: Awaitable[T], context: SearchContext[S], *, query: str) -> T:
        """What a toolkit's function gives; whatever it raises becomes a SearchError that holds nothing of the call."""
        sent_before = context.http.requests_sent
        try:
            return await calling
        except SearchError as error:
            code = self._safe_vendor_code(error.vendor_code, query, context)
            failure = attrs.evolve(error, provider=error.provider or self.toolkit.id, vendor_code=code)
        except TimeoutError:
            failure = SearchError(ErrorCode.UPSTREAM_TIMEOUT, provider=self.toolkit.id)
        except Exception as error:  # noqa: BLE001  # a toolkit's defect must not leak its values: only its class is told
            failure = self._blame(error, has_answer=context.http.requests_sent > sent_before)
        raise failure  # outside of every handler: what is being handled would be its context, and can hold the key

    def _safe_vendor_code(self, code: str | None, query: str, context: SearchContext[S]) -> str | None:
        """Drops a code that no table knows and that repeats the key or the query: some vendors echo what they were sent."""
        if code is None or any(code in (key if isinstance(key, tuple) else (key,)) for key in self.refusals.table):
            return code
        sent = [query, context._credential or ""]
        return None if any(code in text or (text and text in code) for text in sent) else code

    def _blame(self, error: Exception, *, has_answer: bool) -> SearchError:
        """The vendor's fault where an answer could not be read, else the toolkit's."""
        import logging
        import traceback

        place = traceback.extract_tb(error.__traceback__)[-1]
        what = type(error).__name__
        log = logging.getLogger("searchport.web_search")
        log.error("toolkit %s raised %s in %s, line %s", self.toolkit.id, what, place.name, place.lineno)
        if has_answer:
            reason = f"the toolkit could not read the answer ({what})"
            return SearchError(ErrorCode.PROVIDER_UNAVAILABLE, reason=reason, provider=self.toolkit.id)
        return SearchError(ErrorCode.INTERNAL_ERROR, reason=f"the toolkit raised {what}", provider=self.toolkit.id)


def define_web_search(
    toolkit: Toolkit[S],
    *,
    recency: Mapping[Recency, WindowValue] | None,
    languages: Mapping[str, str] | None = None,
    countries: Mapping[str, str] | None = None,
    fetch_models: FetchModels[S] | None = None,
    unsupported: Collection[str] = (),
    native: Collection[str] = (),
    best_effort: Collection[str] = (),
    page_size: int = 10,
    max_pages: int | None = None,
    max_query: int = MAX_QUERY,
    max_query_words: int | None = None,
    literal: bool = True,
    text: Text = "html",
    price_per_1000: Decimal | Price | None = None,
    cacheable: bool = True,
    breaker: bool = True,
    evidence: Evidence | None = None,
    contract: str = CONTRACT,
    refusals: RefusalTable | None = None,
    read_refusal: Callable[[JsonBody], str | SearchError | None] | None = None,
    read_wait_seconds: Callable[[Mapping[str, str]], float | None] | None = None,
    nothing_found: Collection[str] = (),
) -> Callable[[F], F]:
    """Attaches web search to `toolkit`; decorates `async def search(request, context) -> SearchResponse`, called once a page.

    recency: all four members -> the vendor's value, a function of `now` that gives it, or None for a window it lacks; the
        whole mapping None: the vendor has no windows.
    languages: the vendor's closed list, BCP 47 tag -> its code; countries: ISO 3166-1 alpha-2 -> its code. `context.language`
        and `context.country` then hold the code, and what the list lacks is named in `ignored`.
    fetch_models: `async (context) -> [SearchModel]`, for a vendor with tiers or engines.
    unsupported: options refused before any request. native: options with a parameter of the vendor's. best_effort: of
        `recency`, `language` and `country`, those that an answer may name in its `ignored`. Options listed nowhere are
        honoured, but `language` and `country`, which are then ignored.
    page_size: the vendor's most rows a request. max_pages: the most pages it has, where that is less than are needed.
    max_query, max_query_words: the longest query in characters and in words. literal: False where the vendor's query
        operators cannot be switched off. text: `html` where titles and snippets hold markup or character references.
    price_per_1000: US dollars for a thousand requests, or a Price where they differ by model or by results.
    cacheable: False where the vendor's terms forbid storing.
    breaker: False where no vendor is asked, so that a failure says nothing about the next call.
    evidence: what the vendor's wire was learned from: `recorded` answers, or its `documentation` alone; shown to who chooses.
    refusals: the vendor's status, code or (status, code) -> our code, or an error whose `reason` says more; above the SDK's
        own table of statuses.
    read_refusal: the vendor's code in a JSON answer of any status, or an error that says what the answer means, None where
        it refuses nothing; a code that `refusals` does not list becomes `provider_rejected`.
    read_wait_seconds: the seconds to wait in the headers of a refusal, for a vendor that sends no `Retry-After`.
    nothing_found: the vendor's codes, as `read_refusal` finds them, for "nothing found": such an answer is no refusal, whatever
        its status, and the function reads it as it reads a page.
    Raises DeclarationError, naming the toolkit and the fix. The function itself is returned, callable in a test.
    """

    def decorate(function: F) -> F:
        codes = _read_names(toolkit, "nothing_found", nothing_found)
        web_search = WebSearch(
            toolkit=toolkit,
            function=function,
            recency=_read_table(toolkit, "recency", recency),
            languages=_read_table(toolkit, "languages", languages),
            countries=_read_table(toolkit, "countries", countries),
            fetch_models=fetch_models,
            unsupported=_read_names(toolkit, "unsupported", unsupported),
            native=_read_names(toolkit, "native", native),
            best_effort=_read_names(toolkit, "best_effort", best_effort),
            page_size=page_size,
            max_pages=max_pages,
            max_query=max_query,
            max_query_words=max_query_words,
            literal=literal,
            text=text,
            price=Price(price_per_1000) if isinstance(price_per_1000, Decimal) else price_per_1000,
            cacheable=cacheable,
            breaker=breaker,
            evidence=evidence,
            contract=contract,
            refusals=Refusals(_read_refusals(toolkit, refusals), read_refusal, read_wait_seconds, codes),
        )
        mistakes = find_mistakes(web_search)
        if mistakes:
            raise DeclarationError(toolkit.id, *mistakes[0], also=[fault for fault, _ in mistakes[1:]])
        toolkit.attach(web_search)
        return function

    if not isinstance(toolkit, Toolkit):
        raise DeclarationError(toolkit, "is no Toolkit", "pass what define_toolkit returned")
    return decorate


def _read_refusals(toolkit: Toolkit[S], refusals: RefusalTable | None) -> Mapping[RefusalKey, Refusal]:
    table: Mapping[object, Refusal] = _read_table(toolkit, "refusals", cast("Mapping[object, Refusal] | None", refusals)) or {}
    return cast("Mapping[RefusalKey, Refusal]", table)


def _is_response(response: object) -> bool:
    """A toolkit is not type-checked where it runs."""
    return (
        isinstance(response, SearchResponse)
        and isinstance(response.results, list | tuple)
        and isinstance(response.vendor, str)
        and isinstance(response.ignored, Collection)
        and not isinstance(response.ignored, str)
        and all(isinstance(name, str) for name in response.ignored)
    )


def _read_names(toolkit: Toolkit[S], place: str, names: Collection[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise DeclarationError(toolkit.id, f"{place} is a text, not a set", f'write {place}={{"{names}"}}')
    if not isinstance(names, Collection) or not all(isinstance(name, str) for name in names):
        raise DeclarationError(toolkit.id, f"{place} is no set of names", f'write it like {place}={{"name"}}')
    return frozenset(names)


def _read_table(toolkit: Toolkit[S], place: str, table: Mapping[K, V] | None) -> Mapping[K, V] | None:
    if table is not None and not isinstance(table, Mapping):
        raise DeclarationError(toolkit.id, f"{place} is {type(table).__name__}, not a mapping", "write it as a dict")
    return None if table is None else MappingProxyType(dict(table))


def wire_names(options: Collection[str]) -> tuple[str, ...]:
    """Option names as the platform API spells them, sorted."""
    return tuple(sorted(camel_case(name) for name in options))
