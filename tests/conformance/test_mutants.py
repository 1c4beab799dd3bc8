"""The kit catches what it is for: an honest toolkit passes, and each toolkit that breaks a promise fails that promise's check."""

# ruff: noqa: ARG002, RUF012 - mutants override methods whose arguments they need not use, and tables that nobody writes to

import asyncio
import logging
import os
import random
import re
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape, unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import attrs
import pytest

from searchport import (
    SEARCH_API_KEY,
    ErrorCode,
    Recency,
    SearchContext,
    SearchError,
    SearchModel,
    SearchRequest,
    SearchResponse,
    SearchResult,
    Toolkit,
    define_toolkit,
    define_web_search,
    operator_only,
)
from searchport.egress import HtmlBody, JsonBody, parse_html
from searchport.published_date import normalize
from searchport.testing.conformance import CHECKS, Answers, NotApplicable, Violation, run_check, run_checks
from searchport.web_search import WebSearch

ANSWERS = """
settings = { base_url = "https://api.acme.example" }
[page]
body = '{"found": {"hits": [{{rows}}], "next": {{cursor}}, "more": true}, "took": 12, "spelling": null}'
last_body = '{"found": {"hits": [{{rows}}], "next": null, "more": false}}'
row = '{"t": {{title}}, "u": {{url}}, "s": {{snippet}}, "date": {{date}}, "seen": {{crawled}}, "rank": {{rank}}, "tags": ["a"]}'
[[dates]]
given = "2026-09-18T05:45:00Z"
published = "2026-09-18T05:45:00Z"
[[dates]]
given = "18 September 2026"
published = "2026-09-18"
[[dates]]
given = "yesterday"
[[answers]]
scenario = "nothing found"
body = '{"found": null}'
expect = "empty"
[[answers]]
scenario = "a spent quota"
body = '{"code": "Q1", "wait": 12}'
headers = { "Retry-After" = "12" }
expect = "provider_rate_limited"
retry_after = 12
vendor_code = "Q1"
[[answers]]
scenario = "a bad key"
status = 400
body = '{"code": "K1", "message": "Key abc is not valid."}'
expect = "provider_unauthorized"
"""
NO_DATES = re.sub(r"\[\[dates\]\].*?(?=\[\[answers)", "", ANSWERS, flags=re.DOTALL).replace('"date": {{date}}, ', "")


PAGES = """
format = "html"
settings = { base_url = "https://www.acme.example" }
[page]
body = '''<!doctype html><title>Acme</title><ol id="hits">{{rows}}</ol><a id="next" data-from={{cursor}}>more</a>'''
row = '''<li><a href="/go?to={{url|quote}}">{{title}}</a><p>{{snippet}}</p><time>{{date}}</time><i>{{crawled}}</i></li>'''
[[dates]]
given = "18 September 2026"
published = "2026-09-18"
[[answers]]
scenario = "nothing found"
body = '<!doctype html><title>Acme</title><p id="nothing">No hits.</p>'
expect = "empty"
[[answers]]
scenario = "a bot wall"
status = 202
body = '<!doctype html><form id="challenge"></form>'
expect = "provider_unavailable"
"""


@attrs.frozen
class AcmeSettings:
    base_url: str = operator_only(default="https://api.acme.example")


