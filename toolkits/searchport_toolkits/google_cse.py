"""Google Custom Search JSON API: GET https://www.googleapis.com/customsearch/v1

Vendor reference: https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list (read 2026-10); not checked live.
Limits it states: 10 results a request, 100 in all; 100 requests a day free, then 5 USD per 1,000.
Dates: free text in the page's metatags, in any format. Snippets are plain text in which a literal `<form>` is text.
Odd: a bad key is HTTP 400; no results is a missing `items`; `nextPage` is no promise; a failure can come with HTTP 200. Query
operators cannot be switched off. Britain is `uk`. Closed to new customers, whose calls are refused as a project without access.
Longer than other providers for its announced end, and for windows counted in days.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import attrs

from searchport import (
    SEARCH_API_KEY,
    ErrorCode,
    Recency,
    SearchContext,
    SearchError,
    SearchRequest,
    SearchResponse,
    SearchResult,
    Sunset,
    define_toolkit,
    define_web_search,
)
from searchport.egress import JsonBody, google_errors
from searchport.google_pages import COUNTRIES
from searchport.locale import closed_list
from searchport.published_date import first_stated
from searchport.request import safe_table

FIND = "https://www.googleapis.com/customsearch/v1"

# `lr` in the reference, whole list: Google keeps `iw` for Hebrew and has one Norwegian.
CODES = "ar bg ca cs da de el en es et fi fr hr hu id is it ja ko lt lv nl no pl pt ro ru sk sl sr sv tr zh-CN zh-TW"
LANGUAGES = {tag: f"lang_{code}" for tag, code in closed_list(CODES, {"he": "iw"}).items()}
SAFE = safe_table("off", "active", "active")
SECTIONS = {"kind", "url", "queries", "context", "searchInformation", "spelling", "promotions", "items"}  # each may be missing

CLOSED = SearchError(ErrorCode.PROVIDER_REJECTED, reason="Google has closed this API to new customers", vendor_code="forbidden")


@attrs.frozen
class GoogleSettings:
    """cx: id of the Programmable Search Engine."""

    cx: str = attrs.field(validator=attrs.validators.min_len(1))


toolkit = define_toolkit(
    id="google-cse",
    name="Google Custom Search",
    credential_ref=SEARCH_API_KEY,
    settings=GoogleSettings,
    sunset=Sunset(
        ends=date(2027, 1, 1),
        reason="Google ends the Custom Search JSON API",
        successors=("brave", "vertex"),
        source="https://developers.google.com/custom-search/v1/overview",
    ),
)


def read_refusal(answer: JsonBody) -> str | SearchError | None:
    """The closed door is told by its message alone."""
    is_closed = "does not have the access" in (answer.text("error", "message") or "")
    return CLOSED if is_closed else google_errors.read_reason(answer)


def read_date_restrict(request: SearchRequest, context: SearchContext[GoogleSettings]) -> str | None:
    if request.recency is not None and context.window is not None:
        return context.window.value
    return None if request.freshness is None else f"d{request.freshness.days}"


@define_web_search(
    toolkit,
    recency={Recency.DAY: "d1", Recency.WEEK: "w1", Recency.MONTH: "m1", Recency.YEAR: "y1"},
    native={"site", "freshness", "safe"},
    best_effort={"language", "country"},
    languages=LANGUAGES,
    countries=COUNTRIES,
    page_size=10,
    literal=False,
    text="plain",
    price_per_1000=Decimal(5),
    evidence="recorded",
    refusals=google_errors.REFUSALS,
    read_refusal=read_refusal,
)
async def search(request: SearchRequest, context: SearchContext[GoogleSettings]) -> SearchResponse:
    answer = await context.http.get_json(
        FIND,
        params={
            "key": context.credential,
            "cx": context.settings.cx,
            "q": request.query,
            "num": context.page.size,
            "start": context.page.offset + 1,
            "dateRestrict": read_date_restrict(request, context),
            "siteSearch": str(request.site) if request.site else None,
            "siteSearchFilter": "i" if request.site else None,
            "safe": SAFE[request.safe],
            "lr": context.language,
            "gl": context.country,
        },
    )
    rows = answer.rows("items", required=bool(answer.keys()) and SECTIONS.isdisjoint(answer.keys()))
    return SearchResponse(
        vendor="google",
        more=bool(rows) and not (answer.has("queries") and not answer.rows("queries", "nextPage")),
        results=[
            SearchResult(
                row.text("title"),
                row.text("link"),
                snippet=row.text("snippet"),
                published_date=first_stated(row.at("pagemap", "metatags", 0).raw),
            )
            for row in rows
        ],
    )
