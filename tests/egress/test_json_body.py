"""Reading a vendor's JSON."""

from __future__ import annotations

import pytest

from searchport.egress import JsonBody
from searchport.errors import ErrorCode, SearchError

BODY = JsonBody(
    {"web": {"results": [{"title": "a", "n": 1, "ok": True}, "odd", None]}, "none": None, "text": "x", "empty": [],
     "nan": float("nan"), "big": 10**400, "half": 0.5, "zero": 0, "blank": ""}
)  # fmt: skip


def test_rows_gives_every_item_of_a_list_whatever_it_is() -> None:
    assert [row.raw for row in BODY.rows("web", "results")] == [{"title": "a", "n": 1, "ok": True}, "odd", None]


@pytest.mark.parametrize(
    "path", [("missing",), ("none",), ("none", "results"), ("web", "missing"), ("missing", "x", "y"), ("empty",),
             ("empty", 0), ("web", "results", 9, "x")]
)  # fmt: skip
def test_a_list_that_is_missing_or_null_has_no_rows(path: tuple[str | int, ...]) -> None:
    assert BODY.rows(*path) == []


@pytest.mark.parametrize(
    "path",
    [("text",), ("web",), ("text", "x"), ("web", "results", "title"), ("web", 0), ("big",), ("web", "results", 1, "x"),
     ("blank",), ("zero",)],
)  # fmt: skip
def test_anything_else_in_place_of_a_list_is_the_wrong_shape(path: tuple[str | int, ...]) -> None:
    with pytest.raises(SearchError) as caught:
        BODY.rows(*path)
    assert (caught.value.code, caught.value.reason) == (ErrorCode.PROVIDER_UNAVAILABLE, "an answer of the wrong shape")


@pytest.mark.parametrize("path", [("missing",), ("none",), ("web", "missing"), ("missing", "x")])
def test_a_required_list_that_is_missing_or_null_is_the_wrong_shape(path: tuple[str | int, ...]) -> None:
    with pytest.raises(SearchError, match="wrong shape"):
        BODY.rows(*path, required=True)


def test_a_required_list_may_be_empty() -> None:
    assert BODY.rows("empty", required=True) == []
    assert len(BODY.rows("web", "results", required=True)) == 3


def test_texts_are_those_in_a_list_and_none_of_anything_else() -> None:
    body = JsonBody({"mixed": ["a", 1, None, "b", ["c"]], "text": "x", "object": {"a": "b"}})
    assert body.texts("mixed") == ["a", "b"]
    assert [body.texts(key) for key in ("text", "object", "missing")] == [[], [], []]


def test_a_list_at_the_root_has_rows_without_a_path() -> None:
    assert [row.number() for row in JsonBody([1, 2]).rows()] == [1, 2]


@pytest.mark.parametrize("raw", [{}, "x", 5, True])
def test_a_root_that_is_no_list_has_no_rows_without_a_path(raw: object) -> None:
    with pytest.raises(SearchError):
        JsonBody(raw).rows()


def test_text_is_text_or_none() -> None:
    assert BODY.text("web", "results", 0, "title") == "a"
    assert BODY.text("blank") == ""
    assert [BODY.text(key) for key in ("none", "missing", "half", "web", "empty")] == [None] * 5


def test_number_is_a_finite_number_and_never_a_boolean() -> None:
    assert (BODY.number("half"), BODY.number("big"), BODY.number("zero")) == (0.5, 10**400, 0)
    assert (BODY.number("nan"), BODY.number("text"), BODY.number("web", "results", 0, "ok")) == (None, None, None)


def test_flag_is_a_boolean_and_never_a_number() -> None:
    assert BODY.flag("web", "results", 0, "ok") is True
    assert (BODY.flag("zero"), BODY.flag("missing")) == (None, None)


def test_has_is_true_for_what_is_there_and_not_null() -> None:
    assert [BODY.has(key) for key in ("web", "zero", "blank", "empty", "none", "missing")] == [True] * 4 + [False] * 2


def test_at_leads_on_and_never_raises() -> None:
    assert BODY.at("web", "results", 0).text("title") == "a"
    assert BODY.at("text", "x", 1, "y").at("z").raw is None


def test_keys_are_those_of_an_object_in_their_order() -> None:
    assert BODY.keys("web", "results", 0) == ["title", "n", "ok"]
    assert BODY.keys("text") == []


def test_negative_indexes_and_booleans_lead_nowhere() -> None:
    assert not BODY.has("web", "results", -1)


def test_a_body_shows_nothing_of_itself() -> None:
    assert repr(BODY) == "JsonBody()"
