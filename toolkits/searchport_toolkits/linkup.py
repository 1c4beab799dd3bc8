"""Linkup search API: POST https://api.linkup.so/v1/search

Vendor reference: https://docs.linkup.so, its endpoints, platform/errors and development/pricing (read 2026-11); not checked
live.
Limits it states: none for results, and no pages; 10 requests a second. 5 USD per 1,000, `deep` 50.
Dates: none in its model; a sample of 2024 carried a `date`, which is read where it comes. So freshness could keep nothing.
Odd: "nothing found" is HTTP 400; HTTP 429 is a rate limit, spent credit or a spent budget, by its code; images can stand among
the pages. `standard` and `deep` read the query as instructions to an agent, and take longer; what the others make of query
operators is not documented. Texts are long and may hold Markdown.
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
from searchport.egress.error_member import read_error
from searchport.price import Price
from searchport.windows import windows_since

FIND = "https://api.linkup.so/v1/search"
REFUSALS = {
    "INSUFFICIENT_FUNDS_CREDITS": SearchError(ErrorCode.PROVIDER_RATE_LIMITED, reason="its credit is spent"),
    "EXCEED_BUDGET_LIMIT": SearchError(ErrorCode.PROVIDER_RATE_LIMITED, reason="its budget is spent"),
}
NAMES = {
    "standard": "Standard (reads the query as instructions)",
    "deep": "Deep (reads the query as instructions, ten times the price)",
}

toolkit = define_toolkit(id="linkup", name="Linkup", credential_ref=SEARCH_API_KEY)


@define_web_search(
    toolkit,
    recency=windows_since("%Y-%m-%d"),
    fetch_models=fixed_models("fast flash standard deep", NAMES),
    native={"site"},
    unsupported={"freshness", "safe"},
    page_size=50,
    max_pages=1,
    literal=False,
    text="plain",
    price_per_1000=Price(Decimal(5), models={"deep": Decimal(50)}),
    evidence="documentation",
    refusals=REFUSALS,
    read_refusal=read_error,
    nothing_found={"SEARCH_QUERY_NO_RESULT"},
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    answer = await context.http.post_json(
        FIND,
        headers=context.bearer,
        body={
            "q": request.query,
            "depth": context.model or "fast",
            "outputType": "searchResults",
            "maxResults": context.page.size,
            "fromDate": context.window_value,
            "includeDomains": request.hosts,
        },
    )
    return SearchResponse(
        vendor="linkup",
        results=[
            SearchResult(row.text("name"), row.text("url"), snippet=row.text("content"), published_date=row.text("date"))
            for row in answer.rows("results", required=not answer.has("error"))
            if row.text("type") == "text"
        ],
    )
