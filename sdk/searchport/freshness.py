"""How old a result may be: an ISO 8601 duration whose length does not depend on when it is counted.

Source: ISO 8601-1:2019, durations (`P1DT12H`, `P4W`); ISO 8601-2:2019 extends them to weeks beside other units
(`P1W2D`). Years and months are refused, because a month from 31 March has more than one answer.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import attrs

from searchport.errors import SearchError, shorten

__all__ = ["FRESHNESS_LENGTH", "FRESHNESS_PATTERN", "Freshness"]

_PATH = "$.freshness"
_LONGEST = timedelta(days=36_525)
_FIXED = re.compile(r"P(?=[0-9T])(?:([0-9]+)W)?(?:([0-9]+)D)?(?:T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)S)?)?")
FRESHNESS_LENGTH = 100
"""Characters of the longest text that is read."""
FRESHNESS_PATTERN = f"^{_FIXED.pattern}$"
"""The shape of a fixed-length duration, for a JSON Schema (ECMA-262)."""
_CALENDAR = re.compile(r"P(?=[0-9])(?:([0-9]{1,6})Y)?(?:([0-9]{1,6})M)?(?:([0-9]{1,6})W)?(?:([0-9]{1,6})D)?(T.+)?")
_FIRST, _LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC)
_UNIT_SECONDS = (7 * 86_400, 86_400, 3_600, 60, 1)
_ALLOWED = "write an ISO 8601 duration in weeks, days, hours, minutes or seconds, such as 'P7D', 'P4W' or 'PT12H'"


@attrs.frozen
class Freshness:
    """The age up to which a result counts as fresh. Made by `parse`; `str()` gives the text that was parsed.

    text: the ISO 8601 duration as the caller wrote it.
    duration: its exact length, more than zero and at most 36,525 days (100 years).
    """

    text: str
    duration: timedelta

    @classmethod
    def parse(cls, text: str) -> Freshness:
        """The duration that `text` states: `P7D`, `P4W`, `PT12H`, `PT30M`, `P1DT12H`, `P1W2D`.

        Raises `SearchError` (`validation_error` at `$.freshness`) for anything else: years and months, zero,
        fractions, signs, lower case, more than 100 years, a value that is not a str.
        """
        seconds = _seconds(text)
        if seconds is None:
            raise _refused(text, _why(text))
        if not seconds:
            raise _refused(text, f"is no time at all; {_ALLOWED}")
        if seconds > _LONGEST.total_seconds():
            raise _refused(text, "is longer than 100 years; write 'P36525D' or less, or leave the option out")
        return cls(text, timedelta(seconds=seconds))

    @property
    def days(self) -> int:
        """Whole days that cover the duration, at least 1: for vendors that count no finer."""
        return -(-self.duration // timedelta(days=1))

    def since(self, now: datetime) -> datetime:
        """The oldest instant that is fresh at `now`, in UTC; the first or last one that exists where it lies beyond.

        now: with its zone; ValueError without one.
        """
        offset = now.utcoffset()
        if offset is None:
            raise ValueError("now has no zone; give datetime.now(UTC)")
        back = offset + self.duration
        try:
            return now.replace(tzinfo=UTC, fold=0) - back
        except OverflowError:
            return _FIRST if back > timedelta() else _LAST

    def __str__(self) -> str:
        return self.text


def _seconds(text: object) -> int | None:
    """The seconds that a fixed-length duration states, None for anything else."""
    match = _FIXED.fullmatch(text) if isinstance(text, str) and len(text) <= FRESHNESS_LENGTH else None
    if match is None:
        return None
    return sum(int(count or 0) * unit for count, unit in zip(match.groups(), _UNIT_SECONDS, strict=True))


def _refused(text: object, why: str) -> SearchError:
    return SearchError.invalid(_PATH, f"{shorten(text)} {why}")


def _why(text: object) -> str:
    """What is wrong with a value that is no fixed-length duration, and what to write instead."""
    if not isinstance(text, str):
        return f"is not a string; {_ALLOWED}"
    if len(text) > FRESHNESS_LENGTH:
        return f"is longer than {FRESHNESS_LENGTH} characters; {_ALLOWED}"
    if _FIXED.fullmatch(text.upper()) and text.isascii():
        return f"is not in upper case; write {text.upper()!r}"
    if (calendar := _CALENDAR.fullmatch(text)) and (calendar[1] or calendar[2]):
        return f"has no fixed length; write {_in_days(calendar)}"
    if re.search(r"[0-9][.,][0-9]", text):
        return "has a fraction; write it in a smaller unit, such as 'PT90M' for an hour and a half"
    if text.startswith(("-", "+")):
        return "has a sign; write how far back as 'P7D'"
    return f"is not a duration of fixed length; {_ALLOWED}"


def _in_days(calendar: re.Match[str]) -> str:
    years, months, weeks, days = (int(count or 0) for count in calendar.groups()[:4])
    total = 365 * years + 30 * months + 7 * weeks + days
    meant = f"P{total}D{calendar[5] or ''}"
    return repr(meant) if total <= _LONGEST.days and _FIXED.fullmatch(meant) else "its days, such as 'P30D'"