class Acme:
    """An honest toolkit of a vendor that has everything; mutants override one part of it."""

    answers = ANSWERS
    id = "acme"
    credential_ref: str | None = SEARCH_API_KEY
    settings: type = AcmeSettings
    recency: Any = {Recency.DAY: "1d", Recency.WEEK: "1w", Recency.MONTH: "1m", Recency.YEAR: None}
    refusals: Any = {"Q1": ErrorCode.PROVIDER_RATE_LIMITED, "K1": ErrorCode.PROVIDER_UNAUTHORIZED}
    declared: dict[str, Any] = {}
    declares_web_search = True

    def build(self) -> Toolkit[Any]:
        toolkit: Any = define_toolkit(id=self.id, name="Acme Search", credential_ref=self.credential_ref, settings=self.settings)
        declared = {
            "recency": self.recency,
            "native": {"freshness", "site"},
            "best_effort": {"language", "country"},
            "languages": {"de": "german", "en": "english"},
            "countries": {"DE": "de", "US": "us"},
            "page_size": 5,
            "max_query": 400,
            "evidence": "documentation",
            "fetch_models": self.fetch_models(),
            "refusals": self.refusals,
            "read_refusal": self.read_refusal,
            **self.declared,
        }
        if not self.declares_web_search:
            return toolkit

        @define_web_search(toolkit, **declared)
        async def search(request: SearchRequest, context: SearchContext[Any]) -> SearchResponse:
            return await self.search(request, context)

        return toolkit

    def fetch_models(self) -> Any:
        async def fetch_models(context: SearchContext[Any]) -> list[SearchModel]:
            return [SearchModel(name, name) for name in self.models()]

        return fetch_models

    def models(self) -> list[str]:
        return ["fast", "deep"]

    def read_refusal(self, answer: JsonBody) -> str | None:
        return answer.text("code")

    def query(self, request: SearchRequest) -> str:
        return request.query

    def window(self, request: SearchRequest, context: SearchContext[Any]) -> str | None:
        return context.window.value if context.window else None

    def params(self, request: SearchRequest, context: SearchContext[Any]) -> dict[str, Any]:
        return {
            "q": self.query(request),
            "n": context.page.size,
            "from": context.page.cursor,
            "age": self.window(request, context),
            "site": str(request.site) if request.site else None,
            "lang": context.language,
            "country": context.country,
            "safe": request.safe,
            "tier": context.model,
        }

    def headers(self, context: SearchContext[Any]) -> dict[str, str]:
        return {"X-Api-Key": context.credential}

    def url(self, context: SearchContext[Any]) -> str:
        return f"{context.settings.base_url}/v2/find"

    async def ask(self, request: SearchRequest, context: SearchContext[Any]) -> JsonBody:
        return await context.http.get_json(self.url(context), params=self.params(request, context), headers=self.headers(context))

    async def search(self, request: SearchRequest, context: SearchContext[Any]) -> SearchResponse:
        answer = await self.ask(request, context)
        return self.read(answer, request, context)

    def read(self, answer: JsonBody, request: SearchRequest, context: SearchContext[Any]) -> SearchResponse:
        return SearchResponse(
            self.rows(answer, request, context),
            vendor="acme",
            next_page=answer.text("found", "next"),
            more=answer.flag("found", "more"),
        )

    def rows(self, answer: JsonBody, request: SearchRequest, context: SearchContext[Any]) -> list[SearchResult]:
        return [self.row(row, context) for row in answer.rows("found", "hits")]

    def row(self, row: JsonBody, context: SearchContext[Any]) -> SearchResult:
        return SearchResult(self.title(row), row.text("u"), snippet=row.text("s"), published_date=self.date(row, context))

    def title(self, row: JsonBody) -> str | None:
        return row.text("t")

    def date(self, row: JsonBody, context: SearchContext[Any]) -> str | None:
        return row.text("date")


class PlainAcme(Acme):
    """The vendor that sends plain text."""

    declared = {"text": "plain"}


class KeylessAcme(Acme):
    """The vendor that takes no key."""

    credential_ref = None

    def headers(self, context: SearchContext[Any]) -> dict[str, str]:
        return {}


class NarrowAcme(Acme):
    """The vendor that lacks options and dates, and has neither pages nor models."""

    answers = NO_DATES
    recency = None
    declared = {
        "native": {"site"}, "unsupported": {"freshness", "safe", "recency"}, "best_effort": {"language"}, "countries": None,
        "max_pages": 1, "fetch_models": None,
    }  # fmt: skip

    def params(self, request: SearchRequest, context: SearchContext[Any]) -> dict[str, Any]:
        return {**super().params(request, context), "country": None}


class PagesAcme(Acme):
    """The vendor without an API: its pages are read."""

    answers = PAGES
    declared = {"text": "plain", "read_refusal": None}

    async def search(self, request: SearchRequest, context: SearchContext[Any]) -> SearchResponse:
        answer = await context.http.get_text(
            self.url(context), params=self.params(request, context), headers=self.headers(context)
        )
        page = parse_html(answer.text)
        results = [self.result(row) for row in page.rows("#hits li")]
        self.check_page(page, results)
        return SearchResponse(results, vendor="acme", next_page=page.attribute("data-from", "#next"))

    def check_page(self, page: HtmlBody, results: list[SearchResult]) -> None:
        if not any(result.url for result in results) and not page.has("#nothing"):
            raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE, reason="a page with neither hits nor the words that there are none")

    def result(self, row: HtmlBody) -> SearchResult:
        url = parse_qs(urlsplit(row.attribute("href", "a") or "").query).get("to", [None])[0]
        return SearchResult(row.text("a"), url, snippet=row.text("p"), published_date=row.text("time"))


