"""Reading the parts of a date out of text: its day, its clock and its zone, or nothing where any word is left over.

A day is `YYYY-MM-DD`, a time `HH:MM[:SS[.fraction]]`, a zone `Z` or `+HH:MM`, each as precise as the text. Every reader
takes text that `fold` gave. Sources: RFC 5322 section 3.3 (mail), ECMA-262 `Date.prototype.toString`,
`java.util.Date.toString`, Unicode CLDR (names and patterns of `month_names`).
"""

from __future__ import annotations

import re
import unicodedata
from calendar import isleap
from datetime import date

from searchport.published_date.month_names import (
    DAY_WORDS,
    FIRST_YEAR_WORDS,
    JOINING_WORDS,
    MONTHS,
    WEEKDAYS,
    YEAR_WORDS,
)

__all__ = [
    "OFFSET",
    "THAI_OR_LAO",
    "agreed",
    "build_day",
    "build_time",
    "build_zone",
    "find_clock",
    "find_month",
    "fold",
    "lead_weekdays",
    "read_day",
]

# `-500` is `-05:00`, but `+053` lost a digit.
OFFSET = r"([+-])([0-9]{2}|[1-9]|0(?![0-9]))(?::?([0-9]{2}))?(?![0-9:])"

_OFFSET = re.compile(OFFSET)
_PADDED = {text: f"{number:02}" for number in range(60) for text in (str(number), f"{number:02}")}
_LAST_DAYS = dict(zip(map("{:02}".format, range(1, 13)), map(str, (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)), strict=True))
_HOURS = {
    "a": {text: padded if padded < "12" else "00" for text, padded in _PADDED.items() if "01" <= padded <= "12"},
    "p": {text: f"{int(text) % 12 + 12}" for text, padded in _PADDED.items() if "01" <= padded <= "12"},
    None: {text: padded for text, padded in _PADDED.items() if padded < "24"},
}
_EVERY_WEEKDAY = (0, 1, 2, 3, 4, 5, 6)
_DIGITS = "0123456789"
_BEHIND_YEAR = YEAR_WORDS | FIRST_YEAR_WORDS | JOINING_WORDS
_BEHIND_DAY = DAY_WORDS | JOINING_WORDS
_DIGIT = re.compile(r"[0-9]")
_FAR = re.compile("[^\x00-\u05ff]")  # where other digits, commas and apostrophes begin
_ANY_DIGIT = re.compile(r"\d")
_DIGIT_RUN = re.compile(r"\d+")
_OTHER_DIGITS = re.compile(r"[^\D0-9]+")
_SPACED_DASH = re.compile(r"\s-|-\s")
_ORDINAL = re.compile(r"\.?(?:st|nd|rd|th|ste|er|re|o|a|°)(?![^\W\d_])")  # NFKC writes `º` and `ª` as `o` and `a`
THAI_OR_LAO = re.compile("[\u0e00-\u0eff]")

_UTC = r"(?:utc|gmt|ut)(?![^\W_])"
# Groups: the time's five, the space before a zone (None: no zone), then the offset's five.
_CLOCK = re.compile(
    r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?(?![0-9:])(?:\s*([ap])\.?m(?:\.|(?![^\W_])))?"
    rf"(?:(\s*)(?:(utc\s?|gmt\s?|ut\s?)?{OFFSET}(?:\s*[(\[]([^()\[\]]+)[)\]]|(?:(?<=[+-]0000)|(?<=[+-]00:00))\s{_UTC})?"
    rf"|z(?![^\W_])|{_UTC}))?"
)
_WEEKDAY_BEHIND = r"[\s,.]*(?:\((\w)\)\s*)?"
_NUMERIC = re.compile(
    r"([^0-9]*+)([0-9]{4})"
    r"(?:([-/.])([0-9]{1,2})\3([0-9]{1,2})|\.\s([0-9]{1,2})\.\s([0-9]{1,2})|([0-9]{2})([0-9]{2}))" + _WEEKDAY_BEHIND
)
_IDEOGRAPHIC = re.compile(r"([^0-9]*)([0-9]{4})\s?[年년]\s*([0-9]{1,2})\s?[月월]\s*([0-9]{1,2})\s?[日일]" + _WEEKDAY_BEHIND)
_VIETNAMESE = re.compile(
    r"([^0-9]*?)(?:ngày\s+)?([0-9]{1,2})\s+(?:tháng|thg)\s+([0-9]{1,2})(?:\s*,\s*|\s+)(?:năm\s+)?([0-9]{4})[\s.]*"
)
# Five runs, none of which gives anything back: linear whatever the text.
_TEXTUAL = re.compile(r"([^0-9]*+)([0-9]{1,4}+)([^0-9]++)([0-9]{1,4}+)([^0-9]*+)")


