"""A call in the contract's words, and what is lost on the way."""

import pytest

from searchport import Recency, Safe, SearchRequest
from searchport_platform.doors.compat.google_cse import PARAMETERS
from searchport_platform.doors.compat.parameters import Treatment
from searchport_platform.migration.calls import GoogleCall
from searchport_platform.migration.translation import UNKNOWN, translate


def changes(**given: str) -> list[tuple[str, str]]:
    found = translate(GoogleCall(1, 1, {"q": "tea", **given}))
    return [(change.parameter, str(change.becomes)) for change in found.changes]


@pytest.mark.parametrize(
    ("given", "request_"),
    [
        ({}, SearchRequest("tea", max_results=10)),
        ({"num": "3"}, SearchRequest("tea", max_results=3)),
        ({"num": "5", "start": "11"}, SearchRequest("tea", max_results=15)),
        ({"dateRestrict": "w1", "safe": "active"}, SearchRequest("tea", recency=Recency.WEEK, safe=Safe.STRICT)),
        ({"dateRestrict": "d3"}, SearchRequest("tea", freshness="P3D")),
        ({"lr": "lang_de", "hl": "fr", "gl": "uk"}, SearchRequest("tea", language="de", country="GB")),
        ({"siteSearch": "example.com", "siteSearchFilter": "i"}, SearchRequest("tea", site="example.com")),
    ],
)
def test_a_call_becomes_what_the_drop_in_door_makes_of_it(given: dict[str, str], request_: SearchRequest) -> None:
    assert translate(GoogleCall(1, 1, {"q": "tea", **given})).request == request_


@pytest.mark.parametrize("name", [name for row in PARAMETERS.rows() if row.treatment is Treatment.REFUSED for name in row.names])
def test_what_the_door_refuses_is_named(name: str) -> None:
    found = translate(GoogleCall(1, 1, {"q": "tea", name: "canary"}))
    assert found.request is None
    assert [(change.parameter, change.why) for change in found.changes] == [(name, PARAMETERS.refused[name])]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"siteSearchFilter": "e", "siteSearch": "example.com"}, ["siteSearchFilter"]),
        ({"num": "11"}, ["num"]),
        ({"start": "45"}, ["start"]),
        ({"lr": "lang_de|lang_fr"}, ["lr"]),
        ({"sort": "date", "cr": "countryDE"}, ["sort", "cr"]),
    ],
)
def test_a_value_that_is_not_served_is_named_by_its_parameter(given: dict[str, str], names: list[str]) -> None:
    assert [(name, "refused") for name in names] == changes(**given)


def test_no_value_of_a_call_is_told() -> None:
    found = translate(
        GoogleCall(1, 1, {"q": "canary", "gl": "canary", "num": "canary", "canary": "canary", "siteSearch": "/canary"})
    )
    assert len(found.changes) == 4
    assert "canary" not in repr(found.changes)


def test_parameters_that_google_does_not_know_have_no_name_here() -> None:
    """An ampersand that was not encoded makes one of the rest of a query."""
    assert changes(jelly="", butter="") == [(UNKNOWN, "refused")]


@pytest.mark.parametrize(
    "query", ['"red pandas" zoo', "pandas -bamboo", "tea site:example.com", "tea OR coffee", "filetype:pdf x"]
)
def test_operators_that_google_obeys_are_told_to_be_literal(query: str) -> None:
    assert changes(q=query) == [("q", "differs")]


@pytest.mark.parametrize("query", ["e-mail", '5" screen', "what is this: a test", "or else", "http status 404"])
def test_plain_words_are_no_operators(query: str) -> None:
    assert changes(q=query) == []


def test_a_window_that_becomes_a_guarantee_is_told() -> None:
    assert (changes(dateRestrict="m6"), changes(dateRestrict="m1")) == ([("dateRestrict", "differs")], [])
