"""The two shapes of a published date, and the way into them.

`YYYY-MM-DD`, or a date-time with its zone: `2026-09-20T08:15Z`, `2026-09-20T10:15:30.250+02:00`. Both are profiles of
RFC 3339 in which seconds may be missing and a fraction keeps its digits.
"""

from __future__ import annotations

import re
from calendar import isleap

from searchport.published_date.grammar import OFFSET, build_day, build_time, build_zone, find_clock, fold, read_day

__all__ = ["MAX_LENGTH", "exact_text", "normalize"]

MAX_LENGTH = 100
_MIN_LENGTH = 8  # `20260920`, `1May2026`
_LONGEST_DAY = 10
_DIGITS = frozenset("0123456789")

_DAY = (
    r"(?!0000)[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8]|(29)))"
)
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:%s[0-9]+)?)?"
_HOURS = r"[+-](?:[01][0-9]|2[0-3])"
# The two shapes, and behind the bar the date-times that only their marks keep from it. Of the groups, the first asks
# for a leap year, and the others take part in a date-time to respell.
_SHAPE = re.compile(
    rf"{_DAY}(?:T{_TIME % '[.]'}(?:Z|{_HOURS}:[0-5][0-9])"
    rf"|[Tt ]({_TIME % '[.,]'})(?:\s?(?:({_HOURS})(?::?([0-5][0-9]))?|([Zz]|UTC|GMT|UT)))?)?"
)
_UNPADDED = re.compile(
    r"([0-9]{4})(?:([-/.])([0-9]{1,2})\2([0-9]{1,2})|([0-9]{2})([0-9]{2}))([Tt ])"
    r"([0-9]{1,2})(:?)([0-9]{2})(?:\9([0-9]{2})(?:[.,]([0-9]+))?)?"
    rf"(?:\s?(?:{OFFSET}|([Zz]|UTC|GMT|UT)))?"
)


def normalize(value: object) -> str | None:
    """A vendor's date as `YYYY-MM-DD` or a date-time with its zone, as precise as the vendor was; None where unsure.

    value: anything a vendor sent; only text can be a date. Never raises. What it gives, it gives back unchanged.

    Accepted: the two shapes and their ISO 8601 respellings; a month in words with a four-digit year in any usual order,
    in the languages of `month_names`; year-first numbers; `2026年9月20日`; each of them with a time and a zone too
    (RFC 5322, JavaScript's and Java's `toString`, 12-hour clocks).
    Skipped, because reading them is guessing: `09/20/2026`, a year or a month alone, two-digit years, times without a
    zone, zone names but UTC, GMT, UT and Z, a weekday that contradicts, relative dates, epoch numbers, ranges, any word
    around the date, years of another calendar, and more than 100 characters. `not_before` bounds some of those.

    >>> normalize("Sun, 20 Sep 2026 08:15:00 GMT")
    '2026-09-20T08:15:00Z'
    >>> normalize("20 de septiembre de 2026")
    '2026-09-20'
    >>> normalize("03/04/2026") is None
    True
    """
    text = value if type(value) is str else exact_text(value)
    if text is None or not _MIN_LENGTH <= len(text) <= MAX_LENGTH:
        return None
    text = text.strip()
    if text[3:4] in _DIGITS and text[0] in _DIGITS:  # a year comes first
        shape = _SHAPE.fullmatch(text)
        if shape:
            return text if shape.lastindex is None else _respell(shape)
        unpadded = _UNPADDED.fullmatch(text) if len(text) > _LONGEST_DAY else None
        if unpadded:
            return _pad(unpadded)
    return _convert(text)


def exact_text(value: object) -> str | None:
    """The value as a plain `str`, None for anything else. A subclass loses its methods: they may lie or raise."""
    if type(value) is str:
        return value
    # Not isinstance: it reads `__class__`, which an object may answer with an exception or a lie.
    return str.__str__(value) if issubclass(type(value), str) else None


def _respell(shape: re.Match[str]) -> str | None:
    """A date-time with marks other than the shape's, or one of either shape that needs a leap year."""
    text = shape[0]
    leap_day, time, hours, minutes, utc = shape.groups()
    if leap_day and not isleap(int(text[:4])):
        return None
    if time is None:
        return text
    if hours:
        return _bounded(f"{text[:10]}T{time.replace(',', '.')}{hours}:{minutes or '00'}")
    return f"{text[:10]}T{time.replace(',', '.')}Z" if utc else None


def _pad(unpadded: re.Match[str]) -> str | None:
    """A year-first date with a time, with other marks, or with none at all."""
    year, mark, month, day, basic_month, basic_day, t, hour, colon, minute, second, fraction = unpadded.groups()[:12]
    sign, hours, minutes, utc = unpadded.groups()[12:]
    if sign is None and utc is None:
        return None
    if not colon and (t == " " or len(hour) == 1):
        return None
    if mark in {"/", "."} and year < "1800":
        return None
    date = build_day(year, month or basic_month, day or basic_day)
    time = build_time(hour, minute, second, fraction, None)
    zone = "Z" if utc else build_zone(sign, hours, minutes)
    return _bounded(f"{date}T{time}{zone}") if date and time and zone else None


def _bounded(text: str) -> str | None:
    """The text, unless respelling made it longer than `normalize` reads: what it gives, it must give back."""
    return text if len(text) <= MAX_LENGTH else None


def _convert(text: str) -> str | None:
    """A date in words, or one that stands around its time."""
    folded = text.lower() if text.isascii() else fold(text)
    if folded is None:
        return None
    if ":" not in folded:
        return read_day(folded)
    clock = find_clock(folded, zoned=True)
    if clock is None:
        return None
    time, zone, before, behind = clock
    # `Sun Sep 20 08:15:00 UTC 2026` has its clock in the middle.
    date = read_day(f"{before} {behind}".strip())
    return _bounded(f"{date}T{time}{zone}") if date else None
