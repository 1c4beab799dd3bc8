"""Bounds, not guesses: the earliest instant that a date allows which is too vague to be a published date."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from searchport.published_date.grammar import (
    THAI_OR_LAO,
    agreed,
    build_day,
    find_clock,
    find_month,
    fold,
    lead_weekdays,
    read_day,
)
from searchport.published_date.month_names import FIRST_YEAR_WORDS, JOINING_WORDS, YEAR_WORDS
from searchport.published_date.shapes import MAX_LENGTH, exact_text, normalize

__all__ = ["not_before"]

# The clocks that are ahead of all others, in Kiribati, show UTC+14: https://www.iana.org/time-zones.
_ANY_ZONE = timedelta(hours=14)
_NO_SLACK = timedelta(0)

_UNITS = (
    (timedelta(seconds=1), "second seconds sec secs s"),
    (timedelta(minutes=1), "minute minutes min mins"),  # `5m ago` may be months
    (timedelta(hours=1), "hour hours hr hrs h"),
    (timedelta(days=1), "day days d"),
    (timedelta(weeks=1), "week weeks wk wks w"),
    (timedelta(days=31), "month months mo mos"),
    (timedelta(days=366), "year years yr yrs y"),
)
_UNIT = {word: length for length, words in _UNITS for word in words.split()}
_AGES = {"today": timedelta(days=1), "yesterday": timedelta(days=2)}
_AGO = re.compile(r"([0-9]{1,6}|an?|one)(\s*)([a-z]+)\.? ago")
_ZONE_NAME = re.compile(r"\s*(?:[(\[]?[a-z]{1,5}[)\]]?|[(\[]?[a-z]+(?:/[a-z_]+)+[)\]]?)(?![^\W_])")
_IDEOGRAPHIC_CLOCK = re.compile(r"([0-9]{1,2})\s?[時时点點시]\s?([0-9]{1,2})\s?[分분](?:\s?([0-9]{1,2})\s?[秒초])?")
_TWO_ORDERS = re.compile(r"([^0-9]*)([0-9]{1,2})([-/.])\s?([0-9]{1,2})\3\s?([0-9]{4})[\s,.]*")
_YEAR_AND_MONTH = re.compile(
    r"([0-9]{4})(?:([-/.])([0-9]{1,2}))?|([0-9]{1,2})[-/.]([0-9]{4})"
    r"|([0-9]{4})\s?[年년](?:\s*([0-9]{1,2})\s?[月월])?|(?:tháng|thg)\s+([0-9]{1,2})(?:\s*,\s*|\s+)(?:năm\s+)?([0-9]{4})"
)
_MONTH_IN_WORDS = re.compile(r"([^0-9]*+)([0-9]{4}+)([^0-9]*+)")


def not_before(value: object, now: datetime) -> datetime | None:
    """The earliest instant, in UTC, that a vendor's date allows; None where it proves nothing.

    value: anything a vendor sent. now: when the vendor answered, with its zone; relative ages count from it. Raises
    ValueError for a `now` without a zone, and nothing else.

    - What `normalize` accepts gives its own instant, a calendar date its midnight in UTC.
    - A time without a zone, or with a zone's name that is none of UTC, GMT, UT and Z, gives its reading in UTC less 14
      hours: no clock on Earth is further ahead. So do a month or a year alone (its first moment).
    - `03/04/2026` gives the earlier of its two readings, read as every calendar date is: as UTC midnight.
    - An English age of N units gives N + 1 units before `now`: "3 days ago" is less than four days ago. A month counts
      31 days and a year 366. `yesterday` is less than two days ago, `today` less than one.

    >>> answered = datetime(2026, 9, 20, 12, tzinfo=UTC)
    >>> not_before("2 hours ago", answered)
    datetime.datetime(2026, 9, 20, 9, 0, tzinfo=datetime.timezone.utc)
    >>> not_before("2026-09-20T08:15:00", answered)
    datetime.datetime(2026, 9, 19, 18, 15, tzinfo=datetime.timezone.utc)
    >>> not_before("last summer", answered) is None
    True
    """
    if now.tzinfo is None:
        raise ValueError("now has no zone; pass an aware datetime such as datetime.now(UTC)")
    text = exact_text(value)
    if text is None or len(text) > MAX_LENGTH:
        return None
    stated = normalize(text)
    if stated:
        return _instant(stated, _NO_SLACK)
    folded = fold(text.strip())
    if not folded:
        return None
    age = _age(folded)
    if age is not None:
        return _before(now, age)
    if not folded.isascii():
        folded = _IDEOGRAPHIC_CLOCK.sub(_with_colons, folded)
    if ":" in folded:
        return _clock_bound(folded)
    basic = normalize(f"{folded}Z")  # `20260920T081500`
    if basic:
        return _instant(basic, _ANY_ZONE)
    earlier = _earlier_reading(folded)
    if earlier:
        return _instant(earlier, _NO_SLACK)
    first = _first_day(folded)
    return _instant(first, _ANY_ZONE) if first else None


def _instant(shape: str, slack: timedelta) -> datetime | None:
    """The instant of one of the two shapes, less the slack; a fraction is cut to microseconds, which is earlier."""
    moment = datetime.fromisoformat(shape)
    return _before(moment if moment.tzinfo else moment.replace(tzinfo=UTC), slack)


def _before(moment: datetime, slack: timedelta) -> datetime | None:
    try:
        return moment.astimezone(UTC) - slack
    except OverflowError:
        return None  # outside the years 1 to 9999


def _age(text: str) -> timedelta | None:
    """The age that an English phrase cannot reach: one unit more than it says."""
    found = _AGO.fullmatch(text)
    if found is None:
        return _AGES.get(text)
    count, space, unit = found.groups()
    length = _UNIT.get(unit)
    if length is None or (not space and not count.isdecimal()):
        return None
    return length * ((int(count) if count.isdecimal() else 1) + 1)


def _clock_bound(text: str) -> datetime | None:
    """The bound of a day with a time, whose zone is missing, unknown, or stated beside a day of two readings."""
    clock = find_clock(text)
    if clock is None:
        return None
    time, zone, before, behind = clock
    day = _day_around(before, behind)
    if day is None and not zone:
        name = _ZONE_NAME.match(behind)
        day = _day_around(before, behind[name.end() :]) if name else None
        if name and time.startswith("12") and not name[0].endswith("t"):
            time = f"00{time[2:]}"  # not `EST` or `CEST`: it may say "in the morning" in another language
    return _instant(f"{day}T{time}{zone}", _NO_SLACK if zone else _ANY_ZONE) if day else None


def _with_colons(clock: re.Match[str]) -> str:
    return ":".join(part.rjust(2, "0") for part in clock.groups() if part)


def _day_around(before: str, behind: str) -> str | None:
    text = f"{before} {behind}".strip()
    return read_day(text) or _earlier_reading(text)


def _earlier_reading(text: str) -> str | None:
    """The earlier day of a numeric date that has its year last; a weekday in front may leave one reading only."""
    found = _TWO_ORDERS.fullmatch(text)
    if found is None:
        return None
    lead, first, mark, second, year = found.groups()
    if mark != "-" and year < "1800":
        return None
    weekdays = lead_weekdays(lead)
    readings = (agreed(build_day(year, month, day), weekdays) for month, day in ((first, second), (second, first)))
    return min((reading for reading in readings if reading), default=None)


def _first_day(text: str) -> str | None:
    """The first day of a month or a year that stands alone."""
    found = _YEAR_AND_MONTH.fullmatch(text)
    if found is None:
        return _first_day_in_words(text)
    year = found[1] or found[5] or found[6] or found[9]
    month = found[3] or found[4] or found[7] or found[8]
    if (month is None and year > "2400") or (found[2] in {"/", "."} and year < "1800"):
        return None  # counts from the Buddha, or in Persia
    return build_day(year, month or "1", "1")


def _first_day_in_words(text: str) -> str | None:
    found = _MONTH_IN_WORDS.fullmatch(text)
    if found is None:
        return None
    lead, year, tail = found.groups()
    before, after = find_month(lead, JOINING_WORDS), find_month(tail, YEAR_WORDS | FIRST_YEAR_WORDS | JOINING_WORDS)
    if before is None or after is None or bool(before) == bool(after):
        return None
    if year > "2400" and THAI_OR_LAO.search(text):
        return None
    return build_day(year, str(before or after), "1")
