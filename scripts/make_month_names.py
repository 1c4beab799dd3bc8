"""Writes `sdk/searchport/published_date/month_names.py` from Babel's copy of CLDR; Babel is a development dependency.

Run `python scripts/make_month_names.py` after changing `LANGUAGES` or taking a newer Babel. A test renders the module
in memory and fails when the file differs. Source: Unicode CLDR, `dates/calendars/gregorian`, https://cldr.unicode.org.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from babel import Locale
from babel.core import get_global

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OUTPUT = Path(__file__).parents[1] / "sdk/searchport/published_date/month_names.py"

# The languages with full coverage, and the regional variants whose names differ. Over all of CLDR, English `Jan`, `Mar`
# and `May` would be ambiguous, so the list is chosen, not taken whole.
CODES = """
    af am ar as az be bg bn bs ca cs cy da de el en es et eu fa fi fil fr ga gl gu he hi hr hu hy id is it ja ka kk km
    kn ko ky lo lt lv mk ml mn mr ms my nb ne nl nn no or pa pl ps pt ro ru si sk sl so sq sr sr_Latn sv sw ta te th tk
    tr uk ur uz vi yo yue zh zu en_GB en_AU en_CA en_IN es_MX es_CO pt_PT de_AT fr_CA ar_DZ ar_IQ ar_TN ar_MA ar_SY
    ar_LB uz_Cyrl az_Cyrl bs_Cyrl
"""
LANGUAGES = tuple(CODES.split())

# In wide use and not in CLDR.
MORE_MONTHS = {"sept": 9}
MORE_WEEKDAYS = {"tues": 1, "thur": 3, "thurs": 3}
MORE_YEAR_WORDS = ("г", "год", "года", "р", "рік", "року", "ж", "թ")
MORE_JOINING_WORDS = ("of", "de", "del", "di", "den")

# `年` and its like stand in the grammar: they name the number before them, and no month name is needed.
NUMBERED = {"ja", "ko", "vi", "yue", "zh"}
SKELETONS = ("yMMMd", "yMMMEd", "yMMMMd", "yMMMMEEEEd")
WIDTHS = ("wide", "abbreviated", "short")
FIELD = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|([^A-Za-z']+)")

Names = dict[str, set[int]]


def fold(name: str) -> str:
    """A name as the grammar compares it: NFKC, case folded, without full stops, with a straight apostrophe."""
    return unicodedata.normalize("NFKC", name).casefold().replace(".", "").replace("’", "'").strip()


def collect(locales: Iterable[Locale], table: str) -> Names:
    """Folded name -> every month (1 to 12) or weekday (0 is Monday) that it means in some language."""
    names: Names = defaultdict(set)
    for locale in locales:
        forms = getattr(locale, table)
        for context in ("format", "stand-alone"):
            for width in WIDTHS:
                for number, name in forms[context].get(width, {}).items():
                    if not re.search(r"\d", name):  # `9월`, `Thg 9`: the grammar reads digits as numbers
                        names[fold(name)].add(number)
    return names


def patterns(locale: Locale) -> Iterator[str]:
    """The locale's date patterns that spell a month out."""
    found = [str(pattern.pattern) for pattern in locale.date_formats.values()]
    found += [str(locale.datetime_skeletons[name].pattern) for name in SKELETONS if name in locale.datetime_skeletons]
    yield from sorted({pattern for pattern in found if re.search(r"MMM|LLL", pattern)})


def literals(pattern: str) -> Iterator[tuple[str, str, str]]:
    """(field before, literal, field after) of a CLDR pattern; a field is its letter, or nothing at an end."""
    before, text = "", ""
    for quoted, letter, plain in FIELD.findall(pattern):
        if letter:
            yield before, text, letter
            before, text = letter, ""
        else:
            text += quoted or plain
    yield before, text, ""


