"""Exa search API: POST https://api.exa.ai/search

Vendor reference: https://exa.ai/docs/search and /docs/admin/error-codes (read 2026-11); not checked live.
Limits it states: 100 results a request and no pages, fewer on small plans; 10 requests a second. 7 USD per 1,000 requests of up
to 10 results, 1 USD per 1,000 for each further one; `lite` is cheaper, `deep` dearer.
Dates: `publishedDate` is estimated from the page; a midnight is a day without a time. Under a window undated pages drop out.
Odd: without `contents` there are no excerpts; spent credit is HTTP 402; `lite` refuses what it does not know with HTTP 400. A
`site:` in the query is acted upon or dropped, and cannot be switched off. Excerpts hold Markdown.
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
from searchport.context import fixed_models
from searchport.egress import JsonBody
from searchport.price import Price
from searchport.request import safe_table
from searchport.windows import windows_since

FIND = "https://api.exa.ai/search"
SAFE = safe_table(off=False, moderate=True, strict=True)  # `moderation`
REFUSALS: dict[str, ErrorCode | SearchError] = {
    "INVALID_API_KEY": ErrorCode.PROVIDER_UNAUTHORIZED,
    "NO_MORE_CREDITS": SearchError(ErrorCode.PROVIDER_RATE_LIMITED, reason="its credit is spent"),
    "API_KEY_BUDGET_EXCEEDED": SearchError(ErrorCode.PROVIDER_RATE_LIMITED, reason="the key's budget is spent"),
    "NUM_RESULTS_EXCEEDED": SearchError(ErrorCode.PROVIDER_REJECTED, reason="its plan gives fewer results a request than asked"),
    "SERVICE_OVERLOADED": ErrorCode.PROVIDER_UNAVAILABLE,
}
PRICE = Price(
    Decimal(7),
    models={"lite": Decimal(4), "deep": Decimal(12), "deep-reasoning": Decimal(15)},
    usd_per_further_result=Decimal(1),
)

toolkit = define_toolkit(id="exa", name="Exa", credential_ref=SEARCH_API_KEY)


def read_refusal(answer: JsonBody) -> str | None:
    return answer.text("tag") or ("error" if answer.has("error") else None)


def read_date(row: JsonBody) -> str | None:
    date = row.text("publishedDate")
    return date.removesuffix("T00:00:00.000Z") if date else None


@define_web_search(
    toolkit,
    recency=windows_since("%Y-%m-%dT%H:%M:%SZ"),
    fetch_models=fixed_models("auto lite fast instant deep deep-reasoning"),
    native={"freshness", "site", "safe"},
    best_effort={"country"},
    page_size=100,
    literal=False,
    price_per_1000=PRICE,
    evidence="recorded",
    refusals=REFUSALS,
    read_refusal=read_refusal,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    answer = await context.http.post_json(
        FIND,
        headers={"x-api-key": context.credential},
        body={
            "query": request.query,
            "numResults": context.page.size,
            "type": context.model,
            "startPublishedDate": context.window_value,
            "includeDomains": request.hosts,
            "userLocation": context.country,
            "moderation": SAFE[request.safe],
            "contents": {"highlights": True},
        },
    )
    return SearchResponse(
        vendor="exa",
        results=[
            SearchResult(
                row.text("title"),
                row.text("url"),
                snippet=" … ".join(row.texts("highlights")) or row.text("summary") or row.text("text"),
                published_date=read_date(row),
            )
            for row in answer.rows("results", required=True)
        ],
    )
