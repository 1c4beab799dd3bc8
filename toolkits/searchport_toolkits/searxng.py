"""SearXNG, a metasearch server that the operator runs: POST <base_url>/search with format=json

Vendor reference: https://docs.searxng.org/dev/search_api.html (read 2026-11); answers recorded from a server of 2026-08.
Limits it states: none; rows a page cannot be asked for, and three pages are the most that are taken.
Dates: `publishedDate` is what an engine's adapter built, mostly without a zone, for its bound. Some adapters fill a missing month
and day from today: a midnight on today's day proves its month alone, and in today's month its year.
Odd: JSON is off until `search.formats` names it (403); engines that failed stand in a list, so that no rows with such a list are
a failure; engines that cannot do what was asked are skipped without a word. Its own query words (`!x`, `:de`, `<3`, `max 8`) are
text behind a backslash, which is no operator of any engine; those of the engines it asks cannot be switched off. Requests are
POSTs: its limiter counts few JSON answers by URL. A proxy's token is not supported, since settings are not secret.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime, time, timedelta
from decimal import Decimal

import attrs

from searchport import (
    ErrorCode,
    SearchContext,
    SearchError,
    SearchRequest,
    SearchResponse,
    SearchResult,
    define_toolkit,
    define_web_search,
)
from searchport.literal import guard_words
from searchport.locale import two_part
from searchport.request import safe_table
from searchport.settings import base_url
from searchport.windows import NAMED_WINDOWS

# Its limiter refuses what does not admit text/html, or names no language; messages follow the language, `language` the search.
HEADERS = {"Accept": "application/json, text/html;q=0.1", "Accept-Language": "en"}
SAFE = safe_table(0, 1, 2)
ANSWERERS = {"min", "max", "avg", "sum", "prod", "range", "random"}

JSON_IS_OFF = "HTTP status 403: add `json` to `search.formats` in the instance's settings.yml"
LIMITER = "HTTP status 429: too many requests, or headers changed on the way; put this server into `pass_ip` of its limiter.toml"
REFUSALS = {
    403: SearchError(ErrorCode.PROVIDER_REJECTED, reason=JSON_IS_OFF),
    404: SearchError(ErrorCode.PROVIDER_REJECTED, reason="HTTP status 404: `base_url` leads to no SearXNG"),
    429: SearchError(ErrorCode.PROVIDER_RATE_LIMITED, reason=LIMITER),
}


@attrs.frozen
class SearxngSettings:
    """base_url: address of the instance, its path included."""

    base_url: str = base_url()


toolkit = define_toolkit(id="searxng", name="SearXNG", credential_ref=None, settings=SearxngSettings)


def write_query(query: str) -> str:
    guarded = guard_words(query, "!:<", before="\\")
    return f"\\{guarded.lstrip()}" if guarded.split()[0] in ANSWERERS else guarded


def read_date(text: str | None, now: datetime) -> str | None:
    """What of a date was not filled in from today, wherever the server stands: a midnight on today's day is its month alone."""
    try:
        date = datetime.fromisoformat(text or "")
    except ValueError:
        return text
    todays = [now + timedelta(hours=hours) for hours in (-12, 0, 14)]
    months = {today.month for today in todays if date.day == min(today.day, monthrange(date.year, date.month)[1])}
    if date.tzinfo or date.time() != time() or not months:
        return text
    return date.isoformat()[: 4 if date.month in months else 7]


@define_web_search(
    toolkit,
    recency=NAMED_WINDOWS,
    native={"freshness", "safe"},
    best_effort={"recency", "language", "country"},
    page_size=10,
    max_pages=3,
    literal=False,
    price_per_1000=Decimal(0),
    evidence="recorded",
    refusals=REFUSALS,
)
async def search(request: SearchRequest, context: SearchContext[SearxngSettings]) -> SearchResponse:
    answer = await context.http.post_form_json(
        f"{context.settings.base_url}/search",
        headers=HEADERS,
        form={
            "q": write_query(request.query),
            "format": "json",
            "pageno": context.page.number,
            "language": two_part(request.language, request.country) or "all",
            "time_range": context.window_value,
            "safesearch": SAFE[request.safe],
        },
    )
    rows = answer.rows("results", required=True)
    failed = {engine.text(0) for engine in answer.rows("unresponsive_engines")}  # an engine may stand there twice
    if failed and not rows and context.page.number == 1:
        raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE, reason=f"no rows, and {len(failed)} of its engines failed")
    return SearchResponse(
        vendor="searxng",
        ignored=("country",) if request.country and not request.language else (),
        results=[
            SearchResult(
                row.text("title"),
                row.text("url"),
                snippet=row.text("content"),
                published_date=read_date(row.text("publishedDate"), context.now),
            )
            for row in rows
            if row.text("template") in (None, "default.html")
        ],
    )
