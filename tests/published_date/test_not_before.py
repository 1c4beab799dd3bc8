"""The bounds: exact where the rules say which, and never later than any instant that the value allows."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport.published_date import normalize, not_before

CASE_FILE = Path(__file__).parents[1] / "cases" / "dates.jsonl"
VALUES = [json.loads(line)["value"] for line in CASE_FILE.read_text("utf-8").splitlines()]
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
# Every zone on Earth, from Baker Island to Kiribati.
ZONES = st.integers(-12 * 4, 14 * 4).map(lambda quarters: timezone(timedelta(minutes=15 * quarters)))
MOMENTS = st.datetimes(min_value=datetime(1900, 1, 2), max_value=datetime(2399, 12, 30), timezones=ZONES)  # noqa: DTZ001


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize("value", VALUES)
def test_value_that_normalises_gives_its_own_instant(value: str) -> None:
    found = normalize(value)
    if found is not None:
        moment = datetime.fromisoformat(found)
        assert (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) == not_before(value, NOW)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-09-20T08:15:00", "2026-09-19T18:15"),
        ("2026-09-20T00:00:00.0000000", "2026-09-19T10:00"),
        ("20260920T081500", "2026-09-19T18:15"),
        ("2026/09/20 08:15", "2026-09-19T18:15"),
        ("Sep 20, 2026 8:15 PM", "2026-09-20T06:15"),
        ("20:15, 20 Sep 2026", "2026-09-20T06:15"),
        ("Sun Sep 20 08:15:00 2026", "2026-09-19T18:15"),
        ("2026年9月20日 8時15分", "2026-09-19T18:15"),
    ],
)
def test_zone_less_time_gives_its_utc_reading_less_14_hours(value: str, expected: str) -> None:
    assert at(expected) == not_before(value, NOW)


@pytest.mark.parametrize(
    "value",
    [
        "Sep 20, 2026 8:15 AM EST",
        "Sun Sep 20 08:15:00 CEST 2026",
        "2026-09-20T08:15CDT",
        "2026-09-20 08:15 Europe/Berlin",
    ],
)
def test_unknown_zone_gives_the_utc_reading_less_14_hours(value: str) -> None:
    assert datetime(2026, 9, 19, 18, 15, tzinfo=UTC) == not_before(value, NOW)


def test_twelve_with_an_unknown_word_may_be_midnight() -> None:
    """Swedish `fm` is the morning, so 12:15 may be 00:15."""
    assert at("2026-09-19T10:15") == not_before("20 Sep 2026 12:15 fm", NOW)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("September 2026", "2026-08-31T10:00"),
        ("sept. 2026", "2026-08-31T10:00"),
        ("2026-09", "2026-08-31T10:00"),
        ("2026/9", "2026-08-31T10:00"),
        ("09/2026", "2026-08-31T10:00"),
        ("2026年9月", "2026-08-31T10:00"),
        ("tháng 9 năm 2026", "2026-08-31T10:00"),
        ("2026", "2025-12-31T10:00"),
    ],
)
def test_month_or_year_alone_gives_its_first_moment_less_14_hours(value: str, expected: str) -> None:
    assert at(expected) == not_before(value, NOW)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("03/04/2026", "2026-03-04T00:00"),
        ("04.03.2026", "2026-03-04T00:00"),
        ("09/20/2026", "2026-09-20T00:00"),
        ("20.09.2026", "2026-09-20T00:00"),
        ("04/03/2026 08:15", "2026-03-03T18:15"),
        ("Sunday, 05/04/2026", "2026-04-05T00:00"),
    ],
)
def test_day_and_month_in_doubt_give_the_earlier_reading(value: str, expected: str) -> None:
    assert at(expected) == not_before(value, NOW)


@pytest.mark.parametrize(
    ("value", "age"),
    [
        ("30 seconds ago", timedelta(seconds=31)),
        ("1 minute ago", timedelta(minutes=2)),
        ("an hour ago", timedelta(hours=2)),
        ("2h ago", timedelta(hours=3)),
        ("17 Hours Ago", timedelta(hours=18)),
        (" 3 days ago\n", timedelta(days=4)),
        ("a day ago", timedelta(days=2)),
        ("yesterday", timedelta(days=2)),
        ("today", timedelta(days=1)),
        ("2 weeks ago", timedelta(weeks=3)),
        ("1 month ago", timedelta(days=62)),
        ("3 years ago", timedelta(days=4 * 366)),
    ],
)
def test_english_age_gives_one_unit_more(value: str, age: timedelta) -> None:
    assert NOW - age == not_before(value, NOW)


@pytest.mark.parametrize(
    "value",
    [
        "Posted 1 day ago", "il y a 3 mois", "5m ago", "a few days ago", "aday ago", "about 3 hours ago",
        "999999 years ago", "03/04/26", "20 Sep 26", "31/31/2026", "1402/02/21", "2569", "20 กันยายน 2569 10:00",
        "Sep 20-22, 2026", "Sep 20, 2026 24:00", "Mon, 20 Sep 2026 08:15", "listopad 2026", "201508", "1789891200",
        "", "2015-2016",
    ],
)  # fmt: skip
def test_value_that_proves_nothing_has_no_bound(value: str) -> None:
    assert not_before(value, NOW) is None


@pytest.mark.parametrize("value", [1789891200, True, None, b"2026", NOW, {}, "2 days ago".ljust(101)])
def test_only_short_text_has_a_bound(value: object) -> None:
    assert not_before(value, NOW) is None


@pytest.mark.parametrize("value", ["0001-01-01T00:00:00", "0001-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59-14:00"])
def test_bound_outside_the_years_that_exist_is_none(value: str) -> None:
    assert not_before(value, NOW) is None


def test_age_counts_from_an_answer_in_any_zone() -> None:
    answered = NOW.astimezone(timezone(timedelta(hours=9)))
    assert (NOW - timedelta(days=4), UTC) == ((bound := not_before("3 days ago", answered)), bound and bound.tzinfo)


@given(st.one_of(st.text(st.characters(exclude_categories=[])), st.sampled_from(VALUES), st.integers(), st.binary()))
def test_bound_is_in_utc_and_never_raises(value: object) -> None:
    bound = not_before(value, NOW)
    assert bound is None or bound.tzinfo is UTC


@given(
    MOMENTS,
    st.sampled_from(
        [
            "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y%m%dT%H%M%S", "%Y/%m/%d %H:%M", "%B %d, %Y %I:%M %p",
            "%H:%M, %d %b %Y", "%a %b %d %H:%M:%S %Y", "%a, %d %b %Y %H:%M:%S EST", "%d.%m.%Y %H:%M",
            "%m/%d/%Y %I:%M %p", "%B %Y", "%Y-%m", "%Y",
        ]
    ),
)  # fmt: skip
def test_bound_is_never_later_than_the_instant_behind_a_vague_date(moment: datetime, pattern: str) -> None:
    bound = not_before(moment.strftime(pattern), NOW)
    assert bound is not None
    assert bound <= moment


@given(st.dates(min_value=date(1900, 1, 1)), st.sampled_from(["%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%m-%d-%Y"]))
def test_bound_of_a_day_in_doubt_is_never_later_than_that_day_read_as_a_calendar_date(day: date, pattern: str) -> None:
    bound, stated = not_before(day.strftime(pattern), NOW), not_before(day.isoformat(), NOW)
    assert bound is not None
    assert stated is not None
    assert bound <= stated


UNITS = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 7 * 86400,
    "month": 30 * 86400,
    "year": 365 * 86400,
}


@given(st.sampled_from(sorted(UNITS)), st.integers(1, 400), st.floats(0, 1, exclude_max=True))
def test_bound_is_never_later_than_the_instant_behind_an_age(unit: str, count: int, share: float) -> None:
    """A vendor rounds down: an age of 3.9 days is "3 days ago"."""
    bound = not_before(f"{count} {unit}{'s' * (count > 1)} ago", NOW)
    assert bound is not None
    assert bound <= NOW - timedelta(seconds=(count + share) * UNITS[unit])
