"""What a search answers: results to walk through, to show as a table and to turn into a data frame."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, overload

import attrs

from searchport.result import Envelope, RankedResult, render_envelope

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types

__all__ = ["SearchAnswer", "SearchHit"]


@attrs.frozen(kw_only=True, repr=False)
class SearchHit(RankedResult):
    """One result; title and snippet were written by the page's owner. Its repr, which may reach a log, holds neither."""

    def __repr__(self) -> str:
        return f"SearchHit(rank={self.rank}, published_date={self.published_date!r})"


@attrs.frozen(kw_only=True, repr=False)
class SearchAnswer(Envelope):
    """An answer: the envelope of the contract, whose results it holds as a sequence.

    In a notebook it shows as a table. Its repr, which may reach a log, holds no query, title, snippet or URL.
    """

    results: tuple[SearchHit, ...]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[SearchHit]:
        return iter(self.results)

    @overload
    def __getitem__(self, place: int) -> SearchHit: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[SearchHit, ...]: ...

    def __getitem__(self, place: int | slice) -> SearchHit | tuple[SearchHit, ...]:
        return self.results[place]

    def __repr__(self) -> str:
        return f"SearchAnswer(results={len(self)}, provider={self.provider!r}, request_id={self.request_id!r})"

    def _repr_html_(self) -> str:
        from .display import render_html

        return render_html(self)

    def _repr_markdown_(self) -> str:
        from .display import render_markdown

        return render_markdown(self)

    def to_dicts(self) -> list[dict[str, str | int | None]]:
        """The results, each with all six fields of `SearchHit`, None where a result lacks one."""
        return [attrs.asdict(hit) for hit in self.results]

    def to_json(self, *, indent: int | None = None) -> str:
        """The whole answer as the platform API's JSON object."""
        fields = {field.name: getattr(self, field.name) for field in attrs.fields(Envelope) if field.init}
        return json.dumps(render_envelope(Envelope(**fields)), ensure_ascii=False, indent=indent)

    def to_pandas(self) -> DataFrame:
        """The results as a data frame; the same columns and types with no results.

        Columns: `rank` (int64), `title`, `url`, `snippet`, `published_date` (the text as answered), `published` (its UTC
        instant, a calendar date as midnight; `datetime64[us, UTC]`), `date_basis`. Raises ImportError without pandas.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("a data frame needs pandas: pip install 'searchport[notebook]'") from None
        rows = self.to_dicts()
        names = ("title", "url", "snippet", "published_date", "date_basis")
        columns = {name: pd.Series([row[name] for row in rows], dtype="string") for name in names}
        published = pd.Series([_instant(hit.published_date) for hit in self.results], dtype="datetime64[us, UTC]")
        columns |= {"rank": pd.Series([hit.rank for hit in self.results], dtype="int64"), "published": published}
        return pd.DataFrame(columns)[["rank", *names[:4], "published", names[4]]]


def _instant(published_date: str | None) -> datetime | None:
    """The UTC instant of one of the contract's two shapes of a date; None for none, and for one beyond the calendar's ends."""
    try:
        found = datetime.fromisoformat(published_date or "")
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
