"""You.com Search API: POST https://ydc-index.io/v1/search

Vendor reference: https://you.com/docs/guides/search/request-controls and the vendor's Python client 3.6.0 (read 2026-11); not
checked live.
Limits it states: 100 results a section; 10 requests a second; 5 USD per 1,000.
Dates: `page_age` has no zone, for its bound; other spellings occur.
Odd: every member of an answer may be missing, `web` where nothing was found; news is a section of its own, and not read; words
for a time in the query widen the window; spent credit is HTTP 402. Query operators cannot be switched off.
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
from searchport.egress.error_member import read_error
from searchport.locale import closed_list
from searchport.windows import NAMED_WINDOWS

FIND = "https://ydc-index.io/v1/search"

# `language` and `country` in the vendor's client, whole lists.
LANGUAGES = closed_list(
    "AR EU BN BG CA ZH-HANS ZH-HANT HR CS DA NL EN EN-GB ET FI FR GL DE EL GU HE HI HU IS IT JA KN KO LV LT MS ML MR NB PL PT-BR "
    "PT-PT PA RO RU SR SK SL ES SV TA TE TH TR UK VI",
    {"PT": "PT-PT"},
)
COUNTRIES = closed_list(
    "AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US"
)

toolkit = define_toolkit(id="you", name="You.com Search", credential_ref=SEARCH_API_KEY)


@define_web_search(
    toolkit,
    recency=NAMED_WINDOWS,
    native={"freshness", "site", "safe"},
    best_effort={"language", "country"},
    languages=LANGUAGES,
    countries=COUNTRIES,
    page_size=100,
    literal=False,
    price_per_1000=Decimal(5),
    evidence="documentation",
    read_refusal=read_error,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    answer = await context.http.post_json(
        FIND,
        headers={"X-API-Key": context.credential},
        body={
            "query": request.query,
            "count": context.page.size,
            "freshness": context.window_value,
            "include_domains": request.hosts,
            "language": context.language,
            "country": context.country,
            "safesearch": request.safe,
        },
    )
    return SearchResponse(
        vendor="you",
        results=[
            SearchResult(
                row.text("title"),
                row.text("url"),
                snippet=next(iter(row.texts("snippets")), None) or row.text("description"),
                published_date=row.text("page_age"),
            )
            for row in answer.rows("results", "web", required=not answer.has("metadata"))
        ],
    )
