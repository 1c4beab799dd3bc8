"""DuckDuckGo's pages without scripts: POST https://html.duckduckgo.com/html/, unofficial, no key

Reference: recorded pages of 2026-02 to 2026-10, there is no vendor's (read 2026-11); not checked live.
Limits seen: about 10 rows on page one and 15 on the next, a query of 499 characters; about four quick requests an address, then
proof that the caller is human for up to an hour. At most two pages are asked for.
Dates: beside some results a time without a zone, for its bound. Language and country are one region; `site` has no field.
Odd: the demand for proof is HTTP 202, or 200; links are direct, or wrapped in `/l/?uddg=`; advertisements are marked cards, or
cards whose link leads to `/y.js`, wrapped or not; the next page takes every hidden field of the form below this one. Words that
begin with `!` or a backslash would lead to another site: quoted, they are text. Other operators cannot be switched off.
Longer than other providers, since a page made for browsers wants a browser's headers, and says nothing in one place.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from urllib.parse import parse_qs, urlsplit

import attrs

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
from searchport.egress import parse_html
from searchport.literal import guard_words
from searchport.locale import find_market

FIND = "https://html.duckduckgo.com/html/"
LONGEST_QUERY = 499

# The form's `vqd` is tied to the agent, and pages for agents that are no browser demand proof at once.
HEADERS = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Accept": "text/html",
    "Accept-Language": "en-US,en;q=0.5",
    "Referer": "https://html.duckduckgo.com/",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "same-origin",
    "Sec-Fetch-User": "?1",
}

# `kl`, whole list but `ct-ca`, which `es-ca` repeats: country, then language, some spelt its own way. A language's or a
# country's main region stands before its others.
REGIONS = """
    us-en de-de fr-fr es-es it-it nl-nl pt-pt cn-zh xa-ar ca-en ch-de be-nl uk-en ar-es at-de au-en be-fr bg-bg br-pt ca-fr
    ch-fr cl-es co-es cz-cs dk-da ee-et es-ca fi-fi gr-el hk-tzh hr-hr hu-hu id-en ie-en il-en in-en is-is jp-jp kr-kr lt-lt
    lv-lv mx-es my-en no-no nz-en pe-es ph-en pk-en pl-pl ro-ro ru-ru se-sv sg-en sk-sk sl-sl th-en tr-tr tw-tzh ua-uk us-es
    vn-en za-en
"""
OWN_SPELLINGS = {"uk": "GB", "sl": "SI", "xa": "SA", "jp": "ja", "kr": "ko", "tzh": "zh"}
MARKETS = {
    (OWN_SPELLINGS.get(language, language), OWN_SPELLINGS.get(country, country.upper())): f"{country}-{language}"
    for country, language in (region.split("-") for region in REGIONS.split())
}

CHALLENGED = '#challenge-form, #img-form, [class^=anomaly-modal], form[action*="anomaly.js"], form[action*="/wr.do"]'
CHALLENGE = SearchError(ErrorCode.PROVIDER_UNAVAILABLE, reason="it asked for proof that the caller is human", retry_after=600)
UNREADABLE = SearchError(
    ErrorCode.PROVIDER_UNAVAILABLE, reason="a page with neither results nor the card that says there are none"
)

toolkit = define_toolkit(
    id="duckduckgo",
    name="DuckDuckGo",
    credential_ref=None,
    risk="unofficial: reads pages made for browsers, which its terms may forbid; it blocks addresses that ask often",
)


def leads_to(url: str, path: str) -> bool:
    """True for that path of a host of DuckDuckGo's."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.path == path and f".{parts.hostname}".endswith(".duckduckgo.com")


def unwrap(href: str) -> str:
    """The address that a link leads to; parsing the query of a wrapped one is the only decoding."""
    start = "https:" if href.startswith("//") else "https://duckduckgo.com" if href.startswith("/") else ""
    url = start + href
    return parse_qs(urlsplit(url).query).get("uddg", [url])[0] if leads_to(url, "/l/") else url


@define_web_search(
    toolkit,
    recency={Recency.DAY: "d", Recency.WEEK: "w", Recency.MONTH: "m", Recency.YEAR: "y"},
    native={"freshness"},
    best_effort={"language", "country"},
    unsupported={"safe"},
    page_size=10,
    max_pages=2,
    max_query=LONGEST_QUERY,
    literal=False,
    text="plain",
    price_per_1000=Decimal(0),
    evidence="recorded",
    refusals={403: CHALLENGE},
)
async def search(request: SearchRequest, context: SearchContext) -> SearchResponse:
    hidden = context.page.cursor if isinstance(context.page.cursor, Mapping) else {"b": ""}
    region, ignored = find_market(request.language, request.country, MARKETS)
    query = guard_words(request.query, "!\\", before='"', after='"', max_query=LONGEST_QUERY)
    form = {**hidden, "q": query, "kl": region or "wt-wt", "df": context.window_value or ""}
    answer = await context.http.post_form(FIND, form=form, headers=HEADERS)
    page = parse_html(answer.text)
    if page.has(CHALLENGED):
        raise attrs.evolve(CHALLENGE)
    cards = page.rows(".result:not(.result--ad):not(.result--no-result)")
    links = [(card, unwrap(card.attribute("href", ".result__a") or "")) for card in cards]
    links = [(card, url) for card, url in links if not leads_to(url, "/y.js")]
    if not any(url for _, url in links) and not page.has(".result--no-result, .no-results"):
        raise attrs.evolve(CHALLENGE if answer.status == 202 else UNREADABLE)
    forms = [row.fields() for row in page.rows("form") if row.has('input[name="vqd"]')]
    return SearchResponse(
        vendor="duckduckgo",
        next_page=forms[-1] if forms else None,
        more=bool(forms),
        ignored=ignored,
        results=[
            SearchResult(
                card.text(".result__a"),
                url,
                snippet=card.text(".result__snippet"),
                published_date=card.text(".result__extras__url > span:not(.result__icon)"),
            )
            for card, url in links
        ],
    )
