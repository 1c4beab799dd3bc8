"""Kagi Search API, v1: POST https://kagi.com/api/v1/search

Vendor reference: https://github.com/kagisearch/kagi-openapi-python and https://help.kagi.com/kagi/api/search.html (read
2026-11); not checked live. Its v0 takes no new keys.
Limits it states: 10 pages; how many rows a page has cannot be asked for, `limit` only cuts. 12 USD per 1,000, by a third party.
Dates: `time` is when a page was made or last changed. What is not known of it is filled up: a midnight on the first of a month
is a month alone, of a year that year.
Odd: `search` is missing where nothing was found; other lists are no pages of the web; `data` is null beside an error; the error
code is a text; a key may answer only some addresses (403). Query operators and snaps cannot be switched off, and the key
owner's own ranking applies where the key inherits it.
"""

from __future__ import annotations

from decimal import Decimal

from searchport import (
    SEARCH_API_KEY,
    ErrorCode,
    SearchContext,
    SearchError,
    SearchRequest,
    SearchResponse,
    SearchResult,
    define_toolkit,
    define_web_search,
)
from searchport.egress import JsonBody
from searchport.request import safe_table
from searchport.windows import windows_since

FIND = "https://kagi.com/api/v1/search"
SAFE = safe_table(off=False, moderate=True, strict=True)
REFUSALS: dict[str, ErrorCode | SearchError] = {
    "0": ErrorCode.PROVIDER_UNAVAILABLE,
    "1": ErrorCode.PROVIDER_REJECTED,
    "2": ErrorCode.PROVIDER_UNAUTHORIZED,
    "100": SearchError(ErrorCode.PROVIDER_REJECTED, reason="the account has no billing information"),
    "101": SearchError(ErrorCode.PROVIDER_RATE_LIMITED, reason="its credit is spent"),
}

toolkit = define_toolkit(id="kagi", name="Kagi", credential_ref=SEARCH_API_KEY)


def read_refusal(answer: JsonBody) -> str | None:
    return answer.text("error", 0, "code") or ("error" if answer.has("error") else None)


def read_date(row: JsonBody) -> str | None:
    """What of a date was not filled up: `2026` of `2026-01-01T00:00:00Z`, `2026-09` of `2026-09-01T00:00:00Z`."""
    time = row.text("time")
    day = (time or "").removesuffix("T00:00:00Z")
    return day.removesuffix("-01").removesuffix("-01") if day != time and day.endswith("-01") else time


@define_web_search(
    toolkit,
    recency=windows_since("%Y-%m-%d"),
    native={"freshness", "site", "safe"},
    best_effort={"country"},
    page_size=10,
    max_pages=10,
    literal=False,
    price_per_1000=Decimal(12),
    evidence="documentation",
    refusals=REFUSALS,
    read_refusal=read_refusal,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    answer = await context.http.post_json(
        FIND,
        headers=context.bearer,
        body={
            "query": request.query,
            "page": context.page.number,
            "safe_search": SAFE[request.safe],
            "filters": {
                "region": context.lower_country,
                "after": context.window_value,
            },
            "lens": {"sites_included": request.hosts},
        },
    )
    return SearchResponse(
        vendor="kagi",
        results=[
            SearchResult(row.text("title"), row.text("url"), snippet=row.text("snippet"), published_date=read_date(row))
            for row in answer.rows("data", "search", required=not answer.has("data"))
        ],
    )
