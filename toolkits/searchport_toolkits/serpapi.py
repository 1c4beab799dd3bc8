"""SerpApi, Google's results as JSON: GET https://serpapi.com/search.json

Vendor reference: https://serpapi.com/search-api, /search-errors, and its parameters by engine in serpapi/serpapi-mcp on GitHub
(read 2026-11); not checked live.
Limits it states: about 10 results a page whatever is asked, each page a search of a monthly bundle (75 USD for 5,000, by a
comparison).
Dates: the words that Google shows: a day, or an age for its bound; at times lifted out of the snippet.
Odd: the key travels in the URL. "Nothing found" is HTTP 200 with an `error`, a failed search HTTP 200 with the status `Error`.
Since March 2026 a window often gives nothing where there is something. A site only steers Google, and its operators cannot be
switched off.
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
from searchport.context import fixed_models
from searchport.egress import JsonBody
from searchport.google_pages import COUNTRIES, REFUSALS, RISK, WINDOWS, WRITTEN_IN, has_more, read_failure, read_results
from searchport.request import safe_table

FIND = "https://serpapi.com/search.json"
SAFE = safe_table("off", "active", "active")
CREDIT_SPENT = SearchError(ErrorCode.PROVIDER_RATE_LIMITED, reason="its credit is spent")

toolkit = define_toolkit(
    id="serpapi",
    name="SerpApi",
    credential_ref=SEARCH_API_KEY,
    risk=f"{RISK}; Google sued the vendor on 2025-12-19 (N.D. Cal. 25-cv-10826)",
)


def read_refusal(answer: JsonBody) -> str | SearchError | None:
    return CREDIT_SPENT if answer.text("error") == "Your account credit is too low" else read_failure(answer)


def build_window(context: SearchContext) -> dict[str, str | None]:
    """`tbs`, or for the engine that lacks it `as_qdr`, the same without its prefix."""
    window = context.window_value
    if context.model == "google_light":
        return {"as_qdr": window and window.removeprefix("qdr:")}
    return {"tbs": window}


def is_empty(answer: JsonBody) -> bool:
    return answer.has("error") or answer.text("search_information", "organic_results_state") == "Fully empty"


@define_web_search(
    toolkit,
    recency=WINDOWS,
    native={"freshness", "site", "safe"},
    best_effort={"language", "country"},
    languages=WRITTEN_IN,
    countries=COUNTRIES,
    fetch_models=fixed_models("google google_light"),
    page_size=10,
    literal=False,
    text="plain",
    price_per_1000=Decimal(15),
    evidence="documentation",
    refusals=REFUSALS,
    read_refusal=read_refusal,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    answer = await context.http.get_json(
        FIND,
        params={
            "api_key": context.credential,
            "engine": context.model or "google",
            "q": request.query,
            "start": context.page.offset,
            **build_window(context),
            "as_sitesearch": str(request.site) if request.site else None,
            "safe": SAFE[request.safe],
            "lr": context.language,
            "gl": context.country,
            "hl": "en",
            "nfpr": 1,
        },
    )
    return SearchResponse(
        vendor="google",
        more=has_more(answer, "serpapi_pagination"),
        results=read_results(answer.rows("organic_results", required=not is_empty(answer))),
    )
