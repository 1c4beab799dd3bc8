"""Mojeek Search API, an index of its own: GET https://api.mojeek.com/search

Vendor reference: https://www.mojeek.com/support/api/search/request_parameters.html and its JSON response page (read 2026-11);
not checked live.
Limits it states: rows a page by the plan, 10 in every one. Prices are not known here. Its terms let answers be kept for an
hour, or more by the plan, which no setting of ours bounds, so that none are.
Dates: `pdate` is in seconds since 1970, and only when asked for; `timestamp` and `date` are a page's last change, `cdate…` the
crawl.
Odd: the key can only stand in the URL; a failure can be HTTP 200 with a sentence for a status; a language and a country are
wishes, weighed from 1 to 100. A window's day is counted, since it has no word for a week. Query operators cannot be switched
off.
"""

from __future__ import annotations

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
from searchport.egress import JsonBody
from searchport.locale import LANGUAGES
from searchport.published_date import from_epoch
from searchport.request import safe_table
from searchport.windows import windows_since

FIND = "https://api.mojeek.com/search"
SAFE = safe_table(0, 1, 1)
LANGUAGE_WEIGHT, COUNTRY_WEIGHT = 100, 10  # the strongest; what the reference recommends
LONGEST_TITLE, LONGEST_SNIPPET = 127, 511

# `status` is a sentence, of which one is documented: "ERROR: Daily Limit Reached".
SENTENCES = {
    "limit": SearchError(ErrorCode.PROVIDER_RATE_LIMITED, reason="its limit is reached"),
    "key": SearchError(ErrorCode.PROVIDER_UNAUTHORIZED, reason="it does not take the key"),
}

toolkit = define_toolkit(id="mojeek", name="Mojeek", credential_ref=SEARCH_API_KEY)


def read_refusal(answer: JsonBody) -> str | SearchError | None:
    status = (answer.text("response", "status") or "OK").lower()
    return None if status.startswith("ok") else next((error for word, error in SENTENCES.items() if word in status), "error")


@define_web_search(
    toolkit,
    recency=windows_since("%Y%m%d"),
    native={"freshness", "site", "safe"},
    best_effort={"language", "country"},
    languages={code: code.upper() for code in LANGUAGES},
    page_size=10,
    literal=False,
    cacheable=False,
    evidence="documentation",
    read_refusal=read_refusal,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    answer = await context.http.get_json(
        FIND,
        headers={"Accept": "application/json"},
        params={
            "api_key": context.credential,
            "fmt": "json",
            "q": request.query,
            "t": context.page.size,
            "s": context.page.offset + 1,
            "site": request.site.host if request.site else None,
            "since": context.window_value,
            "lb": context.language,
            "lbb": LANGUAGE_WEIGHT if context.language else None,
            "rb": context.country,
            "rbb": COUNTRY_WEIGHT if context.country else None,
            "safe": SAFE[request.safe],
            "date": 1,
            "tlen": LONGEST_TITLE,
            "dlen": LONGEST_SNIPPET,
        },
    )
    given = answer.number("response", "head", "return")
    return SearchResponse(
        vendor="mojeek",
        more=None if given is None else given >= context.page.size,
        results=[
            SearchResult(
                row.text("title"), row.text("url"), snippet=row.text("desc"), published_date=from_epoch(row.number("pdate"))
            )
            for row in answer.rows("response", "results", required=True)
        ],
    )
