"""The date that a page states for itself in its metatags, as Google's products hand them over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from searchport.published_date.shapes import exact_text, normalize

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PUBLISHED_TAGS", "first_stated"]

PUBLISHED_TAGS = (
    "article:published_time",
    "datepublished",
    "og:published_time",
    "pubdate",
    "date",
    "dc.date",
    "article:modified_time",
    "og:updated_time",
)


def first_stated(metatags: object, tags: Sequence[str] = PUBLISHED_TAGS) -> str | None:
    """The raw text of the first tag whose value `normalize` accepts; else the first that is not blank, for its bound.

    metatags: a mapping of tag name (lower case) -> raw value, as the vendor sent it; any other type states nothing.
    tags: their order of precedence.

    >>> first_stated({"date": "Sep 20, 2026", "pubdate": "20.09.2026"})
    'Sep 20, 2026'
    >>> first_stated({"pubdate": "2026-09-20T08:15:00"})
    '2026-09-20T08:15:00'
    """
    if not issubclass(type(metatags), Mapping):
        return None
    texts = [exact_text(cast("Mapping[str, object]", metatags).get(tag)) for tag in tags]
    stated = [text for text in texts if text and not text.isspace()]
    return next((text for text in stated if normalize(text)), stated[0] if stated else None)