MUTANTS: list[tuple[str, type[Acme]]] = []


def breaks(check: str) -> Callable[[type[Acme]], type[Acme]]:
    """Notes a toolkit as one that breaks this promise."""

    def note(cls: type[Acme]) -> type[Acme]:
        MUTANTS.append((check, cls))
        return cls

    return note


def run(check: str, mutant: type[Acme]) -> tuple[Violation, ...]:
    (found,) = [known for known in CHECKS if known.name == check]
    return run_check(found, mutant().build(), Answers.parse(mutant.answers))


# Rows.


@breaks("declaration")
class NoWebSearch(Acme):
    declares_web_search = False


@breaks("declaration")
class SettingsOfAnotherFile(Acme):
    answers = ANSWERS.replace("base_url", "basis_url")


@breaks("declaration")
class OriginUntold(Acme):
    declared = {"evidence": None}


@breaks("rows-arrive")
class RowsReversed(Acme):
    def rows(self, *args: Any) -> list[SearchResult]:
        return super().rows(*args)[::-1]


@breaks("rows-arrive")
class RowsLost(Acme):
    def rows(self, *args: Any) -> list[SearchResult]:
        return super().rows(*args)[:-1]


@breaks("rows-arrive")
class TitleOfAnotherField(Acme):
    def title(self, row: JsonBody) -> str | None:
        return row.text("title")


@breaks("vendor-named")
class VendorBlank(Acme):
    def read(self, *args: Any) -> SearchResponse:
        return attrs.evolve(super().read(*args), vendor=" ")


@breaks("vendor-named")
class VendorOfTheCall(Acme):
    def read(self, answer: JsonBody, request: SearchRequest, context: SearchContext[Any]) -> SearchResponse:
        return attrs.evolve(super().read(answer, request, context), vendor=f"acme:{len(request.query)}")


# The query.


@breaks("query-exact")
class QueryLowered(Acme):
    def query(self, request: SearchRequest) -> str:
        return request.query.lower()


@breaks("query-exact")
class QueryAsciiOnly(Acme):
    def query(self, request: SearchRequest) -> str:
        return request.query.encode("ascii", "ignore").decode() or "-"


@breaks("query-exact")
class QueryInTwoParameters(Acme):
    def params(self, request: SearchRequest, context: SearchContext[Any]) -> dict[str, Any]:
        first, _, rest = request.query.partition(" ")
        return {**super().params(request, context), "q": first, "q2": rest or None}


@breaks("query-operators")
class OperatorsTakenOut(Acme):
    def query(self, request: SearchRequest) -> str:
        return re.sub(r"[+-]?\w+:\S+|\bOR\b", "", request.query) or "-"


@breaks("query-operators")
class BangObeyed(Acme):
    def query(self, request: SearchRequest) -> str:
        return request.query.partition(" ")[2] if request.query.startswith("!") else request.query


@breaks("query-uncut")
class QueryCut(Acme):
    def query(self, request: SearchRequest) -> str:
        return request.query[:200]


@breaks("query-unspliced")
class SiteInTheQuery(Acme):
    def query(self, request: SearchRequest) -> str:
        return f"{request.query} site:{request.site}" if request.site else request.query


@breaks("query-unspliced")
class RecencyInTheQuery(Acme):
    def query(self, request: SearchRequest) -> str:
        return f"{request.query} past {request.recency}" if request.recency else request.query


# Options.


@breaks("no-window-unasked")
class WindowByDefault(Acme):
    def window(self, request: SearchRequest, context: SearchContext[Any]) -> str | None:
        return super().window(request, context) or "1y"


@breaks("recency-sent")
class RecencyForgotten(Acme):
    def window(self, request: SearchRequest, context: SearchContext[Any]) -> str | None:
        return None


@breaks("recency-sent")
class RecencyIgnoredInSilence(Acme):
    def window(self, request: SearchRequest, context: SearchContext[Any]) -> str | None:
        return None if request.recency is Recency.MONTH else super().window(request, context)


@breaks("recency-sent")
class RecencySentThoughLacking(Acme):
    def window(self, request: SearchRequest, context: SearchContext[Any]) -> str | None:
        return "1y" if request.recency is Recency.YEAR else super().window(request, context)


@breaks("recency-distinct")
class TwoWindowsAlike(Acme):
    recency = {**Acme.recency, Recency.DAY: "1w"}


