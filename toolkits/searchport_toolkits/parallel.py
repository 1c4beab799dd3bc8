"""Parallel Search API: POST https://api.parallel.ai/v1/search

Vendor reference: https://docs.parallel.ai/api-reference/search/search (read 2026-11); not checked live.
Limits it states: 40 results and no pages, a query of about 200 characters; 600 requests a minute. Up to 10 results are 5 USD
per 1,000 requests, `fast` and `turbo` 1 USD, and each further result 1 USD per 1,000.
Dates: `publish_date` is a calendar day, and mostly missing, so that a freshness keeps few rows.
Odd: the query is one of a list; an `objective` would let it rewrite the search, and is never sent; unknown members are HTTP
422; a country it does not know is left out with a warning. Excerpts hold Markdown. No query operators are documented.
"""

from __future__ import annotations

from decimal import Decimal

from searchport import (
    SEARCH_API_KEY,
    SearchContext,
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

FIND = "https://api.parallel.ai/v1/search"
NAMES = {"fast": "Fast (a fifth of the price)", "turbo": "Turbo (a fifth of the price)"}
PRICE = Price(Decimal(5), models={"fast": Decimal(1), "turbo": Decimal(1)}, usd_per_further_result=Decimal(1))

toolkit = define_toolkit(id="parallel", name="Parallel", credential_ref=SEARCH_API_KEY)


@define_web_search(
    toolkit,
    recency=windows_since("%Y-%m-%d"),
    fetch_models=fixed_models("advanced basic fast turbo", NAMES),
    native={"freshness", "site"},
    best_effort={"country"},
    unsupported={"safe"},
    page_size=40,
    max_pages=1,
    max_query=200,
    text="plain",
    price_per_1000=PRICE,
    evidence="documentation",
    read_refusal=read_error,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    answer = await context.http.post_json(
        FIND,
        headers={"x-api-key": context.credential},
        body={
            "search_queries": [request.query],
            "mode": context.model,
            "advanced_settings": {
                "max_results": context.page.size,
                "location": context.lower_country,
                "source_policy": {
                    "include_domains": request.hosts,
                    "after_date": context.window_value,
                },
                "excerpt_settings": {"max_chars_per_result": 1_000},
            },
        },
    )
    return SearchResponse(
        vendor="parallel",
        ignored=("country",) if request.country and answer.has("warnings", 0) else (),
        results=[
            SearchResult(
                row.text("title"),
                row.text("url"),
                snippet=" … ".join(row.texts("excerpts")) or None,
                published_date=row.text("publish_date"),
            )
            for row in answer.rows("results", required=True)
        ],
    )
