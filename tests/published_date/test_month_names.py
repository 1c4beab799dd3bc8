"""The generated names: never stale, and enough for every date pattern of CLDR that they were made from."""

from __future__ import annotations

import importlib.util
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from babel import Locale
from babel.dates import parse_pattern

from searchport.published_date import normalize
from searchport.published_date.month_names import MONTHS, WEEKDAYS

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = Path(__file__).parents[2] / "scripts" / "make_month_names.py"
DAYS = [date(2026, month, day) for month in range(1, 13) for day in (2, 20)]
# `lip`, `srp`, `listopad` and their cases; `1-р сар` has a number for a name; Thai states its era.
UNREAD = {"hr": 6, "pl": 4, "cs": 2, "mn": 24, "th": 24, "vi": 24}


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_month_names", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


script = load_script()


def test_generated_module_is_up_to_date() -> None:
    assert script.render() == script.OUTPUT.read_text("utf-8")


def test_ambiguous_months_are_left_out() -> None:
    assert not {"lip", "lis", "listopad", "listopada", "srp"} & MONTHS.keys()


def test_nineteen_weekday_names_mean_two_days() -> None:
    assert sum(len(days) == 2 for days in WEEKDAYS.values()) == 19


@pytest.mark.parametrize("language", script.LANGUAGES)
def test_every_date_that_a_language_writes_is_read_right_or_not_at_all(language: str) -> None:
    """A weekday behind the date is not read; the rest is, but for the names that are nobody's."""
    locale = Locale.parse(language)
    for pattern in script.patterns(locale):
        written = [(day, parse_pattern(pattern).apply(day, locale)) for day in DAYS]
        found = [(day, normalize(text)) for day, text in written]
        assert all(read in {None, day.isoformat()} for day, read in found), pattern
        if not pattern.rstrip(")").endswith(("E", "'гараг'")):
            assert sum(read is None for _, read in found) <= UNREAD.get(language, 0), pattern