def fold(text: str) -> str | None:
    """Text as names are compared: NFKC, case folded (ASCII: lower case). None if other digits could count a year.

    At most two such digits together are a day, a month or a part of a time; they become ASCII ones.
    """
    folded = unicodedata.normalize("NFKC", text)
    if not _FAR.search(text):
        return folded.casefold() if folded == text or _same_digits(folded, text) else None
    others = [run for run in _DIGIT_RUN.findall(text) if not run.isascii()]
    if any(len(run) > 2 for run in others) or not (folded == text or _same_digits(folded, text)):
        return None
    if others:
        folded = _OTHER_DIGITS.sub(_to_ascii, folded)
    for comma in "،፣၊、":
        folded = folded.replace(comma, ",")
    return folded.casefold().replace("’", "'")


def _same_digits(folded: str, text: str) -> bool:
    """Whether NFKC made no digit of `½`, `²` or `①`, which would change the number beside it."""
    return len(_ANY_DIGIT.findall(folded)) == len(_ANY_DIGIT.findall(text))


def _to_ascii(run: re.Match[str]) -> str:
    return "".join(str(unicodedata.decimal(digit)) for digit in run[0])


def build_day(year: str, month: str, day: str) -> str | None:
    """`YYYY-MM-DD` of a day that exists in the Gregorian calendar, from the year 1; pads month and day."""
    month, day = _PADDED.get(month, ""), _PADDED.get(day, "")
    if not "01" <= day <= _LAST_DAYS.get(month, "") or year == "0000":
        return None
    if day == "29" and month == "02" and not isleap(int(year)):
        return None
    return f"{year}-{month}-{day}"


def build_time(hour: str, minute: str, second: str | None, fraction: str | None, meridiem: str | None) -> str | None:
    """`HH:MM[:SS[.fraction]]`; None for `24:00`, a leap second, and hours that AM and PM (`a`, `p`) do not count."""
    padded = _HOURS[meridiem].get(hour)
    if padded is None or minute > "59":
        return None
    if second is None:
        return f"{padded}:{minute}"
    if second > "59":
        return None
    return f"{padded}:{minute}:{second}.{fraction}" if fraction else f"{padded}:{minute}:{second}"


def build_zone(sign: str, hours: str, minutes: str | None) -> str | None:
    """`+HH:MM`, below 24 hours as in RFC 3339. `-00:00`, its unknown zone, stays as given."""
    if len(hours) == 1:
        hours = "0" + hours
    if hours > "23" or (minutes and minutes > "59"):
        return None
    return f"{sign}{hours}:{minutes or '00'}"


def find_clock(text: str, *, zoned: bool = False) -> tuple[str, str, str, str] | None:
    """(time, zone, text before, text behind) of the one time of day in the text; an empty zone: none is stated.

    None for a time that does not exist: `24:00`, `13:05 PM`, `+99:00`. zoned: None for one without a zone, too.
    """
    colon = text.find(":")
    start = colon - 2 if colon > 1 and text[colon - 2] in _DIGITS else colon - 1
    if start < 0 or (start and text[start - 1] in "0123456789.+-"):
        return None
    found = _CLOCK.match(text, start)
    if found is None:
        return None
    hour, minute, second, fraction, meridiem, gap, name, sign, hours, minutes, label = found.groups()
    if gap is None and zoned:
        return None
    time = build_time(hour, minute, second, fraction, meridiem)
    if time is None:
        return None
    zone = "" if gap is None else "Z"
    if sign:
        zone = build_zone(sign, hours, minutes) or ""
        if not zone or (label and not _names_zone(label, zone)):
            return None
        if sign == "-" and not gap and not name and second is None and zone[1:] > time:
            return None  # `20 Sep 2026 10:00-12:00` is a span of time as likely as an offset
    if text[start - 1 : start] == "t" and text[start - 2 : start - 1] in _DIGITS:
        start -= 1
    return time, zone, text[:start], text[found.end() :]


def _names_zone(label: str, zone: str) -> bool:
    """Whether brackets behind an offset hold a name, or the offset once more: `(GMT+8)`, not `(updated 3 days ago)`."""
    if not _DIGIT.search(label):
        return True
    again = _OFFSET.search(label)
    return again is not None and build_zone(*again.groups()) == zone


def read_day(text: str) -> str | None:
    """The day that a text names and nothing else; None for any order that could be read in two ways."""
    textual = _TEXTUAL.fullmatch(text)
    if textual is None:  # three numbers, or eight digits
        return _numbered_day(text)
    lead, first, gap, second, tail = textual.groups()
    if len(second) == 4 and len(first) < 3:
        return _day_before_year(lead, first, gap, second, tail)
    if len(first) == 4 and len(second) < 3:
        return _year_before_day(lead, first, gap, second, tail)
    return None


