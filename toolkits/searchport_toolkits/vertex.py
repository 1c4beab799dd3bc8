"""Vertex AI Search over a website app: POST https://discoveryengine.googleapis.com/v1/…/servingConfigs/default_search:searchLite

Vendor reference: https://cloud.google.com/generative-ai-app-builder/docs/filter-website-search (read 2026-10); not checked live.
Limits it states: 25 results a request, a larger `pageSize` cut without a word; an app holds about 50 domains, not the whole web.
An API key works for `searchLite` alone, over public websites. 4 USD per 1,000 (Enterprise edition), 10,000 a month free.
Dates: free text in the page's metatags, in any format; basic website search has no window.
Odd: a bad key is HTTP 400; no results is a missing `results`; some have no link; a snippet can be a notice that it has none. The
location decides the host. Spelling is corrected unless told not to; query operators cannot be switched off.
"""

from __future__ import annotations

from decimal import Decimal
from html import escape

import attrs

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
from searchport.egress import JsonBody, google_errors
from searchport.published_date import first_stated
from searchport.request import safe_table
from searchport.settings import one_of, url_part

APPS = "https://{host}/v1/projects/{project}/locations/{location}/collections/default_collection/engines"
SAFE = safe_table(off=False, moderate=True, strict=True)
REFUSALS = google_errors.REFUSALS | {
    "FAILED_PRECONDITION": SearchError(ErrorCode.PROVIDER_REJECTED, reason="a key searches apps of public websites alone"),
    "NOT_FOUND": SearchError(ErrorCode.PROVIDER_REJECTED, reason="no such app: check `project`, `location` and `app`"),
}


@attrs.frozen
class VertexSettings:
    """project: id or number of the Google Cloud project. app: id of the search app. location: where the app was made."""

    project: str = url_part()
    app: str = url_part()
    location: str = one_of("global", "us", "eu")

    @property
    def url(self) -> str:
        prefix = "" if self.location == "global" else f"{self.location}-"
        apps = APPS.format(host=f"{prefix}discoveryengine.googleapis.com", project=self.project, location=self.location)
        return f"{apps}/{self.app}/servingConfigs/default_search:searchLite"


toolkit = define_toolkit(id="vertex", name="Vertex AI Search", credential_ref=SEARCH_API_KEY, settings=VertexSettings)


def read_title(page: JsonBody) -> str | None:
    """As HTML, which `title` is not."""
    title = page.text("title")
    return page.text("htmlTitle") or (None if title is None else escape(title))


def read_snippet(snippet: JsonBody) -> str | None:
    is_notice = snippet.text("snippet_status") == "NO_SNIPPET_AVAILABLE"
    return None if is_notice else snippet.text("htmlSnippet") or snippet.text("snippet")


@define_web_search(
    toolkit,
    recency=None,
    native={"site", "safe"},
    best_effort={"language", "country"},
    page_size=25,
    literal=False,
    price_per_1000=Decimal(4),
    evidence="documentation",
    refusals=REFUSALS,
    read_refusal=google_errors.read_reason,
)
async def search(request: SearchRequest, context: SearchContext[VertexSettings]) -> SearchResponse:
    answer = await context.http.post_json(
        context.settings.url,
        headers={"X-Goog-Api-Key": context.credential},
        body={
            "query": request.query,
            "pageSize": context.page.size,
            "offset": context.page.offset,
            "filter": f'siteSearch:"https://{request.site}"' if request.site else None,
            "languageCode": context.language,
            "params": {"user_country_code": context.lower_country},
            "safeSearch": SAFE[request.safe],
            "spellCorrectionSpec": {"mode": "SUGGESTION_ONLY"},
            "queryExpansionSpec": {"condition": "DISABLED"},
            "contentSearchSpec": {"snippetSpec": {"returnSnippet": True}},
        },
    )
    rows = answer.rows("results", required=not answer.has("attributionToken"))
    pages = [row.at("document", "derivedStructData") for row in rows]
    return SearchResponse(
        vendor="google",
        results=[
            SearchResult(
                read_title(page),
                page.text("link"),
                snippet=read_snippet(page.at("snippets", 0)),
                published_date=first_stated(page.at("pagemap", "metatags", 0).raw),
            )
            for page in pages
        ],
    )
