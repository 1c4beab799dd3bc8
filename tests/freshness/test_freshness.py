"""Durations of fixed length: what is taken, what is refused with which words, and the instant they give."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport.errors import ErrorCode, SearchError
from searchport.freshness import Freshness

HUNDRED_YEARS = timedelta(days=36_525)
FACTORS = {
    "W": timedelta(weeks=1),
    "D": timedelta(days=1),
    "H": timedelta(hours=1),
    "M": timedelta(minutes=1),
    "S": timedelta(seconds=1),
}


def refusal(text: object) -> str:
    with pytest.raises(SearchError) as caught:
        Freshness.parse(text)  # type: ignore[arg-type]
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    (fault,) = caught.value.faults
    assert fault.path == "$.freshness"
    return fault.message


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("P7D", timedelta(days=7)),
        ("P4W", timedelta(days=28)),
        ("PT12H", timedelta(hours=12)),
        ("PT30M", timedelta(minutes=30)),
        ("PT1S", timedelta(seconds=1)),
        ("P1DT12H", timedelta(days=1, hours=12)),
        ("P1W2D", timedelta(days=9)),
        ("P0DT1M", timedelta(minutes=1)),
        ("PT90M", timedelta(minutes=90)),
        ("P36525D", HUNDRED_YEARS),
    ],
)
def test_a_fixed_length_is_read(text: str, duration: timedelta) -> None:
    assert Freshness.parse(text).duration == duration


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P1M", "'P1M' has no fixed length; write 'P30D'"),
        ("P1Y", "'P1Y' has no fixed length; write 'P365D'"),
        ("P1Y2M3DT4H", "'P1Y2M3DT4H' has no fixed length; write 'P428DT4H'"),
        ("p7d", "'p7d' is not in upper case; write 'P7D'"),
        ("P36526D", "'P36526D' is longer than 100 years; write 'P36525D' or less, or leave the option out"),
    ],
)
def test_a_refusal_says_what_to_write(text: str, message: str) -> None:
    assert refusal(text) == message


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("P0D", "is no time at all"),
        ("P0W0DT0H0M0S", "is no time at all"),
        ("P1.5D", "has a fraction"),
        ("PT0,5H", "has a fraction"),
        ("-P1D", "has a sign"),
        ("+P1D", "has a sign"),
        ("P99999Y", "has no fixed length"),
        ("P3155760001S", "is not a duration"),
        ("PT3155760001S", "is longer than 100 years"),
        ("P" + "9" * 90 + "D", "is longer than 100 years"),
        ("P" + "9" * 5_000 + "D", "is longer than 100 characters"),
        (7, "is not a string"),
        (True, "is not a string"),
        (None, "is not a string"),
        (b"P7D", "is not a string"),
        (timedelta(days=7), "is not a string"),
    ],
)
def test_a_refusal_names_the_reason(text: object, clause: str) -> None:
    assert clause in refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "P",
        "PT",
        "P1DT",
        "7D",
        "P7",
        "P-1D",
        "P1D1W",
        "PT1M1H",
        "P1H",
        "P٣D",
        "P1D ",
        " P1D",
        "P1D\n",
        "P1D/P2D",
        "week",
        "P7Dé",
    ],
)
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    assert "such as 'P7D'" in refusal(text)


def test_the_text_stays_as_it_was_written() -> None:
    assert str(Freshness.parse("P0W7DT0H")) == "P0W7DT0H"


@pytest.mark.parametrize(("text", "days"), [("PT1S", 1), ("PT24H", 1), ("PT25H", 2), ("P7D", 7), ("P7DT1S", 8), ("P4W", 28)])
def test_days_are_rounded_up(text: str, days: int) -> None:
    assert Freshness.parse(text).days == days


def test_since_counts_back_from_now_in_utc() -> None:
    now = datetime(2026, 11, 30, 1, 0, tzinfo=timezone(timedelta(hours=2)))
    assert Freshness.parse("PT30M").since(now) == datetime(2026, 11, 29, 22, 30, tzinfo=UTC)
    assert Freshness.parse("PT30M").since(now).tzinfo is UTC


def test_since_counts_real_hours_over_a_clock_change() -> None:
    noon = datetime(2026, 3, 29, 12, 0, tzinfo=ZoneInfo("Europe/Berlin"))
    assert Freshness.parse("PT12H").since(noon) == datetime(2026, 3, 28, 22, 0, tzinfo=UTC)


def test_since_heeds_the_second_reading_of_an_hour() -> None:
    later = datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin"))
    assert Freshness.parse("PT1H").since(later) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


def test_since_refuses_a_time_without_zone() -> None:
    with pytest.raises(ValueError, match="no zone"):
        Freshness.parse("P7D").since(datetime(2026, 11, 30))  # noqa: DTZ001


def test_since_stops_at_the_first_instant_that_exists() -> None:
    assert Freshness.parse("P36525D").since(datetime(50, 1, 1, tzinfo=UTC)) == datetime.min.replace(tzinfo=UTC)


def test_since_stops_at_the_last_instant_that_exists() -> None:
    west = timezone(timedelta(hours=-5))
    assert Freshness.parse("PT1S").since(datetime.max.replace(tzinfo=west)) == datetime.max.replace(tzinfo=UTC)


@given(st.dictionaries(st.sampled_from("WDHMS"), st.integers(0, 999), min_size=1))
def test_a_duration_is_the_sum_of_its_parts(parts: dict[str, int]) -> None:
    date = "".join(f"{parts[unit]}{unit}" for unit in "WD" if unit in parts)
    time = "".join(f"{parts[unit]}{unit}" for unit in "HMS" if unit in parts)
    text = f"P{date}T{time}" if time else f"P{date}"
    total = sum((count * FACTORS[unit] for unit, count in parts.items()), timedelta())
    if total:
        assert Freshness.parse(text).duration == total
    else:
        refusal(text)


@given(st.datetimes(timezones=st.timezones()), st.integers(1, 36_525 * 86_400))
def test_since_is_the_duration_before_now(now: datetime, seconds: int) -> None:
    freshness = Freshness.parse(f"PT{seconds}S")
    try:
        expected = now.astimezone(UTC) - freshness.duration
    except OverflowError:
        expected = datetime.min.replace(tzinfo=UTC)
    assert freshness.since(now) == expected


@given(st.text("PTYMWDHS0123456789.,-+ ٣é", max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        freshness = Freshness.parse(text)
    except SearchError:
        return
    assert timedelta() < freshness.duration <= HUNDRED_YEARS
    assert Freshness.parse(str(freshness)) == freshness
