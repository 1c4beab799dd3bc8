"""The date that a page states for itself: the labelled metatags of Google's answers, and the order of the tags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport.published_date import PUBLISHED_TAGS, first_stated, normalize

if TYPE_CHECKING:
    from collections.abc import Mapping

CASE_FILE = Path(__file__).parents[1] / "cases" / "cse_metatags.jsonl"
CASES = [json.loads(line) for line in CASE_FILE.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[f"{number}-{case['group']}" for number, case in enumerate(CASES)])
def test_labelled_metatags_hold(case: dict[str, object]) -> None:
    assert case["expected"] == normalize(first_stated(case["metatags"], PUBLISHED_TAGS))


def test_first_tag_that_normalises_wins_and_keeps_its_text() -> None:
    tags = {"date": "Sep 20, 2026", "pubdate": "20.09.2026", "dc.date": "2026-09-21"}
    assert first_stated(tags, PUBLISHED_TAGS) == "Sep 20, 2026"


def test_first_text_that_is_not_blank_is_kept_for_its_bound() -> None:
    tags = {"article:published_time": " ", "datepublished": 5, "pubdate": "2026-09-20T08:15:00", "date": "20.09.2026"}
    assert first_stated(tags, PUBLISHED_TAGS) == "2026-09-20T08:15:00"


def test_tag_that_is_not_asked_for_is_passed_over() -> None:
    assert first_stated({"last-modified": "2026-09-20"}, PUBLISHED_TAGS) is None


@given(
    st.one_of(st.none(), st.text(), st.integers(), st.lists(st.text())),
    st.dictionaries(st.sampled_from(PUBLISHED_TAGS), st.one_of(st.text(), st.integers(), st.none(), st.lists(st.text()))),
)
def test_metatags_of_any_type_never_raise(value: object, tags: Mapping[str, object]) -> None:
    assert first_stated(value, PUBLISHED_TAGS) is None
    found = first_stated(tags, PUBLISHED_TAGS)
    assert found is None or found in tags.values()
