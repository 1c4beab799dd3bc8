"""Tavily search API: POST https://api.tavily.com/search

Vendor reference: https://docs.tavily.com/documentation/api-reference/endpoint/search (read 2026-11); not checked live.
Limits it states: 20 results and no pages, a query of 400 characters; 8 USD per 1,000 credits, `advanced` takes two a search.
Dates: RFC 1123 with `GMT`, or ISO, and only when asked for. A window may count from a page's last change and lets undated
pages through; under `freshness` the vendor is told to count from the published date and to leave them out.
Odd: a site is only preferred unless the mode is `restrict`; a country is an English name in lower case; a spent plan is HTTP
432, a spent pay-as-you-go limit 433; unknown members pass without a word. `safe_search` depends on the plan. No word says what
it makes of query operators. Excerpts may hold Markdown.
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
from searchport.country_names import COUNTRY_NAMES
from searchport.egress.error_member import read_error
from searchport.price import Price
from searchport.windows import NAMED_WINDOWS

FIND = "https://api.tavily.com/search"
REFUSALS = {
    432: SearchError(ErrorCode.PROVIDER_RATE_LIMITED, reason="the credits of its plan, or of the key, are spent"),
    433: SearchError(ErrorCode.PROVIDER_RATE_LIMITED, reason="its pay-as-you-go limit is spent"),
}

NAMES = {"advanced": "Advanced (twice the price)"}

toolkit = define_toolkit(id="tavily", name="Tavily", credential_ref=SEARCH_API_KEY)


@define_web_search(
    toolkit,
    recency=NAMED_WINDOWS,
    fetch_models=fixed_models("basic advanced fast ultra-fast", NAMES),
    native={"freshness", "site"},
    best_effort={"country"},
    unsupported={"safe"},
    countries=COUNTRY_NAMES,
    page_size=20,
    max_pages=1,
    max_query=400,
    literal=False,
    text="plain",
    price_per_1000=Price(Decimal(8), models={"advanced": Decimal(16)}),
    evidence="recorded",
    refusals=REFUSALS,
    read_refusal=read_error,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    answer = await context.http.post_json(
        FIND,
        headers=context.bearer,
        body={
            "query": request.query,
            "max_results": context.page.size,
            "search_depth": context.model,
            "time_range": context.window_value,
            "include_published_date": True,
            "filter_by_published_date": True if request.freshness else None,
            "include_domains": request.hosts,
            "include_domains_mode": "restrict" if request.site else None,
            "country": context.country,
            "auto_parameters": False,
        },
    )
    return SearchResponse(
        vendor="tavily",
        results=[
            SearchResult(
                row.text("title"), row.text("url"), snippet=row.text("content"), published_date=row.text("published_date")
            )
            for row in answer.rows("results", required=True)
        ],
    )