@breaks("freshness-sent")
class FreshnessForgotten(Acme):
    def window(self, request: SearchRequest, context: SearchContext[Any]) -> str | None:
        return super().window(request, context) if request.recency else None


class WithoutParameter(Acme):
    """A mutant that forgets one parameter."""

    name = ""

    def params(self, request: SearchRequest, context: SearchContext[Any]) -> dict[str, Any]:
        return {**super().params(request, context), self.name: None}


@breaks("option-site")
class SiteForgotten(WithoutParameter):
    name = "site"


@breaks("option-site")
class SiteRowsRewritten(Acme):
    def row(self, row: JsonBody, context: SearchContext[Any]) -> SearchResult:
        return attrs.evolve(super().row(row, context), url=f"https://go.acme.example/?to={row.text('u')}")


@breaks("option-safe")
class SafeForgotten(WithoutParameter):
    name = "safe"


@breaks("option-safe")
class SafeOffIsStrict(Acme):
    def params(self, request: SearchRequest, context: SearchContext[Any]) -> dict[str, Any]:
        return {**super().params(request, context), "safe": "on" if request.safe else None}


@breaks("option-language")
class LanguageForgotten(WithoutParameter):
    name = "lang"


@breaks("option-language")
class LanguageAsGiven(Acme):
    def params(self, request: SearchRequest, context: SearchContext[Any]) -> dict[str, Any]:
        return {**super().params(request, context), "lang": request.language}


@breaks("option-country")
class CountryForgotten(WithoutParameter):
    name = "country"


@breaks("option-country")
class CountryUndeclared(Acme):
    declared = {"best_effort": {"language"}, "countries": None}


def without_checks(toolkit: Toolkit[Any]) -> Toolkit[Any]:
    """The toolkit with a declaration that refuses nothing."""

    class Lax(WebSearch[Any]):
        def check(self, request: SearchRequest) -> None:
            pass

    toolkit._web_search = Lax(**{f.name: getattr(toolkit.web_search, f.name) for f in attrs.fields(WebSearch) if f.init})
    return toolkit


@breaks("query-too-long")
class LongQueriesLetThrough(Acme):
    def build(self) -> Toolkit[Any]:
        return without_checks(super().build())


@breaks("unsupported-refused")
class UnsupportedLetThrough(NarrowAcme):
    def build(self) -> Toolkit[Any]:
        return without_checks(super().build())


@breaks("unknown-option")
class OptionsPassedOn(Acme):
    def params(self, request: SearchRequest, context: SearchContext[Any]) -> dict[str, Any]:
        return {**super().params(request, context), **request.provider_options}


# Pages.


@breaks("paging-advances")
class FirstPageAgain(WithoutParameter):
    name = "from"


@breaks("paging-same-size")
class SizeOfWhatIsLeft(Acme):
    def params(self, request: SearchRequest, context: SearchContext[Any]) -> dict[str, Any]:
        return {**super().params(request, context), "n": min(request.max_results - context.page.offset, 7)}


@breaks("paging-bounded")
class AsksTwice(Acme):
    async def search(self, request: SearchRequest, context: SearchContext[Any]) -> SearchResponse:
        await self.ask(request, context)
        return await super().search(request, context)


@breaks("paging-complete")
class OnePageOnly(Acme):
    def read(self, *args: Any) -> SearchResponse:
        return attrs.evolve(super().read(*args), more=False)


@breaks("paging-stops-at-empty")
class TriesAgainWhenEmpty(Acme):
    async def search(self, request: SearchRequest, context: SearchContext[Any]) -> SearchResponse:
        found = await super().search(request, context)
        return found if found.results else await super().search(request, context)


@breaks("paging-stops-when-told")
class EndUnheard(Acme):
    def read(self, *args: Any) -> SearchResponse:
        return attrs.evolve(super().read(*args), more=None)


@breaks("paging-cursor")
class CursorDropped(Acme):
    def params(self, request: SearchRequest, context: SearchContext[Any]) -> dict[str, Any]:
        return {**super().params(request, context), "from": context.page.offset}


# Results.


@breaks("results-refused")
class FiltersByItself(Acme):
    def rows(self, answer: JsonBody, request: SearchRequest, context: SearchContext[Any]) -> list[SearchResult]:
        found = super().rows(answer, request, context)
        return [row for row in found if request.site is None or str(request.site) in (row.url or "")]


