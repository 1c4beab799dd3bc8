"""What providers share: windows that are dates, words for safe search, guarded queries, fields of settings, fixed models."""

from datetime import UTC, datetime
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport import Recency, Safe, SearchError, SearchRequest, define_toolkit
from searchport.context import fixed_models
from searchport.egress import JsonBody, google_errors
from searchport.errors import ErrorCode
from searchport.literal import guard_words
from searchport.request import safe_table
from searchport.settings import base_url, one_of, url_part
from searchport.windows import windows_since

NOW = datetime(2026, 3, 1, 12, 30, 15, 999, tzinfo=UTC)


def test_a_window_can_be_the_day_or_the_instant_at_which_it_begins() -> None:
    assert {recency: write(NOW) for recency, write in windows_since("%Y-%m-%d").items()} == {
        Recency.DAY: "2026-02-28",
        Recency.WEEK: "2026-02-22",
        Recency.MONTH: "2026-01-29",
        Recency.YEAR: "2025-02-28",
    }
    assert windows_since("%Y-%m-%dT%H:%M:%SZ")[Recency.DAY](NOW) == "2026-02-28T12:30:15Z"


def test_safe_search_has_a_word_for_each_level_and_none_for_none() -> None:
    table = safe_table("0", "1", "2")
    requests = [SearchRequest("q"), *(SearchRequest("q", safe=level) for level in Safe)]
    assert [table[request.safe] for request in requests] == [None, "0", "1", "2"]


@pytest.mark.parametrize(
    ("query", "guarded"),
    [
        ("!g", r"\!g"),
        ("a !g <3", r"a \!g \<3"),
        ("a\u00a0!g\n:de", "a\u00a0\\!g\n\\:de"),
        ("a!g b:c d<3", "a!g b:c d<3"),
        ("  two  spaces ", "  two  spaces "),
        ("!", r"\!"),
    ],
)
def test_only_words_that_begin_so_are_guarded(query: str, guarded: str) -> None:
    assert guard_words(query, "!:<", before="\\") == guarded


def test_a_guard_can_stand_on_both_sides() -> None:
    assert guard_words("who is !g", "!\\", before='"', after='"') == 'who is "!g"'


def test_a_query_that_its_guards_make_too_long_is_refused_without_being_shown() -> None:
    with pytest.raises(SearchError, match=r"\$\.query: 5 characters with its marks") as caught:
        guard_words("!abc", "!", before="\\", max_query=4)
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    assert "abc" not in str(caught.value)


@given(st.text())
def test_guards_are_all_that_is_added(query: str) -> None:
    guarded = guard_words(query, "!", before="\0\0")
    assert guarded.replace("\0\0", "") == query.replace("\0\0", "")
    assert [word for word in guarded.split() if word.startswith("!")] == []


@attrs.frozen
class Settings:
    where: str = base_url()
    app: str = url_part()
    kind: str = one_of("web", "news")


def build(**values: object) -> Settings:
    toolkit = define_toolkit(id="acme", name="Acme", credential_ref=None, settings=Settings)
    return toolkit.build_settings({"where": "https://a.example", "app": "x", **values}, {})[0]


def test_the_first_of_several_words_is_the_default() -> None:
    assert (build().kind, build(kind="news").kind) == ("web", "news")


def test_a_base_url_keeps_its_path_and_loses_the_slash_at_its_end() -> None:
    assert build(where="http://10.0.0.1:8080/search/").where == "http://10.0.0.1:8080/search"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "images"),
        ("kind", 1),
        ("app", "a.b"),
        ("app", "a/b"),
        ("app", "A"),
        ("app", ""),
        ("app", "x" * 101),
        ("app", "é"),
        ("where", "a.example"),
        ("where", "https://"),
        ("where", "https:///path"),
        ("where", "https://[bad"),
        ("where", "https://a.example/?key=SECRET"),
        ("where", "https://a.example/#SECRET"),
        ("where", "https://SECRET@a.example/"),
        ("where", "https://a.example/ SECRET"),
        ("where", 5),
    ],
)
def test_a_wrong_setting_is_refused_by_name_and_without_a_secret(name: str, value: object) -> None:
    with pytest.raises(SearchError, match=rf"settings\.{name}") as caught:
        build(**{name: value})
    assert caught.value.code is ErrorCode.PROVIDER_NOT_CONFIGURED
    assert "SECRET" not in str(caught.value)


def test_a_base_url_is_the_operators_alone() -> None:
    toolkit = define_toolkit(id="acme", name="Acme", credential_ref=None, settings=Settings)
    toolkit.check_settings({"app": "x"}, of_operator=False)
    with pytest.raises(SearchError, match=r"settings\.where: only an operator"):
        toolkit.check_settings({"app": "x", "where": "https://a.example"}, of_operator=False)


async def test_fixed_models_are_shown_by_their_ids_or_by_words_of_their_own() -> None:
    context: Any = None
    models = await fixed_models("auto deep-lite v2", {"v2": "Version 2"})(context)
    assert [(model.id, model.name) for model in models] == [("auto", "Auto"), ("deep-lite", "Deep lite"), ("v2", "Version 2")]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"items": []}, None),
        ([], None),
        ({"error": {}}, "error"),
        ({"error": {"status": "NOT_FOUND"}}, "NOT_FOUND"),
        ({"error": {"status": "A", "errors": [{"reason": "b"}]}}, "b"),
        ({"error": {"status": "A", "errors": [{"reason": "b"}], "details": [{}, {"reason": "c"}]}}, "c"),
        ({"error": {"message": "API key not valid. Please", "status": "INVALID_ARGUMENT"}}, "API_KEY_INVALID"),
        ([{"error": {"status": "RESOURCE_EXHAUSTED"}}], "RESOURCE_EXHAUSTED"),
    ],
)
def test_googles_most_precise_reason_counts(answer: object, reason: str | None) -> None:
    assert google_errors.read_reason(JsonBody(answer)) == reason
