"""Google's result pages, as vendors sell them who fetch and parse them: what is Google's own, and the same at each.

The vendors differ in address, key, paging and names of parameters, which stay in their files. What is behind them is one:
windows, languages, countries, rows, and a date that is the words Google shows (`Sep 18, 2026`, `3 days ago`): in English where
the page is asked for in English (`hl=en`), and then the day, or the bound, that `searchport.published_date` reads as it
stands.

Sources: https://github.com/serpapi/serpapi-mcp (`engines/google.json`) and https://github.com/SearchApi/n8n-nodes-searchapi
(`engines/google.ts`), the vendors' own lists of parameters, languages and countries; https://serpapi.com/search-api and
https://www.searchapi.io/docs/google (all read 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from searchport import locale
from searchport.errors import ErrorCode
from searchport.request import Recency
from searchport.result import SearchResult

if TYPE_CHECKING:
    from searchport.egress import JsonBody

__all__ = [
    "COUNTRIES",
    "INTERFACE_LANGUAGES",
    "REFUSALS",
    "RISK",
    "WINDOWS",
    "WRITTEN_IN",
    "has_more",
    "read_failure",
    "read_results",
]

RISK: Final = "unofficial: it reads Google's result pages by machine, and lasts as long as Google lets it"

WINDOWS: Final[Mapping[Recency, str]] = {
    Recency.DAY: "qdr:d",
    Recency.WEEK: "qdr:w",
    Recency.MONTH: "qdr:m",
    Recency.YEAR: "qdr:y",
}
"""`tbs`, Google's own parameter."""

_CODES: Final = locale.closed_list(
    "ar bg ca cs da de el en es et fa fi fr hi hr hu hy id is it ja ko lt lv nl no pl pt ro ru sk sl sr sv th tl tr uk vi "
    "zh-CN zh-TW",
    {"he": "iw"},
)
WRITTEN_IN: Final[Mapping[str, str]] = {tag: f"lang_{code}" for tag, code in _CODES.items()}
"""`lr`: pages written in a language."""

INTERFACE_LANGUAGES: Final[Mapping[str, str]] = {tag: code.lower() for tag, code in _CODES.items()}
"""`hl`: the language of Google's page, which prefers results in it, and in which it shows dates."""

_UNKNOWN_TO_GOOGLE: Final = frozenset({"AX", "BL", "BQ", "CW", "MF", "SS", "SX"})
COUNTRIES: Final[Mapping[str, str]] = {
    code: "uk" if code == "GB" else code.lower() for code in sorted(locale.COUNTRIES - _UNKNOWN_TO_GOOGLE)
}
"""`gl`: the country that is asked from."""

REFUSALS: Final = {(200, "Error"): ErrorCode.PROVIDER_UNAVAILABLE}
"""What `read_failure` gives, where the HTTP status says something else."""


def read_failure(answer: JsonBody) -> str | None:
    """What SerpApi's and SearchApi's answers say of a failure: `Error`, a search that failed at the vendor; `error`, another.

    None where the search succeeded, though an `error` text stand beside it: then Google found nothing.
    """
    state = answer.text("search_metadata", "status")
    if state in ("Success", "Error"):
        return state if state == "Error" else None
    return "error" if answer.has("error") else None


def has_more(answer: JsonBody, pagination: str) -> bool | None:
    """False where the section `pagination` names no next page; None where that says nothing."""
    return False if answer.has(pagination) and not answer.has(pagination, "next") else None


def read_results(rows: Iterable[JsonBody]) -> list[SearchResult]:
    """Google's organic results, as all of these vendors name their parts."""
    return [
        SearchResult(row.text("title"), row.text("link"), snippet=row.text("snippet"), published_date=row.text("date"))
        for row in rows
    ]
