"""When two addresses lead to the same page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport_platform.migration.likeness import find_overlap, find_percentile, normalize_url


@pytest.mark.parametrize(
    "other",
    [
        "http://example.com/a?x=1&y=2",
        "https://www.example.com/a?x=1&y=2",
        "https://EXAMPLE.com:443/a/?y=2&x=1",
        "https://example.com/a?x=1&y=2#part",
        "https://example.com/a?x=1&utm_source=g&y=2&gclid=3&srsltid=4",
        "https://example.com/%61?x=%31&y=2",
        "https://example.com./a?x=1&y=2",
    ],
)
def test_what_does_not_change_the_page_counts_for_nothing(other: str) -> None:
    assert normalize_url("https://example.com/a?x=1&y=2") == normalize_url(other)


@pytest.mark.parametrize(
    "other",
    [
        "https://example.com/b?x=1",
        "https://docs.example.com/a?x=1",
        "https://example.com/a?x=2",
        "https://example.com/a",
        "https://example.com:8443/a?x=1",
        "https://example.com/A?x=1",
    ],
)
def test_what_changes_the_page_counts(other: str) -> None:
    assert normalize_url("https://example.com/a?x=1") != normalize_url(other)


@pytest.mark.parametrize("text", ["", "mailto:a@example.com", "//example.com/", "/a", "https://", "https://exa[mple/"])
def test_what_is_no_address_of_a_page_has_none(text: str) -> None:
    assert normalize_url(text) is None


@given(st.text(max_size=40))
def test_what_is_normalized_stays_as_it_is(text: str) -> None:
    found = normalize_url(f"https://www.example.com/{text}")
    assert found is not None
    assert found == normalize_url(f"https:/{found}")


@given(st.text(max_size=40))
def test_no_text_is_too_odd(text: str) -> None:
    for url in (text, f"https://{text}"):
        assert "#" not in (normalize_url(url) or "")


def test_overlap_is_the_share_of_the_old_ten_that_the_new_ten_hold() -> None:
    old = [f"https://example.com/{n}" for n in range(4)]
    new = ["https://www.example.com/1/", "https://other.example/", "http://example.com/3"]
    assert find_overlap(old, new) == 0.5
    assert (find_overlap(old, []), find_overlap([], new)) == (0.0, None)


def test_overlap_looks_at_ten() -> None:
    old = [f"https://example.com/{n}" for n in range(20)]
    assert find_overlap(old, list(reversed(old))) == 0.0


@given(st.lists(st.floats(0, 60), min_size=1, max_size=40), st.floats(0.01, 1))
def test_a_percentile_is_a_value_that_so_many_do_not_exceed(values: list[float], share: float) -> None:
    found = find_percentile(values, share)
    assert found in values
    assert found is not None
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
