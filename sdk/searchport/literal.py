"""Keeping a query literal where a vendor has no switch for it: words that it would act on, marked so that it does not."""

from __future__ import annotations

import re

from searchport.errors import SearchError

__all__ = ["guard_words"]


def guard_words(query: str, starts: str, *, before: str, after: str = "", max_query: int | None = None) -> str:
    """The query with `before` in front of, and `after` behind, every word that begins with one of the characters `starts`.

    Words are cut at any Unicode white space; everything else stays as it is. max_query: the vendor's longest query, where the
    marks could make one longer. Raises SearchError (`validation_error` at `$.query`) where they do.

    >>> guard_words("who is !g", "!", before='"', after='"')
    'who is "!g"'
    """
    guarded = re.sub(rf"(?<!\S)[{re.escape(starts)}]\S*", lambda word: f"{before}{word[0]}{after}", query)
    if max_query is not None and len(guarded) > max_query:
        raise SearchError.invalid("$.query", f"{len(guarded):,} characters with its marks; at most {max_query:,} are allowed")
    return guarded
