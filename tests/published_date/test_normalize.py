"""What `normalize` reads and what it passes over: the labelled cases, the rules one by one, and what always holds."""

from __future__ import annotations

import json
import re
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from searchport.published_date import normalize

if TYPE_CHECKING:
    from collections.abc import Callable

CASE_FILE = Path(__file__).parents[1] / "cases" / "dates.jsonl"
CASES = [json.loads(line) for line in CASE_FILE.read_text("utf-8").splitlines()]
DECIDED = [case for case in CASES if case["category"] != "optional"]
OPTIONAL = [case for case in CASES if case["category"] == "optional"]
SHAPE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?", re.ASCII)

PIECES = """
    2026 1999 0000 2024 2569 20 29 30 31 9 02 2 12 T t Z z UTC GMT EST +0200 +02:00 -23:59 +24:00 08:15 8:15:00 23:59:60
    12:05 .5 ,250 AM pm p.m. Sep September sept. mai März septembre de of den th st º г. року ngày tháng năm 年 月 日 년
    월 일 Sun Sunday, mar di - / . , : ( ) [ ] ' ’ | ago Published กันยายน سبتمبر ٢٠ ２０ ² ½
"""
DATE_LIKE = st.lists(st.sampled_from([*PIECES.split(), *"   \x00\ud800\u200e"]), max_size=14).map("".join)
OBJECTS = st.one_of(
    st.text(st.characters(exclude_categories=[])),
    DATE_LIKE,
    st.binary(),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.datetimes(),
    st.dates(),
    st.none(),
    st.lists(st.text()),
    st.dictionaries(st.text(), st.text()),
)
OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(timezones=OFFSETS, allow_imaginary=False)


@pytest.mark.parametrize("case", DECIDED, ids=[f"{case['category']}-{case['value']!a}" for case in DECIDED])
def test_labelled_case_holds(case: dict[str, str]) -> None:
    assert case["expected"] == normalize(case["value"])


@pytest.mark.parametrize("case", OPTIONAL, ids=[ascii(case["value"]) for case in OPTIONAL])
def test_optional_case_is_never_read_as_anything_else(case: dict[str, str]) -> None:
    assert normalize(case["value"]) in {case["expected"], None}


def test_optional_cases_that_hold_are_counted(record_property: Callable[[str, object], None]) -> None:
    """A report, not a promise: `--junit-xml` shows how many optional cases are read."""
    record_property("optional_cases_read", sum(case["expected"] == normalize(case["value"]) for case in OPTIONAL))
    record_property("optional_cases", len(OPTIONAL))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-09-20T08:15Z", "2026-09-20T08:15Z"),
        ("2026-09-20t08:15:00,250z", "2026-09-20T08:15:00.250Z"),
        ("2026-09-20 08:15:00 UT", "2026-09-20T08:15:00Z"),
        ("2026-09-20T08:15:00+02", "2026-09-20T08:15:00+02:00"),
        ("2026-09-20T08:15:00-00:00", "2026-09-20T08:15:00-00:00"),
        ("2026-09-20T08:15:00+23:59", "2026-09-20T08:15:00+23:59"),
        ("2026-09-20T08:15:00+02:00[Europe/Berlin]", "2026-09-20T08:15:00+02:00"),
        ("20260920T0815Z", "2026-09-20T08:15Z"),
        ("2026. 9. 5.", "2026-09-05"),
        ("Sunday, 2026-09-20", "2026-09-20"),
        ("2026年９月２０日", "2026-09-20"),
        ("2024-02-29", "2024-02-29"),
        ("2000-02-29T10:00Z", "2000-02-29T10:00Z"),
    ],
)
def test_year_first_number_is_respelled(written: str, expected: str) -> None:
    assert expected == normalize(written)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("20th of September, 2026", "2026-09-20"),
        ("20SEP2026", "2026-09-20"),
        ("Sep-20-2026", "2026-09-20"),
        ("2026. gada 20. septembris", "2026-09-20"),
        ("2026 m. rugsėjo 20 d.", "2026-09-20"),
        ("2026(e)ko irailaren 20(a)", "2026-09-20"),
        ("יום ראשון, 20 בספטמבר 2026", "2026-09-20"),
        ("الأحد، 20 سبتمبر 2026", "2026-09-20"),
        ("20 ก.ย. 2026", "2026-09-20"),
        ("Chủ Nhật, ngày 20 tháng 9 năm 2026", "2026-09-20"),
        ("20 thg 9, 2026", "2026-09-20"),
        ("1º de enero de 2026", "2026-01-01"),
        ("20 d'abril de 2026", "2026-04-20"),
        ("3 mar 2026", "2026-03-03"),
        ("mar 3 mar 2026", "2026-03-03"),
    ],
)
def test_month_in_words_is_read_in_any_usual_order(written: str, expected: str) -> None:
    assert expected == normalize(written)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Sun Sep 20 2026 10:15:30 GMT+0200 (CEST)", "2026-09-20T10:15:30+02:00"),
        ("Sun Sep 20 10:15:30 GMT+02:00 2026", "2026-09-20T10:15:30+02:00"),
        ("Sun Sep 20 10:15:30 UTC 2026", "2026-09-20T10:15:30Z"),
        ("Sun, 20 Sep 2026 10:15 +0200 (MESZ)", "2026-09-20T10:15+02:00"),
        ("Sep 20, 2026 12:05 AM UTC", "2026-09-20T00:05Z"),
        ("Sep 20, 2026 12:05 p.m. UTC", "2026-09-20T12:05Z"),
        ("15:05 GMT, 20 September 2026", "2026-09-20T15:05Z"),
        ("2026/09/20 03:05:00 PM +0200", "2026-09-20T15:05:00+02:00"),
        ("20 Sep 2026 20:15-05:00", "2026-09-20T20:15-05:00"),
        ("Sep 20, 2026, 3:05 PM GMT+0", "2026-09-20T15:05+00:00"),
        ("Sep 20, 2026 10:15 +0800 (GMT+8)", "2026-09-20T10:15+08:00"),
    ],
)
def test_date_in_words_with_a_stated_zone_becomes_a_date_time(written: str, expected: str) -> None:
    assert expected == normalize(written)


