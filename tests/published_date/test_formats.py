"""Documented formats and epoch numbers, which only a provider's file can know."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime

import pytest
from dateutil import tz
from hypothesis import given
from hypothesis import strategies as st

from searchport.published_date import from_epoch, from_format, normalize

BERLIN = tz.gettz("Europe/Berlin")
ANYTHING = st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.binary(), st.lists(st.integers()))


@pytest.mark.parametrize(
    ("value", "format_", "expected"),
    [
        ("31.12.2026", "%d.%m.%Y", "2026-12-31"),
        (" 31.12.2026\n", "%d.%m.%Y", "2026-12-31"),
        ("12/31/26", "%m/%d/%y", "2026-12-31"),
        ("2026-365", "%Y-%j", "2026-12-31"),
        ("31.12.2026 08:15 +0200", "%d.%m.%Y %H:%M %z", "2026-12-31T08:15+02:00"),
        ("31.12.2026 08:15:00.250 +0000", "%d.%m.%Y %H:%M:%S.%f %z", "2026-12-31T08:15:00.250000Z"),
        ("31 Dec 2026 08:15 PM Z", "%d %b %Y %I:%M %p %z", "2026-12-31T20:15Z"),
    ],
)
def test_documented_format_is_converted(value: str, format_: str, expected: str) -> None:
    assert expected == from_format(value, format_)


def test_formats_are_tried_in_order() -> None:
    assert from_format("31/12/2026", "%d.%m.%Y", "%d/%m/%Y") == "2026-12-31"


@pytest.mark.parametrize(
    ("value", "expected"),
    [("2026-01-15 08:15", "2026-01-15T08:15+01:00"), ("2026-07-15 08:15", "2026-07-15T08:15+02:00")],
)
def test_documented_zone_gives_the_offset_of_that_day(value: str, expected: str) -> None:
    assert expected == from_format(value, "%Y-%m-%d %H:%M", zone=BERLIN)


def test_documented_utc_is_written_as_z() -> None:
    assert from_format("2026-01-15 08:15:00", "%Y-%m-%d %H:%M:%S", zone=UTC) == "2026-01-15T08:15:00Z"


def test_time_without_any_zone_is_skipped() -> None:
    assert from_format("2026-01-15 08:15", "%Y-%m-%d %H:%M") is None


@pytest.mark.parametrize("value", ["2026-03-29 02:30", "2026-10-25 02:30"])
def test_local_time_that_summer_time_skips_or_repeats_is_skipped(value: str) -> None:
    assert from_format(value, "%Y-%m-%d %H:%M", zone=BERLIN) is None


def test_offset_with_seconds_is_skipped() -> None:
    assert from_format("31.12.1880 08:15 +00:53:28", "%d.%m.%Y %H:%M %z") is None


@pytest.mark.parametrize("value", ["31.2.2026", "2026-12-31", "", "31.12.2026 x", "31.12.0000", None, 5, b"31.12.2026", date.max])
def test_value_that_does_not_fit_is_skipped(value: object) -> None:
    assert from_format(value, "%d.%m.%Y") is None


@pytest.mark.parametrize("format_", ["%Y", "%Y-%m", "%m/%d", "%H:%M", "%Y-%m-%d %H", "%Y-%m-%d %I:%M", "%c", "%x", "%d.%m.%Y %Z"])
def test_format_that_would_have_to_guess_is_refused(format_: str) -> None:
    with pytest.raises(ValueError, match="format"):
        from_format("31.12.2026", format_)


@given(ANYTHING)
def test_from_format_never_raises_on_a_vendors_value(value: object) -> None:
    found = from_format(value, "%d.%m.%Y", "%Y-%m-%dT%H:%M:%S%z")
    assert found is None or found == normalize(found)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1789891200, "2026-09-20T08:00:00Z"), (1, "1970-01-01T00:00:01Z"), (1789891200.25, "2026-09-20T08:00:00.250Z")],
)
def test_epoch_seconds_become_a_utc_time(value: float, expected: str) -> None:
    assert expected == from_epoch(value)


@pytest.mark.parametrize(
    ("value", "expected"), [(1789891200000, "2026-09-20T08:00:00Z"), (1789891200250, "2026-09-20T08:00:00.250Z")]
)
def test_epoch_milliseconds_keep_their_fraction(value: int, expected: str) -> None:
    assert expected == from_epoch(value, unit="milliseconds")


@pytest.mark.parametrize(
    "value",
    [True, False, 0, -1, math.nan, math.inf, -math.inf, 10**400, 1789891200000, 253402300800, "1789891200", None, [1]],
)
def test_number_that_is_no_time_is_skipped(value: object) -> None:
    assert from_epoch(value) is None


@given(st.integers(1, 253402300799))
def test_epoch_second_gives_its_own_instant(value: int) -> None:
    found = from_epoch(value)
    assert found is not None
    assert value == datetime.fromisoformat(found).timestamp()
    assert found == normalize(found)


@given(ANYTHING, st.sampled_from(["seconds", "milliseconds"]))
def test_from_epoch_never_raises(value: object, unit: str) -> None:
    found = from_epoch(value, unit=unit)  # type: ignore[arg-type]
    assert found is None or found == normalize(found)