@breaks("results-refused")
class UrlsMended(Acme):
    def row(self, row: JsonBody, context: SearchContext[Any]) -> SearchResult:
        return attrs.evolve(super().row(row, context), url=re.sub(r"//[^/]*@", "//", row.text("u") or ""))


@breaks("text-clean")
class EscapesText(Acme):
    def title(self, row: JsonBody) -> str | None:
        return escape(row.text("t") or "")


@breaks("text-clean")
class TagsBecomeSpaces(Acme):
    def title(self, row: JsonBody) -> str | None:
        return re.sub("<[^>]*>", " ", row.text("t") or "")


@breaks("text-decoded-once")
class DecodesToo(Acme):
    def title(self, row: JsonBody) -> str | None:
        return unescape(row.text("t") or "")


@breaks("plain-text-kept")
class StripsPlainText(PlainAcme):
    def title(self, row: JsonBody) -> str | None:
        return re.sub("<[^>]*>", "", row.text("t") or "")


@breaks("plain-text-kept")
class PlainDeclaredMarkup(PlainAcme):
    declared = {"text": "html"}

    def title(self, row: JsonBody) -> str | None:
        return re.sub("<.*", "", row.text("t") or "")


# Dates.


@breaks("freshness-needs-dates")
class FreshnessRefusedForNothing(Acme):
    declared = {"native": {"site"}, "unsupported": {"freshness"}}


@breaks("freshness-needs-dates")
class FreshnessWithoutDates(Acme):
    answers = NO_DATES


@breaks("date-published")
class DatesForgotten(Acme):
    def date(self, row: JsonBody, context: SearchContext[Any]) -> str | None:
        return None


@breaks("date-published")
class DatesCutToTheirDay(Acme):
    def date(self, row: JsonBody, context: SearchContext[Any]) -> str | None:
        return (normalize(row.text("date")) or "")[:10] or None


@breaks("date-guesses")
class ZoneGuessed(Acme):
    def date(self, row: JsonBody, context: SearchContext[Any]) -> str | None:
        text = row.text("date")
        return f"{text}Z" if text and re.fullmatch(r"[-\d]+T[:\d]+", text) else text


@breaks("date-guesses")
class AgeCountedBack(Acme):
    def date(self, row: JsonBody, context: SearchContext[Any]) -> str | None:
        text = row.text("date")
        return context.now.date().isoformat() if text and "ago" in text else text


@breaks("date-guesses")
class MonthFirstGuessed(Acme):
    def date(self, row: JsonBody, context: SearchContext[Any]) -> str | None:
        found = re.fullmatch(r"(\d\d)/(\d\d)/(\d{4})", row.text("date") or "")
        return f"{found[3]}-{found[1]}-{found[2]}" if found else row.text("date")


@breaks("crawl-time")
class CrawlTimeForDate(Acme):
    def date(self, row: JsonBody, context: SearchContext[Any]) -> str | None:
        return row.text("date") or row.text("seen")


@breaks("freshness-keeps")
class YearsOnly(Acme):
    def date(self, row: JsonBody, context: SearchContext[Any]) -> str | None:
        found = re.search(r"\d{4}", row.text("date") or "")
        return found[0] if found else None


@breaks("freshness-drops")
class UndatedIsNew(Acme):
    def date(self, row: JsonBody, context: SearchContext[Any]) -> str | None:
        return row.text("date") or context.now.isoformat()


@breaks("freshness-drops")
class OldIsNew(Acme):
    def date(self, row: JsonBody, context: SearchContext[Any]) -> str | None:
        return context.now.date().isoformat() if row.text("date") else None


# Answers of any shape.


@breaks("answers")
class RefusalUnread(Acme):
    def read_refusal(self, answer: JsonBody) -> str | None:
        return None


@breaks("answers")
class NothingFoundIsAnError(Acme):
    def rows(self, *args: Any) -> list[SearchResult]:
        found = super().rows(*args)
        if not found:
            raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE)
        return found


@breaks("row-without-a-key")
class RowKeyDemanded(Acme):
    def row(self, row: JsonBody, context: SearchContext[Any]) -> SearchResult:
        raw: Any = row.raw
        return attrs.evolve(super().row(row, context), snippet=raw["s"])


@breaks("row-without-a-key")
class OneBadRowCostsAll(Acme):
    def rows(self, *args: Any) -> list[SearchResult]:
        found = super().rows(*args)
        if not all(row.title for row in found):
            raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE)
        return found