@pytest.mark.parametrize("written", ["2026-09-20T08:15", "Sep 20, 2026 3:05 PM", "20260920T081500", "20260920081500"])
def test_zone_less_time_is_skipped(written: str) -> None:
    assert normalize(written) is None


@pytest.mark.parametrize("written", ["Sep 20, 2026 10:15 EST", "2026-09-20T10:15CEST", "Sep 20, 2026 10:15 +0200 CEST"])
def test_zone_abbreviation_is_skipped(written: str) -> None:
    assert normalize(written) is None


@pytest.mark.parametrize(
    "written",
    [
        "2026-09-20T24:00Z",
        "2016-12-31T23:59:60Z",
        "2026-09-20T08:60Z",
        "Sep 20, 2026 0:05 AM UTC",
        "Sep 20, 2026 13:05 PM UTC",
    ],
)
def test_time_that_does_not_exist_is_skipped(written: str) -> None:
    assert normalize(written) is None


@pytest.mark.parametrize(
    "written", ["2026-02-29", "1900-02-29", "0000-01-01", "31 June 2026", "2023-02-29T10:00Z", "30 Feb 2026"]
)
def test_day_that_does_not_exist_is_skipped(written: str) -> None:
    assert normalize(written) is None


@pytest.mark.parametrize(
    "written",
    [
        "2026-09-20T08:15+24:00",
        "2026-09-20T08:15:00+02:",
        "2026-09-20T08:15+053",
        "2026-09-20T08:15+02:60",
        "Sep 20, 2026 08:15 UTC+24",
    ],
)
def test_offset_that_is_none_or_a_day_is_skipped(written: str) -> None:
    assert normalize(written) is None


@pytest.mark.parametrize("written", ["09/20/2026", "20.09.2026", "20-09-2026", "03/04/2026", "20.09.2026 08:15 UTC"])
def test_day_or_month_first_number_is_skipped(written: str) -> None:
    assert normalize(written) is None


@pytest.mark.parametrize("written", ["20 lip 2026", "1. srp 2026", "20. listopada 2026", "20 Listopad 2026"])
def test_month_name_of_two_languages_is_nobodys(written: str) -> None:
    assert normalize(written) is None


@pytest.mark.parametrize(
    "written", ["1402/02/21", "1402.02.21", "1799/12/31", "20 กันยายน 2569", "２０２６-09-20", "２０26-09-20"]
)
def test_year_of_another_calendar_is_skipped(written: str) -> None:
    assert normalize(written) is None


@pytest.mark.parametrize("written", ["²0 Sep 2026", "½0 Sep 2026", "202⁶-09-20", "① September 2026"])
def test_number_that_is_no_digit_is_skipped(written: str) -> None:
    assert normalize(written) is None


@pytest.mark.parametrize("written", ["Mon, 20 Sep 2026", "lundi 20 septembre 2026", "di 21 sept 2026", "Monday, 2026-09-20"])
def test_weekday_that_contradicts_in_every_language_is_skipped(written: str) -> None:
    assert normalize(written) is None


