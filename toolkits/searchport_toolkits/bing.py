"""Bing Web Search API v7, ended on 2025-08-11: GET https://api.bing.microsoft.com/v7.0/search

Vendor reference: https://github.com/MicrosoftDocs/bing-docs, archived (read 2026-11); answers recorded before the end. For what
still speaks this API where an operator keeps it on: a contract that the notice left out, or a server of the same shape.
Limits it states: 50 results a request, offsets of results, a URL of 2,048 characters, beyond which it answers HTTP 404.
Dates: `datePublished` has no zone; `datePublishedDisplayText` is the same day as a calendar date, or an age. `dateLastCrawled`
is never read.
Odd: it has no window of a year but takes a range of days, and counts from when it found a page; language and country are one
market, of a closed list; suspected abuse is HTTP 200 with an empty body; highlighted words stand between private-use
characters. It may search for another spelling, and query operators cannot be switched off.
Longer than other providers for its end, its markets and four shapes of failure.
"""

from __future__ import annotations

from datetime import date, datetime

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
from searchport.egress import JsonBody
from searchport.locale import find_market
from searchport.published_date import normalize
from searchport.request import safe_table
from searchport.windows import windows_since

FIND = "https://api.bing.microsoft.com/v7.0/search"
LONGEST_QUERY = 1_500  # what of a URL is left beside the other parameters

# `mkt`, whole list. A language's or a country's main market stands before its others.
CODES = """
    en-US de-DE fr-FR es-ES nl-NL zh-CN pt-BR it-IT ja-JP ko-KR da-DK fi-FI no-NO pl-PL ru-RU sv-SE tr-TR en-GB en-AU en-CA en-IN
    en-ID en-MY en-NZ en-PH en-ZA de-AT de-CH fr-CA fr-CH nl-BE fr-BE es-AR es-CL es-MX es-US zh-HK zh-TW
"""
MARKETS = {(code[:2], code[3:]): code for code in CODES.split()}
SAFE = safe_table("Off", "Moderate", "Strict")
HIGHLIGHTS = dict.fromkeys(range(0xE000, 0xE01A))  # as the reference numbers them; two of them stand around a word

REFUSALS: dict[str | int, ErrorCode | SearchError] = {
    "RateLimitExceeded": ErrorCode.PROVIDER_RATE_LIMITED,
    "InvalidAuthorization": ErrorCode.PROVIDER_UNAUTHORIZED,
    "InsufficientAuthorization": ErrorCode.PROVIDER_UNAUTHORIZED,
    "InvalidRequest": ErrorCode.PROVIDER_REJECTED,
    "ServerError": ErrorCode.PROVIDER_UNAVAILABLE,
    404: SearchError(ErrorCode.PROVIDER_REJECTED, reason="HTTP status 404: the query is too long once it is a URL"),
}

toolkit = define_toolkit(
    id="bing",
    name="Bing Web Search",
    credential_ref=SEARCH_API_KEY,
    sunset=Sunset(
        ends=date(2025, 8, 11),
        reason="Microsoft retired the Bing Search APIs",
        successors=("brave", "you"),
        source="https://azure.microsoft.com/updates?id=492574",
    ),
)


def write_year(now: datetime) -> str:
    return f"{windows_since('%Y-%m-%d')[Recency.YEAR](now)}..{now:%Y-%m-%d}"


def read_refusal(answer: JsonBody) -> str | None:
    """`errors` of the API itself, `error` of the gateway before it, or one of two shapes that hold no code."""
    is_refusal = answer.text("_type") == "ErrorResponse" or answer.has("error") or answer.has("statusCode")
    return answer.text("errors", 0, "code") or answer.text("error", "code") or ("error" if is_refusal else None)


def read_date(page: JsonBody) -> str | None:
    """The calendar day where one is stated, else the time without a zone, for its bound."""
    day = page.text("datePublishedDisplayText")
    return day if normalize(day) is not None else page.text("datePublished")


def read_text(page: JsonBody, name: str) -> str | None:
    return (page.text(name) or "").translate(HIGHLIGHTS) or None


@define_web_search(
    toolkit,
    recency={Recency.DAY: "Day", Recency.WEEK: "Week", Recency.MONTH: "Month", Recency.YEAR: write_year},
    native={"freshness", "safe"},
    best_effort={"language", "country"},
    page_size=50,
    max_query=LONGEST_QUERY,
    literal=False,
    text="plain",
    evidence="recorded",
    refusals=REFUSALS,
    read_refusal=read_refusal,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    market, ignored = find_market(request.language, request.country, MARKETS)
    answer = await context.http.get_json(
        FIND,
        headers={"Ocp-Apim-Subscription-Key": context.credential},
        params={
            "q": request.query,
            "count": context.page.size,
            "offset": context.page.offset,
            "freshness": context.window_value,
            "mkt": market,
            "safeSearch": SAFE[request.safe],
            "responseFilter": "Webpages",
        },
    )
    return SearchResponse(
        vendor="bing",
        ignored=ignored,
        results=[
            SearchResult(
                read_text(page, "name"), page.text("url"), snippet=read_text(page, "snippet"), published_date=read_date(page)
            )
            for page in answer.rows("webPages", "value", required=answer.text("_type") != "SearchResponse")
        ],
    )
