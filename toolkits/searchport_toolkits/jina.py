"""Jina Search Foundation: POST https://s.jina.ai/

Vendor reference: https://jina.ai/reader and its server's source, https://github.com/jina-ai/reader (read 2026-11); not checked
live.
Limits it states: 20 results a page; 100 requests a minute. A search costs 10,000 tokens or more, `bing` three times that; what
a token costs depends on the package.
Dates: the words that Google shows, a day or an age for its bound, at times an instant; often missing. It has no window.
Odd: nothing found is HTTP 422, whose message repeats the query; without headers it opens every page and answers with text; a
slow engine can be replaced by its own index; a site becomes a `site:` in the query at its end. Query operators cannot be
switched off.
Longer than other providers, since it refuses languages and countries that its lists lack.
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
from searchport.context import fixed_models
from searchport.egress import JsonBody
from searchport.locale import COUNTRIES, closed_list

FIND = "https://s.jina.ai/"
HEADERS = {"Accept": "application/json", "X-Respond-With": "no-content"}

# `hl` and `gl` in the server's source, whole lists but for made-up languages and what is no country of ISO 3166-1.
LANGUAGES = closed_list(
    "af ak sq am ar hy az eu be bem bn bh bs br bg km ca chr ny zh-cn zh-tw co hr cs da nl en eo et ee fo tl fi fr fy gaa gl "
    "ka de el gn gu ht ha haw hi hu is ig id ia ga it ja kn kk rw rn kg ko kri ku ckb ky lo la lv ln lt loz lg ach mk mg ms "
    "ml mt mi mr mfe mn sr-ME ne pcm nso no nn oc or om ps fa pl pt pt-br pt-pt pa qu ro rm nyn ru gd sr st tn crs sn sd si "
    "sk sl so es es-419 su sw sv tg ta tt te th ti to lua tum tr tk tw ug uk ur uz vi cy wo xh yi yo zu",
    {"he": "iw", "jv": "jw"},
)
LACKING = {"BL", "BQ", "CW", "MF", "SS", "SX"}

OK = 20000
NOTHING_FOUND = "nothing found"  # no code of its own: 42206 is any failed assertion
CREDIT_SPENT = SearchError(ErrorCode.PROVIDER_RATE_LIMITED, reason="its tokens are spent")
REFUSALS: dict[str, ErrorCode | SearchError] = {
    "40103": ErrorCode.PROVIDER_UNAUTHORIZED,
    "40201": CREDIT_SPENT,
    "40202": SearchError(ErrorCode.PROVIDER_REJECTED, reason="the account's tier does not have what was asked"),
    "40203": CREDIT_SPENT,
    "42204": ErrorCode.PROVIDER_UNAVAILABLE,
    "42205": ErrorCode.PROVIDER_UNAVAILABLE,
}

toolkit = define_toolkit(id="jina", name="Jina", credential_ref=SEARCH_API_KEY)


def read_refusal(answer: JsonBody) -> str | None:
    """The five digits of `status`; `code` beside it is the HTTP status."""
    if (answer.text("message") or "").startswith("No search results available"):
        return NOTHING_FOUND
    status = answer.number("status")
    return None if status in (OK, None) else str(status)


@define_web_search(
    toolkit,
    recency=None,
    fetch_models=fixed_models("google bing reader", {"bing": "Bing (three times the price)"}),
    native={"site"},
    best_effort={"language", "country"},
    unsupported={"safe"},
    languages=LANGUAGES,
    countries={code: code.lower() for code in COUNTRIES - LACKING},
    page_size=20,
    literal=False,
    evidence="documentation",
    refusals=REFUSALS,
    read_refusal=read_refusal,
    nothing_found={NOTHING_FOUND},
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    answer = await context.http.post_json(
        FIND,
        headers=context.bearer | HEADERS,
        body={
            "q": request.query,
            "num": context.page.size,
            "page": context.page.number,
            "provider": context.model,
            "site": request.site.host if request.site else None,
            "hl": context.language,
            "gl": context.country,
            "nfpr": True,
            "fallback": False,
        },
    )
    return SearchResponse(
        vendor="jina",
        results=[
            SearchResult(
                row.text("title"),
                row.text("url"),
                snippet=row.text("description") or row.text("content"),
                published_date=row.text("date"),
            )
            for row in answer.rows("data", required=read_refusal(answer) is None)
        ],
    )