@pytest.mark.parametrize("written", ["di 20 sept 2026", "di 22 sept 2026"])
def test_weekday_that_agrees_in_one_language_is_taken(written: str) -> None:
    """`di` is French for Sunday and German for Tuesday."""
    assert normalize(written) is not None


@pytest.mark.parametrize(
    "written",
    ["20 Sep 2026 10:00-12:00", "20 Sep 2026 10:00 - 12:00", "20 - Sep - 2026", "10 Aug - Sep 2026", "2026-09-20/21"],
)
def test_span_is_skipped(written: str) -> None:
    assert normalize(written) is None


@pytest.mark.parametrize("word", ["at", "of", "um", "on", "|", "Published", "–", "/", "the"])
def test_surrounding_word_is_skipped(word: str) -> None:
    assert [normalize(f"{word} Sep 20, 2026"), normalize(f"Sep 20, 2026 {word} 08:15 UTC")] == [None, None]


def test_bracketed_text_that_is_no_zone_is_skipped() -> None:
    assert normalize("Sep 20, 2026 10:15 +0200 (updated 3 days ago)") is None


def test_bracketed_offset_that_contradicts_is_skipped() -> None:
    assert normalize("Sep 20, 2026 10:15 +0800 (GMT+09:00)") is None


def test_more_than_100_characters_are_skipped() -> None:
    assert [normalize("2026-09-20".ljust(100)), normalize("2026-09-20".ljust(101))] == ["2026-09-20", None]


def test_value_that_respelling_makes_too_long_is_skipped() -> None:
    """Else `normalize` would refuse what it gave."""
    assert normalize(f"20260920T081500.{'5' * 83}Z") is None


@pytest.mark.parametrize(
    "value",
    [1789891200, 1.5, True, None, b"2026-09-20", date(2026, 9, 20), datetime(2026, 9, 20), {}, ["2026-09-20"]],  # noqa: DTZ001
)
def test_only_text_is_a_date(value: object) -> None:
    assert normalize(value) is None


def test_str_subclass_loses_its_methods() -> None:
    class Odd(str):
        __slots__ = ()

        def strip(self, *_: object) -> str:
            raise RuntimeError

        def __len__(self) -> int:
            raise RuntimeError

        __str__ = __eq__ = __hash__ = strip  # type: ignore[assignment]

    assert normalize(Odd(" 2026-09-20")) == "2026-09-20"
    assert type(normalize(Odd("2026-09-20"))) is str


def test_object_that_lies_about_its_class_is_skipped() -> None:
    class Liar:
        @property  # type: ignore[misc]
        def __class__(self) -> type:
            raise RuntimeError

    assert normalize(Liar()) is None


@given(OBJECTS)
@example("9" * 10_000)
@example("\ud8002026-09-20")
@example("Sep 20, 2026 \x00")
def test_output_is_a_real_day_in_one_of_two_shapes_and_a_fixed_point(value: object) -> None:
    found = normalize(value)
    if found is not None:
        assert SHAPE.fullmatch(found)
        assert datetime.fromisoformat(found)
        assert found == normalize(found)


@given(DATE_LIKE)
def test_no_digit_of_the_day_is_invented(value: str) -> None:
    found = normalize(value)
    if found is not None:
        assert found[:4] in value


@given(MOMENTS, st.sampled_from(["seconds", "milliseconds", "microseconds", "minutes"]))
def test_iso_date_time_is_kept_as_it_is(moment: datetime, precision: str) -> None:
    assert moment.isoformat(timespec=precision) == normalize(moment.isoformat(timespec=precision))


@given(
    MOMENTS,
    st.sampled_from(
        [
            "%a, {d} %b {y} %H:%M:%S %z",
            "%a %b {d} {y} %H:%M:%S GMT%z (XYZ)",
            "%a %b {d} %H:%M:%S %z {y}",
            "%B {d}, {y}, %I:%M:%S %p %z",
            "{y}/%m/{d} %H:%M:%S %z",
            "{y}年%m月{d}日 %H:%M:%S %z",
            "{y}%m{d}T%H%M%S%z",
        ]
    ),
)
def test_any_spelling_of_an_instant_gives_that_instant(moment: datetime, pattern: str) -> None:
    moment = moment.replace(microsecond=0)
    written = moment.strftime(pattern.format(y=f"{moment.year:04}", d=f"{moment.day:02}"))
    if pattern.startswith("{y}/") and moment.year < 1800:
        assert normalize(written) is None
    else:
        assert moment.isoformat() == normalize(written)