@breaks("body-without-a-key")
class BodyKeyDemanded(Acme):
    def read(self, answer: JsonBody, request: SearchRequest, context: SearchContext[Any]) -> SearchResponse:
        raw: Any = answer.raw
        return attrs.evolve(super().read(answer, request, context), next_page=raw["found"]["next"])


@breaks("wrong-shape")
class WrongShapeIsEmpty(Acme):
    def rows(self, answer: JsonBody, request: SearchRequest, context: SearchContext[Any]) -> list[SearchResult]:
        found = answer.at("found", "hits").raw
        return super().rows(answer, request, context) if isinstance(found, list) else []


@breaks("odd-values")
class RankAsFloat(Acme):
    def row(self, row: JsonBody, context: SearchContext[Any]) -> SearchResult:
        float(row.number("rank") or 0)
        return super().row(row, context)


@breaks("odd-values")
class DeepRowsWalked(Acme):
    def row(self, row: JsonBody, context: SearchContext[Any]) -> SearchResult:
        def depth(value: Any) -> int:
            inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            return 1 + max(map(depth, inner), default=0)

        if depth(row.raw) > 20:
            raise RecursionError
        return super().row(row, context)


@breaks("any-answer")
class EveryValueATitle(Acme):
    def title(self, row: JsonBody) -> str | None:
        return str(row.at("t").raw)


@breaks("any-answer")
class TagsTakenForTexts(Acme):
    def row(self, row: JsonBody, context: SearchContext[Any]) -> SearchResult:
        ", ".join(tag.raw for tag in row.rows("tags"))  # type: ignore[misc]  # the defect that is to be found
        return super().row(row, context)


@breaks("any-answer")
class TitleNotText(Acme):
    def title(self, row: JsonBody) -> str | None:
        title: Any = row.at("t").raw
        return title


# A vendor's bad day.


class Swallows(Acme):
    """A mutant that takes some failures for an empty answer."""

    codes: tuple[ErrorCode, ...] = ()

    async def search(self, request: SearchRequest, context: SearchContext[Any]) -> SearchResponse:
        try:
            return await super().search(request, context)
        except SearchError as error:
            if error.code not in self.codes:
                raise
        return SearchResponse([], vendor="acme")


@breaks("status-unauthorized")
class BadKeyIsEmpty(Swallows):
    codes = (ErrorCode.PROVIDER_UNAUTHORIZED,)


@breaks("status-unauthorized")
class BadKeyIsAnOutage(Acme):
    refusals = {**Acme.refusals, 401: ErrorCode.PROVIDER_UNAVAILABLE}


@breaks("status-rate-limited")
class LimitIsEmpty(Swallows):
    codes = (ErrorCode.PROVIDER_RATE_LIMITED,)


@breaks("status-rate-limited")
class WaitForgotten(Acme):
    async def search(self, request: SearchRequest, context: SearchContext[Any]) -> SearchResponse:
        try:
            return await super().search(request, context)
        except SearchError as error:
            raise attrs.evolve(error, retry_after=None) from None


@breaks("status-rejected")
class RefusalIsEmpty(Swallows):
    codes = (ErrorCode.PROVIDER_REJECTED,)


@breaks("status-rejected")
class ProviderMisnamed(Acme):
    async def search(self, request: SearchRequest, context: SearchContext[Any]) -> SearchResponse:
        try:
            return await super().search(request, context)
        except SearchError as error:
            raise attrs.evolve(error, provider="someone-else") from None


@breaks("status-unavailable")
class OutageIsEmpty(Swallows):
    codes = (ErrorCode.PROVIDER_UNAVAILABLE,)


@breaks("status-unavailable")
class OutageIsARefusal(Acme):
    refusals = {**Acme.refusals, 503: ErrorCode.PROVIDER_REJECTED}


@breaks("redirect-refused")
class RedirectFollowed(Acme):
    async def ask(self, request: SearchRequest, context: SearchContext[Any]) -> JsonBody:
        try:
            return await super().ask(request, context)
        except SearchError as error:
            if "redirect" not in str(error):
                raise
        return await context.http.get_json("https://elsewhere.example/find", headers=self.headers(context))


@breaks("time-out")
class TimeoutIsEmpty(Swallows):
    codes = (ErrorCode.UPSTREAM_TIMEOUT,)


@breaks("connection-lost")
class RetriesByItself(Acme):
    async def ask(self, request: SearchRequest, context: SearchContext[Any]) -> JsonBody:
        try:
            return await super().ask(request, context)
        except SearchError:
            return await super().ask(request, context)


