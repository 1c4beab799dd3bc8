"""SearchApi, Google's results as JSON: GET https://www.searchapi.io/api/v1/search

Vendor reference: https://www.searchapi.io/docs/google and the vendor's own n8n node (read 2026-11); not checked live.
Limits it states: exactly 10 results a page whatever is asked, each page a search of a monthly plan, whose prices are not known
here.
Dates: the words that Google shows: a day, or an age for its bound.
Odd: a window has words of its own; no results is a missing `organic_results`; the default of `safe` is `blur` or `off`, by
which page one reads. `verbatim` and `nfpr` keep words as typed, but Google's operators cannot be switched off. That the engine
`google_light` takes windows, `safe` or `verbatim` is documented nowhere: none is sent to it.
"""

from __future__ import annotations

from searchport import (
    SEARCH_API_KEY,
    ErrorCode,
    Fault,
    Recency,
    SearchContext,
    SearchError,
    SearchRequest,
    SearchResponse,
    define_toolkit,
    define_web_search,
)
from searchport.context import fixed_models
from searchport.google_pages import COUNTRIES, REFUSALS, RISK, WRITTEN_IN, has_more, read_failure, read_results
from searchport.request import safe_table

FIND = "https://www.searchapi.io/api/v1/search"
SAFE = safe_table("off", "blur", "active")
UNSAFE = Fault("$.safe", "option 'safe' is not supported by the engine 'google_light'; remove it, or select 'google'")

toolkit = define_toolkit(id="searchapi", name="SearchApi", credential_ref=SEARCH_API_KEY, risk=RISK)


@define_web_search(
    toolkit,
    recency={window: f"last_{window}" for window in Recency},
    native={"freshness", "safe"},
    best_effort={"recency", "language", "country"},
    languages=WRITTEN_IN,
    countries=COUNTRIES,
    fetch_models=fixed_models("google google_light"),
    page_size=10,
    literal=False,
    text="plain",
    evidence="documentation",
    refusals=REFUSALS,
    read_refusal=read_failure,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    is_light = context.model == "google_light"
    if is_light and request.safe:
        raise SearchError(ErrorCode.UNSUPPORTED_OPTION, faults=[UNSAFE])
    answer = await context.http.get_json(
        FIND,
        headers=context.bearer,
        params={
            "engine": context.model or "google",
            "q": request.query,
            "page": context.page.number,
            "time_period": None if is_light else context.window_value,
            "safe": SAFE[request.safe],
            "lr": context.language,
            "gl": context.country,
            "hl": "en",
            "nfpr": 1,
            "verbatim": None if is_light else True,
        },
    )
    is_answer = answer.text("search_metadata", "status") == "Success"
    return SearchResponse(
        vendor="google",
        ignored=("recency",) if is_light and request.recency else (),
        more=has_more(answer, "pagination"),
        results=read_results(answer.rows("organic_results", required=not is_answer)),
    )
