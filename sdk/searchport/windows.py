"""Windows of vendors that have no words for them, but take the day or the instant at which one begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial

from searchport.request import Recency

__all__ = ["NAMED_WINDOWS", "REACHES_BACK", "windows_since"]

REACHES_BACK: Mapping[Recency, timedelta] = {
    Recency.DAY: timedelta(days=1),
    Recency.WEEK: timedelta(weeks=1),
    Recency.MONTH: timedelta(days=31),
    Recency.YEAR: timedelta(days=366),
}
"""How far back a window reaches: no month and no year is longer."""

NAMED_WINDOWS: Mapping[Recency, str] = {recency: recency.value for recency in Recency}
"""The `recency` of a vendor that names its windows as we do: `day`, `week`, `month`, `year`."""


def windows_since(format_: str) -> dict[Recency, Callable[[datetime], str]]:
    """The `recency` of a vendor that takes the beginning of a range.

    format_: how the vendor writes it, of `datetime.strftime`, in UTC: `%Y-%m-%d`, `%Y-%m-%dT%H:%M:%SZ`.
    """
    return {recency: partial(_write_start, length, format_) for recency, length in REACHES_BACK.items()}


def _write_start(length: timedelta, format_: str, now: datetime) -> str:
    return (now - length).strftime(format_)
