"""Perplexity Search API: POST https://api.perplexity.ai/search

Vendor reference: https://docs.perplexity.ai/api-reference/search-post (read 2026-11); not checked live.
Limits it states: 20 results and no pages; 5 USD per 1,000 requests, `fast` 1 USD.
Dates: `date` is a calendar day; `last_updated` is the last change, and never read.
Odd: a bad key can be HTTP 401 with a page of HTML, and spent credit HTTP 401 too; a language is a filter; a snippet is a
passage of Markdown, whose length is asked for. No query operators are documented.
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
from searchport.locale import LANGUAGES
from searchport.price import Price
from searchport.windows import NAMED_WINDOWS

FIND = "https://api.perplexity.ai/search"
MODES = {"academic", "sec"}  # `search_mode`; the other models are a `search_type`
NAMES = {"fast": "Fast (a fifth of the price)", "sec": "SEC filings"}
REFUSALS = {
    401: SearchError(ErrorCode.PROVIDER_UNAUTHORIZED, reason="HTTP status 401: the key is refused, or its credit is spent"),
}

toolkit = define_toolkit(id="perplexity", name="Perplexity Search", credential_ref=SEARCH_API_KEY)


@define_web_search(
    toolkit,
    recency=NAMED_WINDOWS,
    fetch_models=fixed_models("web fast academic sec", NAMES),
    native={"freshness", "site"},
    best_effort={"language", "country"},
    unsupported={"safe"},
    languages={code: code for code in LANGUAGES},
    page_size=20,
    max_pages=1,
    text="plain",
    price_per_1000=Price(Decimal(5), models={"fast": Decimal(1)}),
    evidence="documentation",
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
            "search_type": None if context.model in MODES else context.model,
            "search_mode": context.model if context.model in MODES else None,
            "search_recency_filter": context.window_value,
            "search_domain_filter": request.hosts,
            "search_language_filter": [context.language] if context.language else None,
            "country": context.country,
            "max_tokens_per_page": 256,
        },
    )
    return SearchResponse(
        vendor="perplexity",
        results=[
            SearchResult(row.text("title"), row.text("url"), snippet=row.text("snippet"), published_date=row.text("date"))
            for row in answer.rows("results", required=True)
        ],
    )
