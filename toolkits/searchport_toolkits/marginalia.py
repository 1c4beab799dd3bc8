"""Marginalia Search API v2, a small index of text-rich pages: GET https://api2.marginalia-search.com/search

Vendor reference: https://about.marginalia-search.com/article/api and its server's source,
https://github.com/MarginaliaSearch/MarginaliaSearch (read 2026-11); not checked live.
Limits it states: 100 results a request, 11 words and 1,000 characters a query, of which more than 11 words silently find
nothing.
Dates: none, and no windows.
Odd: errors are plain text or empty; a spent quota is HTTP 429 or 503, with headers of its own; two results a domain unless
asked for more; a language that it does not know is a failure. The query is a language: what it would act upon is sent without
the sign that makes it an operator, since a backslash does not help and quotes would demand the words as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

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
from searchport.locale import closed_list
from searchport.request import safe_table

FIND = "https://api2.marginalia-search.com/search"
MOST_WORDS = 11
SAFE = safe_table(0, 1, 2)
REFUSALS = {
    429: SearchError(ErrorCode.PROVIDER_RATE_LIMITED, reason="HTTP status 429: a limit of the key is reached"),
    503: SearchError(ErrorCode.PROVIDER_UNAVAILABLE, reason="HTTP status 503: the key's quota is spent, or it is down"),
}

# Of its query parser. Commas and white space part words, and a parenthesis or a quote counts at a word's beginning. Accents fall
# away before it reads, so that any word with one could be an operator.
PARTS_WORDS = re.compile(r'[\s,()"“”\\]+')
SIGNS = "-?$_"  # the first two exclude and prefer the word behind them, with a space between or without; the others are dropped
OPERATOR = re.compile(
    r"(?:site|tld|format|file|ip|as|asn|generator|near|lang|set):|(?:q|qs|year|size|rank)[=<>]|(?=\w*[^\x00-\x7f])\w+[:=<>]",
    re.IGNORECASE,
)
MARKS = re.compile("[:=<>]")

toolkit = define_toolkit(
    id="marginalia",
    name="Marginalia",
    credential_ref=SEARCH_API_KEY,
    risk="answers to a free key are under CC BY-NC-SA 4.0: a commercial product needs a commercial key",
)


def read_words(query: str) -> Iterator[str]:
    """The words that the vendor looks for, where nothing is an operator."""
    for word in PARTS_WORDS.split(query):
        bare = word.lstrip(SIGNS)
        parts = MARKS.split(bare) if OPERATOR.match(bare) else [bare]
        yield from filter(None, (part.lstrip(SIGNS) for part in parts))


def write_query(query: str) -> str:
    words = list(read_words(query))
    if not 1 <= len(words) <= MOST_WORDS:
        raise SearchError.invalid("$.query", f"{len(words)} words that this provider looks for; it takes 1 to {MOST_WORDS}")
    return " ".join(words)


def read_wait_seconds(headers: Mapping[str, str]) -> float | None:
    """A minute where the day has capacity left, since then the limit of a minute is reached."""
    return 60 if headers.get("API-Remaining-Daily-Capacity", "0") != "0" else None


@define_web_search(
    toolkit,
    recency=None,
    native={"safe"},
    best_effort={"language"},
    unsupported={"freshness"},
    languages=closed_list("en"),
    page_size=100,
    max_query=1_000,
    max_query_words=MOST_WORDS,
    text="plain",
    evidence="documentation",
    refusals=REFUSALS,
    read_wait_seconds=read_wait_seconds,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    answer = await context.http.get_json(
        FIND,
        headers={"API-Key": context.credential},
        params={
            "query": write_query(request.query),
            "count": context.page.size,
            "dc": 100 if request.site else None,
            "nsfw": SAFE[request.safe],
            "lang": context.language,
        },
    )
    return SearchResponse(
        vendor="marginalia",
        results=[
            SearchResult(row.text("title"), row.text("url"), snippet=row.text("description"))
            for row in answer.rows("results", required=True)
        ],
    )