def _numbered_day(text: str) -> str | None:
    """A day whose month is a number: year first, or each number with its own sign or word."""
    numeric = _NUMERIC.fullmatch(text)
    if numeric:
        return _numeric_day(numeric)
    if "年" in text or "년" in text:
        if numbered := _IDEOGRAPHIC.fullmatch(text):
            lead, year, month, day, weekday = numbered.groups()
            behind = WEEKDAYS.get(weekday) if weekday else _EVERY_WEEKDAY
            return agreed(agreed(build_day(year, month, day), lead_weekdays(lead)), behind)
    elif " th" in text and (numbered := _VIETNAMESE.fullmatch(text)):
        lead, day, month, year = numbered.groups()
        return agreed(build_day(year, month, day), lead_weekdays(lead))
    return None


def _numeric_day(found: re.Match[str]) -> str | None:
    lead, year, mark, month, day, spaced_month, spaced_day, basic_month, basic_day, weekday = found.groups()
    if (mark in {"/", "."} or spaced_month) and year < "1800":
        return None  # `1402/02/21` is a Persian year
    built = build_day(year, month or spaced_month or basic_month, day or spaced_day or basic_day)
    if lead:
        built = agreed(built, lead_weekdays(lead))
    return agreed(built, WEEKDAYS.get(weekday)) if weekday else built


def _day_before_year(lead: str, day: str, gap: str, year: str, tail: str) -> str | None:
    """`20 September 2026`, `September 20, 2026`, and what may stand beside their parts."""
    rest = tail and tail.strip(" \t,.")
    if rest and rest not in YEAR_WORDS:
        return None
    month = find_month(gap, JOINING_WORDS)
    weekdays: tuple[int, ...] | None = None
    if month:
        weekdays = lead_weekdays(lead)
    elif month == 0:
        mark = gap.strip()
        if mark in {"-", "/"}:  # `Sep-20-2026`
            if not lead.endswith(mark):
                return None
            lead = lead[:-1]
        month, weekdays = _lead_month(lead)
    if not month or weekdays is None or (year > "2400" and THAI_OR_LAO.search(lead + gap)):
        return None  # a Thai year above 2400 counts from the Buddha
    return agreed(build_day(year, str(month), day), weekdays)


def _year_before_day(lead: str, year: str, gap: str, day: str, tail: str) -> str | None:
    """`2026 September 20`, and with the month last as in Latvian and Kazakh."""
    before, after = find_month(gap, _BEHIND_YEAR), find_month(tail, _BEHIND_DAY)
    if before is None or after is None or bool(before) == bool(after):
        return None
    if year > "2400" and THAI_OR_LAO.search(gap + tail):
        return None
    return agreed(build_day(year, str(before or after), day), lead_weekdays(lead))


def find_month(text: str, beside: frozenset[str]) -> int | None:
    """The month, 1 to 12, named in the text between two numbers; 0 where it names nothing, None for unknown words.

    beside: the words that may stand there too. An ordinal ending is taken only where the text begins with it.
    """
    name = text.strip(" \t,./")
    if not name:
        return 0
    month = MONTHS.get(name)
    if month is not None:
        return month
    ordinal = None if text[0] == " " else _ORDINAL.match(text)
    if ordinal:
        name = text[ordinal.end() :].strip(" \t,./")
    if "-" in text:
        if _SPACED_DASH.search(text):
            return None  # a dash between spaces makes a range, or parts the date from something else
        name = name.replace("-", " ")
    words = [word for word in _split(name) if word not in beside]
    return MONTHS.get(" ".join(words)) if words else 0


def _split(text: str) -> list[str]:
    """Words without their full stops: `ก.ย.` is one name, and so is `р.`."""
    return text.replace(".", "").replace(",", " ").split()


def _lead_month(lead: str) -> tuple[int | None, tuple[int, ...] | None]:
    """The month that ends the text in front of the day, and the weekdays that the rest can mean."""
    name = lead.strip(" \t,.")
    month = MONTHS.get(name)
    if month is not None:
        return month, _EVERY_WEEKDAY
    front, _, last = name.rpartition(" ")
    month = MONTHS.get(last)
    if month is not None:
        return month, lead_weekdays(front)
    words = _split(name)
    for start in range(len(words)):
        month = MONTHS.get(" ".join(words[start:]))
        if month is not None:
            return month, lead_weekdays(" ".join(words[:start]))
    return None, None


def lead_weekdays(lead: str) -> tuple[int, ...] | None:
    """Every weekday that the text in front of a date can mean, 0 for Monday; all if it is empty; None: other words."""
    name = lead and lead.strip(" \t,.")
    if not name:
        return _EVERY_WEEKDAY
    weekdays = WEEKDAYS.get(name)
    if weekdays is not None:
        return weekdays
    words = _split(name)
    if words and words[-1] == "den":  # `Sonntag, den 20. September`; the other joining words follow a number
        words.pop()
    return WEEKDAYS.get(" ".join(words)) if words else _EVERY_WEEKDAY


def agreed(day: str | None, weekdays: tuple[int, ...] | None) -> str | None:
    """The day, where the weekday stated beside it can mean that day's own; None for no weekday at all."""
    if day is None or weekdays is None:
        return None
    if weekdays is _EVERY_WEEKDAY or date.fromisoformat(day).weekday() in weekdays:
        return day
    return None