@breaks("truncated-body")
class CutIsEmpty(Swallows):
    codes = (ErrorCode.UPSTREAM_UNREACHABLE,)


@breaks("not-the-vendors-page")
class AnyPageIsEmpty(Acme):
    async def ask(self, request: SearchRequest, context: SearchContext[Any]) -> JsonBody:
        answer = await context.http.get_text(
            self.url(context), params=self.params(request, context), headers=self.headers(context)
        )
        from searchport.egress.answers import decode_json

        return decode_json(answer.text) if answer.text.startswith("{") else JsonBody({})


@breaks("not-the-vendors-page")
@breaks("answers")
class AnyPageHasNoHits(PagesAcme):
    def check_page(self, page: HtmlBody, results: list[SearchResult]) -> None:
        pass


@breaks("row-without-a-key")
class TitleDemanded(PagesAcme):
    def result(self, row: HtmlBody) -> SearchResult:
        if not row.text("a"):
            raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE)
        return super().result(row)


@breaks("any-answer")
class LinkDemanded(PagesAcme):
    def result(self, row: HtmlBody) -> SearchResult:
        href: Any = row.attribute("href", "a")
        return attrs.evolve(super().result(row), url=parse_qs(href.partition("?")[2])["to"][0])


@breaks("text-decoded-once")
class PageTextDeclaredMarkup(PagesAcme):
    declared = {**PagesAcme.declared, "text": "html"}


@breaks("oversized-body")
class TooMuchIsEmpty(Swallows):
    codes = (ErrorCode.PROVIDER_UNAVAILABLE,)


# One process, many organizations.


@breaks("key-sent")
class KeyForgotten(Acme):
    def headers(self, context: SearchContext[Any]) -> dict[str, str]:
        return {"X-Api-Key": "built-in"} if context.credential else {}


@breaks("key-required")
class KeyOptional(Acme):
    def headers(self, context: SearchContext[Any]) -> dict[str, str]:
        return {"X-Api-Key": context._credential or "anonymous"}


@breaks("keyless-sends-no-key")
class KeylessWithKey(KeylessAcme):
    def headers(self, context: SearchContext[Any]) -> dict[str, str]:
        return {"X-Api-Key": context._credential or "none"}


@breaks("one-vendor")
class TellsAnother(Acme):
    async def ask(self, request: SearchRequest, context: SearchContext[Any]) -> JsonBody:
        await context.http.get_json("https://metrics.acme.example/hit", params={"q": request.query})
        return await super().ask(request, context)


@breaks("secrets-in-errors")
class QueryInTheReason(Acme):
    async def ask(self, request: SearchRequest, context: SearchContext[Any]) -> JsonBody:
        try:
            return await super().ask(request, context)
        except SearchError as error:
            raise attrs.evolve(error, reason=f"searching for {request.query}") from None


@breaks("secrets-in-errors")
class VendorsWordsInTheError(Acme):
    def read_refusal(self, answer: JsonBody) -> Any:
        message = answer.text("error", "message")
        return SearchError(ErrorCode.PROVIDER_REJECTED, reason=message) if message else super().read_refusal(answer)


@breaks("secrets-in-logs")
class QueryPrinted(Acme):
    def query(self, request: SearchRequest) -> str:
        print(request.query)  # noqa: T201  # the defect that is to be found
        return request.query


@breaks("secrets-in-logs")
class KeyLogged(Acme):
    def headers(self, context: SearchContext[Any]) -> dict[str, str]:
        logging.getLogger("acme").debug("headers %s", super().headers(context))
        return super().headers(context)


@breaks("secrets-in-logs")
class SnippetLogged(Acme):
    def row(self, row: JsonBody, context: SearchContext[Any]) -> SearchResult:
        logging.getLogger("acme").warning(row.text("s"))
        return super().row(row, context)


class WithParameter(Acme):
    """A mutant that sends one parameter more."""

    def more(self, context: SearchContext[Any]) -> str | None:
        raise NotImplementedError

    def params(self, request: SearchRequest, context: SearchContext[Any]) -> dict[str, Any]:
        return {**super().params(request, context), "x": self.more(context)}


@breaks("same-request-twice")
class NumberDrawn(WithParameter):
    def more(self, context: SearchContext[Any]) -> str | None:
        return str(random.random())  # noqa: S311


@breaks("no-clock")
class OwnClock(WithParameter):
    def more(self, context: SearchContext[Any]) -> str | None:
        return datetime.now(UTC).date().isoformat()


