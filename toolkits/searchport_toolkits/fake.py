"""Invented results, so that people test a workflow with no key and no network.

The query's first word picks a scenario: `slow:` never answers before the deadline, `limited:` is a rate limit with a
Retry-After, `challenge:` a bot wall, `empty:` no results; `undated:`, `offsite:` and `hidden:` give results without dates, of
another site, and with invisible characters. Any other query gets three dated results, of the site asked for.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from urllib.parse import quote

from searchport import (
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

RETRY_AFTER_SECONDS = 30
HIDDEN = "\u200b\u202e"

toolkit = define_toolkit(id="fake", name="Fake (invented results)", credential_ref=None)


async def fail(scenario: str, context: SearchContext) -> None:
    if scenario == "slow:":
        await asyncio.sleep(context.deadline.remaining_seconds() + 60)
    if scenario == "limited:":
        raise SearchError(ErrorCode.PROVIDER_RATE_LIMITED, retry_after=RETRY_AFTER_SECONDS)
    if scenario == "challenge:":
        raise SearchError(ErrorCode.PROVIDER_UNAVAILABLE, reason="it asked for proof that the caller is human")


def invent(request: SearchRequest, context: SearchContext, scenario: str) -> list[SearchResult]:
    host = "elsewhere.example" if scenario == "offsite:" else str(request.site or "example.com")
    mark = HIDDEN if scenario == "hidden:" else ""
    asked = "".join(f" {name}: {getattr(request, name)}." for name in ("language", "country", "safe") if getattr(request, name))
    hours = [context.now - timedelta(hours=ago) for ago in (1, 6, 20)]
    dates = [hours[0].strftime("%Y-%m-%dT%H:%M:%SZ"), hours[1].strftime("%Y-%m-%dT%H:%MZ"), hours[2].date().isoformat()]
    return [
        SearchResult(
            f"Result{mark} {number} for {request.query}",
            f"https://{host}/{quote(request.query[:40], safe='')}/{number}",
            snippet=f"About {mark}{request.query}, number {number}.{asked}",
            published_date=None if scenario == "undated:" else published,
        )
        for number, published in enumerate(dates, start=1)
    ]


@define_web_search(
    toolkit,
    recency={Recency.DAY: "day", Recency.WEEK: "week", Recency.MONTH: "month", Recency.YEAR: "year"},
    native={"site"},
    best_effort={"language", "country"},
    max_pages=1,
    text="plain",
    breaker=False,
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    scenario = request.query.split()[0]
    await fail(scenario, context)
    return SearchResponse([] if scenario == "empty:" else invent(request, context, scenario), vendor="fake")
