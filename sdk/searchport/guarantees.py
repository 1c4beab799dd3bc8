"""What the SDK does to whatever a toolkit returned, so that two providers are interchangeable.

In this order, for each result: its URL, its text, its date, `site`, `freshness`, duplicates, the count. Order is kept, a URL
that is returned is never edited, a result that cannot be read is dropped and counted, never raised.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs
from yarl import URL

from searchport import published_date
from searchport.markup import clean
from searchport.request import SearchRequest
from searchport.result import DateBasis, FilterReport, RankedResult, SearchResponse, SearchResult
from searchport.toolkit import S
from searchport.web_search import WebSearch

if TYPE_CHECKING:
    from searchport.egress import AddressPolicy

__all__ = ["Guaranteed", "apply"]

URL_LIMIT = 2_048
TITLE_LIMIT = 300
SNIPPET_LIMIT = 1_000
ROW_LIMIT = 200
"""Rows looked at in one answer; 4 MiB of JSON can hold a hundred thousand, and each costs time."""

Drop: TypeAlias = Literal["malformed", "refused_address", "off_site", "too_old", "undated", "duplicate", "over_count"]


@attrs.frozen
class Guaranteed:
    """The results that hold every promise of the contract, and why others are missing."""

    results: tuple[RankedResult, ...]
    report: FilterReport


def apply(
    response: SearchResponse,
    request: SearchRequest,
    declaration: WebSearch[S],
    policy: AddressPolicy,
    now: datetime,
    answered_at: datetime,
) -> Guaranteed:
    """The results of `response` that hold what `request` asks.

    policy: for result URLs, judged from the URL alone, on any port. now: the instant from which `freshness` counts back.
    answered_at: when the vendor answered, from which relative ages count. Both aware. Never raises on what a row holds.
    """
    sieve = _Sieve(request, declaration.text == "html", policy, now, answered_at)
    for row in response.results[:ROW_LIMIT]:
        dropped = sieve.take(row)
        if dropped is not None:
            sieve.counts[dropped] += 1
    sieve.counts["over_count"] += max(0, len(response.results) - ROW_LIMIT)
    return Guaranteed(results=tuple(sieve.kept), report=FilterReport(**sieve.counts))


class _Sieve:
    """One pass over a vendor's rows; `counts` has the fields of FilterReport."""

    def __init__(self, request: SearchRequest, html: bool, policy: AddressPolicy, now: datetime, answered_at: datetime) -> None:
        self.kept: list[RankedResult] = []
        self.counts: Counter[str] = Counter()
        self._request = request
        self._html = html
        self._policy = policy
        self._since = None if request.freshness is None else request.freshness.since(now)
        self._answered_at = answered_at
        self._seen: set[str] = set()

    def take(self, row: SearchResult) -> Drop | None:
        """Keeps the row, or tells why it is dropped."""
        url = row.url if isinstance(row, SearchResult) else None
        if not isinstance(url, str) or len(url) > URL_LIMIT:
            return "malformed"
        fault = self._policy.url_fault(url, any_port=True)
        if fault is not None:
            return "malformed" if fault.is_malformed else "refused_address"
        title, snippet = self._clean(row.title, TITLE_LIMIT), self._clean(row.snippet, SNIPPET_LIMIT)
        published = published_date.normalize(row.published_date)
        if self._request.site is not None and not self._request.site.matches(url):
            return "off_site"
        basis, dropped = self._judge_date(row.published_date, published)
        if dropped is None and url in self._seen:
            dropped = "duplicate"
        if dropped is not None:
            return dropped
        self._seen.add(url)
        return self._keep(
            title=title or URL(url).host or url, url=url, snippet=snippet, published_date=published, date_basis=basis
        )

    def _clean(self, raw: object, limit: int) -> str | None:
        if not isinstance(raw, str):
            return None
        cleaned = clean(raw, html=self._html, limit=limit)
        self.counts["hidden_characters"] += cleaned.hidden
        return cleaned.text or None

    def _judge_date(self, value: object, published: str | None) -> tuple[DateBasis | None, Drop | None]:
        """Under `freshness`: what the date proves, or why the result is dropped."""
        if self._since is None:
            return None, None
        instant = published_date.not_before(published or value, self._answered_at)
        if instant is None:
            return None, "undated"
        if instant < self._since:
            return None, "too_old"
        if published is None:
            return "bound", None
        return ("date-time" if "T" in published else "date"), None

    def _keep(
        self, *, title: str, url: str, snippet: str | None, published_date: str | None, date_basis: DateBasis | None
    ) -> Drop | None:
        if len(self.kept) >= self._request.max_results:
            return "over_count"
        self.counts["kept_by_bound"] += date_basis == "bound"
        self.kept.append(
            RankedResult(
                rank=len(self.kept) + 1,
                title=title,
                url=url,
                snippet=snippet,
                published_date=published_date,
                date_basis=date_basis,
            )
        )
        return None