@breaks("no-state")
class FirstKeyKept(Acme):
    kept: str | None = None

    def headers(self, context: SearchContext[Any]) -> dict[str, str]:
        self.kept = self.kept or context.credential
        return {"X-Api-Key": self.kept}


@breaks("no-state")
class CallsCounted(WithParameter):
    calls = 0

    def more(self, context: SearchContext[Any]) -> str | None:
        self.calls += 1
        return str(self.calls)


@breaks("no-environment")
class KeyOfTheEnvironment(WithParameter):
    def more(self, context: SearchContext[Any]) -> str | None:
        return os.environ.get("ACME_API_KEY")


@breaks("no-environment")
class RegionOfTheEnvironment(Acme):
    def headers(self, context: SearchContext[Any]) -> dict[str, str]:
        return {**super().headers(context), "X-Region": "eu" if os.getenv("ACME_IN_EUROPE") else "us"}


@breaks("models")
class ModelsTwice(Acme):
    def models(self) -> list[str]:
        return ["fast", "fast"]


@breaks("models")
class NoModels(Acme):
    def models(self) -> list[str]:
        return []


@breaks("models")
class ModelForgotten(WithoutParameter):
    name = "tier"


@breaks("operator-settings")
class AddressUnheeded(Acme):
    def url(self, context: SearchContext[Any]) -> str:
        return "https://api.acme.example/v2/find"


@breaks("operator-settings")
class AddressOfTheCaller(Acme):
    def build(self) -> Toolkit[Any]:
        class Lax(Toolkit[Any]):
            __slots__ = ()

            def build_settings(self, values: Any, options: Any) -> Any:
                return AcmeSettings(**{**values, **options}), ()

        toolkit = super().build()
        toolkit.__class__ = Lax
        return toolkit


# The claims.


class LimitsWith503(Acme):
    """A vendor that documents 503 for a rate limit."""

    refusals = {**Acme.refusals, 503: ErrorCode.PROVIDER_RATE_LIMITED}


HONEST = [Acme, PlainAcme, KeylessAcme, NarrowAcme, PagesAcme, LimitsWith503]


@pytest.mark.parametrize("honest", HONEST, ids=lambda cls: cls.__name__)
def test_an_honest_toolkit_keeps_every_promise(honest: type[Acme]) -> None:
    toolkit, answers = honest().build(), Answers.parse(honest.answers)
    broken = {
        outcome.check.name: [str(violation) for violation in outcome.violations]
        for outcome in run_checks(toolkit, answers)
        if outcome.violations
    }
    assert broken == {}


def test_every_check_concerns_some_honest_toolkit() -> None:
    concerned = set()
    for honest in HONEST:
        toolkit, answers = honest().build(), Answers.parse(honest.answers)
        concerned |= {outcome.check.name for outcome in run_checks(toolkit, answers, examples=1) if outcome.is_kept}
    assert {check.name for check in CHECKS} - concerned == set()


@pytest.mark.parametrize(("check", "mutant"), MUTANTS, ids=lambda part: part if isinstance(part, str) else part.__name__)
def test_a_broken_promise_is_caught_by_its_own_check(check: str, mutant: type[Acme]) -> None:
    violations = run(check, mutant)
    assert violations
    for violation in violations:
        assert violation.promised.endswith(".")
        assert violation.happened
        assert violation.change


def test_every_check_has_a_mutant_that_it_catches() -> None:
    assert {check for check, _ in MUTANTS} == {check.name for check in CHECKS}


def test_checks_have_names_of_their_own() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", check.name) for check in CHECKS)


def test_a_violation_says_what_was_promised_what_happened_and_what_to_change() -> None:
    violation = run("option-safe", SafeForgotten)[0]
    assert str(violation).splitlines() == [
        "promised: Safe search reaches the vendor, or is declared unsupported; it is never ignored.",
        "happened: safe='strict' changed nothing in the request, though it is declared honoured",
        """change:   send it, or declare unsupported={"safe"}""",
    ]


async def test_the_kit_says_so_where_an_event_loop_runs() -> None:
    with pytest.raises(RuntimeError, match=r"call it where none runs, as in asyncio\.to_thread"):
        run("rows-arrive", Acme)
    assert await asyncio.to_thread(run, "rows-arrive", Acme) == ()


def test_what_does_not_concern_a_toolkit_is_skipped_with_its_reason() -> None:
    with pytest.raises(NotApplicable, match="the vendor takes no key"):
        run("key-sent", KeylessAcme)
