"""Acme Search: GET https://api.acme.example/v2/find

Vendor reference: https://docs.acme.example/find (read 2026-11-30); the vendor is invented.
Limits it states: 20 results a page, 100 in all, a query of 400 characters. Operators are off unless `ops=1` is sent.
Dates: `31.12.2026`, always day first, stated under "Response fields"; `crawled` is when Acme's robot came by.
Odd: a spent quota is HTTP 200 with `{"code": "Q1"}`, and its wait in `X-Acme-Wait`.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import attrs

from searchport import (
    SEARCH_API_KEY,
    ErrorCode,
    Recency,
    SearchContext,
    SearchRequest,
    SearchResponse,
    SearchResult,
    define_toolkit,
    define_web_search,
)
from searchport.context import fixed_models
from searchport.egress import JsonBody
from searchport.published_date import from_format

FIND = "https://api.acme.example/v2/find"

# `lang` in the reference, whole list: Japanese is spelt `jp`.
LANGUAGES = {"de": "de", "en": "en", "fr": "fr", "ja": "jp"}
# docs.acme.example/errors, whole table.
REFUSALS = {"K1": ErrorCode.PROVIDER_UNAUTHORIZED, "P1": ErrorCode.PROVIDER_REJECTED, "Q1": ErrorCode.PROVIDER_RATE_LIMITED}


@attrs.frozen
class AcmeSettings:
    """edition: which of Acme's indexes to search."""

    edition: str = "world"


toolkit = define_toolkit(id="acme-search", name="Acme Search", credential_ref=SEARCH_API_KEY, settings=AcmeSettings)


def read_refusal(answer: JsonBody) -> str | None:
    return answer.text("code")


def read_wait_seconds(headers: Mapping[str, str]) -> float | None:
    wait = headers.get("X-Acme-Wait")
    return float(wait) if wait else None


@define_web_search(
    toolkit,
    recency={Recency.DAY: "1d", Recency.WEEK: "1w", Recency.MONTH: "1m", Recency.YEAR: "1y"},
    fetch_models=fixed_models("fast deep"),
    native={"freshness", "site"},
    unsupported={"safe"},
    best_effort={"language"},
    languages=LANGUAGES,
    page_size=20,
    max_query=400,
    price_per_1000=Decimal("2.50"),
    evidence="documentation",
    refusals=REFUSALS,
    read_refusal=read_refusal,
    read_wait_seconds=read_wait_seconds,
)
async def search(request: SearchRequest, context: SearchContext[AcmeSettings]) -> SearchResponse:
    answer = await context.http.get_json(
        FIND,
        headers={"X-Api-Key": context.credential},
        params={
            "q": request.query,
            "n": context.page.size,
            "from": context.page.offset,
            "age": context.window_value,
            "site": str(request.site) if request.site else None,
            "lang": context.language,
            "edition": context.settings.edition,
            "tier": context.model,
        },
    )
    return SearchResponse(
        vendor="acme",
        more=answer.flag("more"),
        results=[
            SearchResult(
                hit.text("t"),
                hit.text("u"),
                snippet=hit.text("s"),
                published_date=from_format(hit.text("date"), "%d.%m.%Y"),
            )
            for hit in answer.rows("hits")
        ],
    )
