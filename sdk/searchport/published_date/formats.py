"""Dates whose format a vendor documents: what a provider converts itself, because only its file knows."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal

from searchport.published_date.shapes import MAX_LENGTH, exact_text, normalize

__all__ = ["from_epoch", "from_format"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_END_SECONDS = 253_402_300_800  # 10000-01-01T00:00Z
_DIRECTIVE = re.compile(r"%(.)", re.DOTALL)
_DAYS = (
    {"Y", "m", "d"},
    {"Y", "B", "d"},
    {"Y", "b", "d"},
    {"y", "m", "d"},
    {"y", "B", "d"},
    {"y", "b", "d"},
    {"Y", "j"},
)
_CLOCKS = ({"H", "M"}, {"I", "M", "p"})
_CLOCK_PARTS = frozenset("HIMSfp")
_KNOWN = frozenset("YymBbdjHIMSfpzaA%")


def from_format(value: object, *formats: str, zone: tzinfo | None = None) -> str | None:
    """A vendor's date in a documented format, as `YYYY-MM-DD` or a date-time with its zone; None if none fits.

    formats: of `datetime.strptime`, tried in order; each names a whole day, and hours with minutes or no time at all.
    zone: of times whose format states none (no `%z`); without it such times are None, as everywhere. So is a local
    time that the zone skips or repeats. Never raises on what a vendor sent; ValueError for a format that would have to
    guess.

    >>> from_format("31.12.2026", "%d.%m.%Y")
    '2026-12-31'
    >>> from_format("31.12.2026 08:15", "%d.%m.%Y %H:%M", zone=UTC)
    '2026-12-31T08:15Z'
    >>> from_format("31.2.2026", "%d.%m.%Y") is None
    True
    """
    parts = [_check_format(format_) for format_ in formats]
    text = exact_text(value)
    if text is None or len(text) > MAX_LENGTH:
        return None
    for format_, directives in zip(formats, parts, strict=True):
        try:
            moment = datetime.strptime(text.strip(), format_)  # noqa: DTZ007 - the zone is added below
        except (ValueError, OverflowError):
            continue
        found = _write(moment, directives, zone)
        if found:
            return found
    return None


def _check_format(format_: str) -> set[str]:
    """The format's directives; ValueError for one that leaves part of the day or of the time open."""
    directives = set(_DIRECTIVE.findall(format_))
    if not directives <= _KNOWN:
        raise ValueError(f"format {format_!r}: what {sorted(directives - _KNOWN)} read depends on the machine")
    if not any(day <= directives for day in _DAYS):
        raise ValueError(f"format {format_!r} does not name a whole day; without it the day would be a guess")
    if directives & _CLOCK_PARTS and not any(clock <= directives for clock in _CLOCKS):
        raise ValueError(f"format {format_!r} does not name hours and minutes; without them the time would be a guess")
    return directives


def _write(moment: datetime, directives: set[str], zone: tzinfo | None) -> str | None:
    if not directives & _CLOCK_PARTS:
        return normalize(moment.date().isoformat())
    if moment.tzinfo is None:
        if zone is None:
            return None
        from dateutil import tz  # here, not above: most toolkits convert no zone, and it reads zone files

        moment = moment.replace(tzinfo=zone)
        if not tz.datetime_exists(moment) or tz.datetime_ambiguous(moment):
            return None  # the hour that summer time skips or repeats
    offset = moment.utcoffset()
    if offset and offset % timedelta(minutes=1):
        return None  # local times before zones had offsets with seconds, which neither shape has
    precision = "microseconds" if "f" in directives else "seconds" if "S" in directives else "minutes"
    return normalize(moment.isoformat(timespec=precision).replace("+00:00", "Z"))


def from_epoch(value: object, *, unit: Literal["seconds", "milliseconds"] = "seconds") -> str | None:
    """A documented epoch number as a UTC date-time, `2026-09-20T08:15:00Z`; None for anything else than a number.

    unit: of the number, counted from 1970 without leap seconds (POSIX). None for zero and less, which vendors use for
    "unknown", for years past 9999, where milliseconds read as seconds end, for NaN and booleans. Milliseconds are kept.

    >>> from_epoch(1789891200)
    '2026-09-20T08:00:00Z'
    >>> from_epoch(1789891200250, unit="milliseconds")
    '2026-09-20T08:00:00.250Z'
    """
    if type(value) is not int and type(value) is not float:
        return None
    scale = 1 if unit == "milliseconds" else 1000
    if not 0 < value < _END_SECONDS * 1000 // scale:
        return None
    milliseconds = int(value * scale)
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return moment.isoformat(timespec="milliseconds" if milliseconds % 1000 else "seconds").replace("+00:00", "Z")
