"""Serper, Google's results as JSON: POST https://google.serper.dev/search

Vendor reference: its playground at https://serper.dev; recorded answers and errors in public clients (read 2026-11); not
checked live.
Limits it states: 10 results a page in practice, each page a credit; 1 USD per 1,000 and less in bulk. The country in lower
case.
Dates: the words that Google shows, in the language of the page; a missing one is common. In English a day, or an age for its
bound.
Odd: a bad key is HTTP 403, spent credit HTTP 400 with a sentence; a free key refuses quotes with HTTP 400. Google's operators
cannot be switched off. A parameter for safe search is documented nowhere, and unknown ones pass without a word. Under
`freshness` the page is asked for in English whatever the language: ages in other languages prove nothing.
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
    define_toolkit,
    define_web_search,
)
from searchport.egress import JsonBody
from searchport.google_pages import INTERFACE_LANGUAGES, RISK, WINDOWS, read_results

FIND = "https://google.serper.dev/search"
MESSAGES = {
    "not enough credits": SearchError(ErrorCode.PROVIDER_RATE_LIMITED, reason="its credits are spent"),
    "query pattern not allowed for free accounts": SearchError(
        ErrorCode.PROVIDER_REJECTED, reason="a free account may not send such a query, for one with quotes"
    ),
}

toolkit = define_toolkit(id="serper", name="Serper", credential_ref=SEARCH_API_KEY, risk=RISK)


def read_refusal(answer: JsonBody) -> SearchError | None:
    return MESSAGES.get((answer.text("message") or "").lower().rstrip("."))


@define_web_search(
    toolkit,
    recency=WINDOWS,
    native={"freshness"},
    best_effort={"language", "country"},
    unsupported={"safe"},
    languages=INTERFACE_LANGUAGES,
    page_size=10,
    literal=False,
    text="plain",
    price_per_1000=Decimal(1),
    evidence="recorded",
    read_refusal=read_refusal,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    answer = await context.http.post_json(
        FIND,
        headers={"X-API-KEY": context.credential},
        body={
            "q": request.query,
            "num": context.page.size,
            "page": context.page.number,
            "tbs": context.window_value,
            "hl": "en" if request.freshness else context.language or "en",
            "gl": context.lower_country,
            "autocorrect": False,
        },
    )
    return SearchResponse(
        vendor="google",
        ignored=("language",) if request.freshness and context.language not in (None, "en") else (),
        results=read_results(answer.rows("organic", required=not answer.has("searchParameters"))),
    )
