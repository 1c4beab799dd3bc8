"""Brave Search API: GET https://api.search.brave.com/res/v1/web/search

Vendor reference: https://api-dashboard.search.brave.com/api-reference/web/search/get (read 2026-09); not checked live.
Limits it states: 20 results a page, pages 0 to 9, a query of 400 characters and 50 words. Its terms forbid storing.
Dates: `page_age` has no zone; `age` is relative, or for older pages the calendar day of `page_age` ("July 25, 2024").
Odd: a bad key is HTTP 422, as is a bad parameter; `offset` counts pages; a short page is not the last; `web` may be null, or
missing; a sentence can stand for a description. A site is an inline goggle, which leaves the query alone; that it works with
`operators=false` is documented nowhere.
"""

from __future__ import annotations

from decimal import Decimal

from searchport import (
    SEARCH_API_KEY,
    ErrorCode,
    Recency,
    SearchContext,
    SearchError,
    SearchRequest,
    SearchResponse,
    SearchResult,
    define_toolkit,
    define_web_search,
)
from searchport.egress import JsonBody
from searchport.egress.rate_limits import seconds_until_reset
from searchport.locale import closed_list
from searchport.published_date import normalize

FIND = "https://api.search.brave.com/res/v1/web/search"

# `search_lang` and `country` in the reference, whole lists: Japanese is spelt `jp`, Norwegian is Bokmål.
LANGUAGES = closed_list(
    "ar eu bn bg ca hr cs da nl en en-gb et fi fr gl de gu he hi hu is it kn ko lv lt ms ml mr nb pl pt-br pt-pt pa ro ru sr "
    "sk sl es sv ta te th tr uk vi zh-hans zh-hant",
    {"ja": "jp", "pt": "pt-pt"},
)
COUNTRIES = closed_list(
    "AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US"
)
SECTIONS = {"type", "query", "web"}  # one of them is in every answer
NO_DESCRIPTION = "We cannot provide a description"
REFUSALS = {
    "SUBSCRIPTION_TOKEN_INVALID": ErrorCode.PROVIDER_UNAUTHORIZED,
    "SUBSCRIPTION_NOT_FOUND": ErrorCode.PROVIDER_UNAUTHORIZED,
    "VALIDATION": ErrorCode.PROVIDER_REJECTED,
    "API_VERSION_NOT_FOUND": ErrorCode.PROVIDER_REJECTED,
    "RATE_LIMITED": ErrorCode.PROVIDER_RATE_LIMITED,
    "QUOTA_LIMITED": ErrorCode.PROVIDER_RATE_LIMITED,
}
KEY_MISSING = SearchError(ErrorCode.PROVIDER_UNAUTHORIZED, reason="the key is missing", vendor_code="VALIDATION")

toolkit = define_toolkit(id="brave", name="Brave Search", credential_ref=SEARCH_API_KEY)


def read_refusal(answer: JsonBody) -> str | SearchError | None:
    """`error.code`, or the first of `errors` as the reference's examples have it; a missing key is a VALIDATION of its header."""
    error = next(iter(answer.rows("errors")), answer.at("error"))
    if error.text("code") == "VALIDATION" and any(
        row.text("loc", 1) == "x-subscription-token" for row in error.rows("meta", "errors")
    ):
        return KEY_MISSING
    return error.text("code") or ("ErrorResponse" if answer.text("type") == "ErrorResponse" else None)


def read_date(row: JsonBody) -> str | None:
    """The calendar day where `age` states one, else the time without a zone, for its bound."""
    age = row.text("age")
    return age if normalize(age) is not None else row.text("page_age") or age


def read_snippet(row: JsonBody) -> str | None:
    text = row.text("description")
    return None if text and text.startswith(NO_DESCRIPTION) else text


@define_web_search(
    toolkit,
    recency={Recency.DAY: "pd", Recency.WEEK: "pw", Recency.MONTH: "pm", Recency.YEAR: "py"},
    native={"freshness", "site", "safe"},
    best_effort={"language", "country"},
    languages=LANGUAGES,
    countries=COUNTRIES,
    page_size=20,
    max_pages=10,
    max_query=400,
    max_query_words=50,
    price_per_1000=Decimal(5),
    cacheable=False,
    evidence="recorded",
    refusals=REFUSALS,
    read_refusal=read_refusal,
    read_wait_seconds=seconds_until_reset,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    answer = await context.http.get_json(
        FIND,
        headers={"X-Subscription-Token": context.credential},
        params={
            "q": request.query,
            "count": context.page.size,
            "offset": context.page.number - 1,
            "freshness": context.window_value,
            "goggles": f"$discard\n$site={request.site}" if request.site else None,
            "safesearch": request.safe,
            "search_lang": context.language,
            "country": context.country,
            "operators": False,
            "spellcheck": False,
            "text_decorations": False,
            "result_filter": "web",
        },
    )
    return SearchResponse(
        vendor="brave",
        more=answer.flag("query", "more_results_available"),
        results=[
            SearchResult(row.text("title"), row.text("url"), snippet=read_snippet(row), published_date=read_date(row))
            for row in answer.rows("web", "results", required=SECTIONS.isdisjoint(answer.keys()))
        ],
    )
