"""Firecrawl search API, v2: POST https://api.firecrawl.dev/v2/search

Vendor reference: https://docs.firecrawl.dev/features/search and /api-reference/errors (read 2026-11); not checked live.
Limits it states: 100 results and no pages, a query of 500 characters, of which a site takes its part; 2 credits for 10 results.
Dates: none beside pages of the web, so that no freshness could be held.
Odd: without a country it is the United States; a failure can have a status of success; a site becomes a `site:` in the query at
its end; what was found is a list for each source, in its earlier version one flat list, and missing where it is nothing.
Without `highlights` a description is the engine's own. Query operators cannot be switched off.
"""

from __future__ import annotations

from searchport import (
    SEARCH_API_KEY,
    SearchContext,
    SearchRequest,
    SearchResponse,
    SearchResult,
    define_toolkit,
    define_web_search,
)
from searchport.egress import JsonBody
from searchport.google_pages import WINDOWS
from searchport.request import safe_table

FIND = "https://api.firecrawl.dev/v2/search"
SAFE = safe_table(off=False, moderate=True, strict=True)

toolkit = define_toolkit(id="firecrawl", name="Firecrawl", credential_ref=SEARCH_API_KEY)


def read_refusal(answer: JsonBody) -> str | None:
    return None if answer.flag("success") is not False else answer.text("code") or "error"


def read_rows(answer: JsonBody) -> list[JsonBody]:
    is_flat = isinstance(answer.at("data").raw, list)
    return answer.rows("data") if is_flat else answer.rows("data", "web", required=answer.flag("success") is None)


@define_web_search(
    toolkit,
    recency=WINDOWS,
    native={"site", "safe"},
    best_effort={"country"},
    unsupported={"freshness"},
    page_size=100,
    max_query=500,
    literal=False,
    text="plain",
    evidence="documentation",
    read_refusal=read_refusal,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    answer = await context.http.post_json(
        FIND,
        headers=context.bearer,
        body={
            "query": request.query,
            "limit": context.page.size,
            "sources": ["web"],
            "tbs": context.window_value,
            "includeDomains": request.hosts,
            "country": context.country,
            "safe": SAFE[request.safe],
            "highlights": False,
        },
    )
    return SearchResponse(
        vendor="firecrawl",
        results=[SearchResult(row.text("title"), row.text("url"), snippet=row.text("description")) for row in read_rows(answer)],
    )
