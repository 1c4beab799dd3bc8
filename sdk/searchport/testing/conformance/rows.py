"""The rows that the fake vendor finds: invented pages, each told from every other by its rank."""

from __future__ import annotations

from typing import Final

import attrs

__all__ = ["CRAWLED", "SITE", "Row", "sample_rows"]

SITE: Final = "example.com"
CRAWLED: Final = "2031-03-03T09:08:07Z"
"""When the fake vendor visited every page: a date with its zone that must never become a published date."""


@attrs.frozen(kw_only=True)
class Row:
    """One result as the fake vendor has it. date, crawled: whatever stands in the vendor's fields; None: null, or nothing."""

    rank: int
    title: str
    url: str
    snippet: str
    date: object = None
    crawled: object = CRAWLED


def sample_rows(first: int, count: int, date: object = None) -> list[Row]:
    """`count` rows that begin with rank `first`, all of the same date."""
    return [
        Row(
            rank=rank,
            title=f"Harbour lantern number {rank}",
            url=f"https://page-{rank}.{SITE}/lantern/{rank}",
            snippet=f"Keeper {rank} lit the lantern before the fog came in.",
            date=date,
        )
        for rank in range(first, first + count)
    ]
