"""Bounded decoding."""

from __future__ import annotations

import contextlib
import json
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport.egress.json_text import MAX_DEPTH, MalformedJsonError, loads

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def reason(data: bytes | str, *, refuse_duplicate_keys: bool = False) -> str:
    with pytest.raises(MalformedJsonError) as caught:
        loads(data, refuse_duplicate_keys=refuse_duplicate_keys)
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)
    return caught.value.reason


@given(VALUES)
def test_what_json_can_say_is_read_back(value: object) -> None:
    assert loads(json.dumps(value)) == value
    assert loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")) is not ...


@given(st.one_of(st.binary(), st.text()))
def test_any_input_decodes_or_is_malformed(data: bytes | str) -> None:
    with contextlib.suppress(MalformedJsonError):
        loads(data, refuse_duplicate_keys=True)


@pytest.mark.parametrize("shape", ["[", '{"a":', '[{"a":'])
def test_64_levels_are_read_and_65_are_not(shape: str) -> None:
    levels = shape.count("[") + shape.count("{")

    def nested(depth: int) -> str:
        opening = (shape * depth)[: len(shape) * (depth // levels)]
        return opening + "1" + "".join({"[": "]", "{": "}"}[c] for c in reversed(opening) if c in "[{")

    assert loads(nested(MAX_DEPTH)) is not None
    assert reason(nested(MAX_DEPTH + levels)) == "it is nested more than 64 levels deep"


def test_brackets_in_strings_are_not_levels() -> None:
    text = json.dumps(["[" * 100, '\\"' + "{" * 100, "}]" * 100])
    assert loads(text) == json.loads(text)


def test_many_lists_side_by_side_are_not_deep() -> None:
    assert loads("[" + "[]," * 1000 + "[]]") == [[]] * 1001


@pytest.mark.parametrize("data", ["[" * 2_000_000, "[" * 100 + '"' + '\\"' * 1_000_000, "[]" * 1_000_000, '"' * 1_000_001])
def test_hostile_text_is_refused_in_no_time(data: str) -> None:
    started = time.process_time()
    reason(data)
    assert time.process_time() - started < 2.0


def test_depth_does_not_depend_on_the_recursion_limit() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        assert reason("[" * 500_000) == "it is nested more than 64 levels deep"
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        ("\ufeff", "it is empty"),
        (b"\xff\xfe[\x00]\x00", "it is not UTF-8"),
        (b'"\xed\xa0\x80"', "it is not UTF-8"),
        ("{'a': 1}", "it is not JSON"),
        ('"\n"', "it is not JSON"),
        ("[1,]", "it is not JSON"),
        ("-Infinity", "it holds NaN or Infinity"),
        ("[1e999]", "it holds a number that is too large"),
        ("1" * 1001, "it holds an integer of more than 1,000 digits"),
        ("-" + "1" * 1001, "it holds an integer of more than 1,000 digits"),
    ],
)
def test_malformed_text_is_named_by_its_fault(data: bytes | str, why: str) -> None:
    assert reason(data) == why


def test_a_byte_order_mark_is_passed_over() -> None:
    assert loads(b"\xef\xbb\xbf[]") == loads("\ufeff[]") == []


def test_the_last_of_equal_keys_counts_unless_they_are_refused() -> None:
    text = '{"a": {"b": 1, "b": 2}}'
    assert loads(text) == {"a": {"b": 2}}
    assert reason(text, refuse_duplicate_keys=True) == "it gives a key twice"


def test_different_keys_are_never_called_duplicates() -> None:
    assert loads('{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}', refuse_duplicate_keys=True) is not None


def test_a_body_of_endless_small_parts_is_refused_before_it_is_read() -> None:
    with pytest.raises(MalformedJsonError, match="more than 200,000 parts"):
        loads("[" + "1," * 300_000 + "1]")