class Words:
    """The literal words of CLDR's date patterns, by where they stand, and the names that they are glued to."""

    def __init__(self) -> None:
        self.after_year: set[str] = set(MORE_YEAR_WORDS)
        self.after_first_year: set[str] = set()
        self.after_day: set[str] = set()
        self.joining: set[str] = set(MORE_JOINING_WORDS)
        self.month_affixes: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self.weekday_suffixes: dict[str, set[str]] = defaultdict(set)

    def read(self, language: str, pattern: str) -> None:
        for before, literal, after in literals(pattern):
            word = fold(re.sub(r"[\s,،፣၊-]+", " ", literal))
            # A weekday behind a date is not read, and so neither is the word behind it.
            if re.search(r"\w", word) and (before, after) != ("E", ""):
                self.place(language, before, literal, after, word)

    def place(self, language: str, before: str, literal: str, after: str, word: str) -> None:
        if before and before in "ML" and not literal[0].isspace():
            self.month_affixes[language].add(("", word))
        elif after and after in "ML" and not literal[-1].isspace():
            self.month_affixes[language].add((word, ""))
        elif before == "E" and not literal[0].isspace():
            self.weekday_suffixes[language].add(word)
        elif before == "y":
            (self.after_first_year if after else self.after_year).add(word)
        elif before == "d" and after in {"", "E"}:
            self.after_day.add(word)
        else:
            self.joining.add(word)


def build_tables() -> tuple[Names, Names, Words]:
    """Months, weekdays and words of all `LANGUAGES`."""
    locales = [Locale.parse(language) for language in LANGUAGES]
    months, weekdays, words = collect(locales, "months"), collect(locales, "days"), Words()
    for locale in locales:
        language = str(locale)
        if language in NUMBERED:
            continue
        for pattern in patterns(locale):
            words.read(language, pattern)
        for prefix, suffix in words.month_affixes[language]:
            for name, numbers in collect([locale], "months").items():
                months[prefix + name + suffix] |= numbers
        for suffix in words.weekday_suffixes[language]:
            for name, numbers in collect([locale], "days").items():
                weekdays[name + suffix] |= numbers
    for name, number in MORE_MONTHS.items():
        months[name].add(number)
    for name, number in MORE_WEEKDAYS.items():
        weekdays[name].add(number)
    return months, weekdays, words


def wrap(items: Iterable[str], indent: str = "    ") -> str:
    return "\n".join(
        textwrap.wrap(
            ", ".join(item.replace(" ", "\0") for item in items) + ",",
            width=118,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    ).replace("\0", " ")


def quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def render() -> str:
    """The text of the generated module."""
    months, weekdays, words = build_tables()
    ambiguous = sorted(name for name, numbers in months.items() if len(numbers) > 1)
    known = sorted((min(numbers), name) for name, numbers in months.items() if len(numbers) == 1)
    days = sorted((sorted(numbers), name) for name, numbers in weekdays.items())
    head = f'''"""Month and weekday names of {len(LANGUAGES)} languages. Generated by `scripts/make_month_names.py`.

Source: Unicode CLDR {get_global("cldr")["version"]} in Babel {version("babel")}. A name stands here after NFKC and case
folding, without full stops and with a straight apostrophe. Months count from 1, weekdays from 0 (Monday); a weekday's
name may mean more than one, and then stands for each of them.

Languages:
{textwrap.fill(" ".join(LANGUAGES), 118)}

Month names that mean two months, and so are nobody's: {", ".join(ambiguous)}.
"""
'''
    return "\n".join(
        [
            head,
            "# fmt: off",
            "# ruff: noqa: E501 - ruff counts wide letters twice",
            "MONTHS: dict[str, int] = {",
            wrap(f"{quote(name)}: {number}" for number, name in known),
            "}",
            "",
            "WEEKDAYS: dict[str, tuple[int, ...]] = {",
            wrap(f"{quote(name)}: {tuple(numbers)}" for numbers, name in days),
            "}",
            "",
            "# The literal words of CLDR's date patterns, by what they stand behind.",
            *(
                f"{name} = frozenset({{\n{wrap(quote(word) for word in sorted(found))}\n}})"
                for name, found in (
                    ("YEAR_WORDS", words.after_year),
                    ("FIRST_YEAR_WORDS", words.after_first_year - words.after_year),
                    ("DAY_WORDS", words.after_day),
                    ("JOINING_WORDS", words.joining),
                )
            ),
            "",
        ]
    )


if __name__ == "__main__":
    OUTPUT.write_text(render(), encoding="utf-8")
    print(f"wrote {OUTPUT}")
