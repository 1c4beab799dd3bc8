"""JSON Schemas say what the parsers read and the renderers give."""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from searchport.errors import SearchError
from searchport.json_schema import answer_schema, envelope_schema, nullable, object_schema, type_schema
from searchport.request import MAX_RESULTS, OPTION_NAMES, SearchRequest, parse_request
from searchport.result import Attempt, Envelope, FilterReport, Notice, RankedResult, render_envelope
from searchport.wire import OPTION, Option, camel_case, same_name, structure

PLAIN = object_schema(SearchRequest)
NULLS = object_schema(SearchRequest, nulls=True)
TOOL = {"query": "query", "max_results": "count", "recency": "recency", "site": "site"}
STRICT = object_schema(SearchRequest, names=TOOL, strict=True)
FULL: dict[str, object] = {
    "query": "red pandas",
    "maxResults": 5,
    "recency": "week",
    "freshness": "P7D",
    "site": "example.com",
    "language": "pt-BR",
    "country": "br",
    "safe": "strict",
    "providerOptions": {"goggles": "x"},
}


def accepts(schema: Mapping[str, object], value: object) -> bool:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema).is_valid(value)


def closed(schema: Any) -> Any:
    """The schema with every object closed, so that a property that it does not name is seen."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return inner | ({"additionalProperties": False} if "properties" in schema and "type" in schema else {})


def properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    return dict(schema["properties"])


def test_a_full_request_is_valid_and_parsed() -> None:
    assert accepts(PLAIN, FULL)
    assert parse_request(FULL).country == "BR"


def test_the_schema_names_every_option_in_the_wires_spelling() -> None:
    assert list(properties(PLAIN)) == ["query", "maxResults", *map(camel_case, OPTION_NAMES), "providerOptions"]
    assert list(properties(object_schema(SearchRequest, spell=same_name)))[1] == "max_results"


def test_descriptions_are_the_options_own_words() -> None:
    words = {camel_case(field.name): field.metadata[OPTION].words for field in attrs.fields(SearchRequest)}
    assert words == {name: schema["description"] for name, schema in properties(PLAIN).items()}


def test_defaults_and_required_properties_are_told() -> None:
    assert PLAIN["required"] == ["query"]
    assert properties(PLAIN)["maxResults"]["default"] == 10


def test_an_unknown_property_is_refused() -> None:
    assert not accepts(PLAIN, FULL | {"freshnes": "P7D"})


def test_null_is_accepted_only_where_it_is_asked_for_and_only_for_what_is_optional() -> None:
    empty = {"query": "tea"} | {name: None for name in FULL if name != "query"}
    assert not accepts(PLAIN, empty)
    assert accepts(NULLS, empty)
    assert parse_request(empty) == SearchRequest("tea")
    assert not accepts(NULLS, {"query": None})


@pytest.mark.parametrize(
    "wrong",
    [{"query": ""}, {"query": "x" * 2_001}, {"query": 5}, {"query": "x", "maxResults": MAX_RESULTS + 1}]
    + [{"query": "x", name: value} for name, value in {"maxResults": "5", "recency": "hour", "freshness": "P1M"}.items()]
    + [{"query": "x", name: value} for name, value in {"country": "BRA", "language": "pt_BR", "safe": 1}.items()],
    ids=str,
)
def test_what_the_schema_refuses_the_parser_refuses(wrong: dict[str, object]) -> None:
    assert not accepts(NULLS, wrong)
    with pytest.raises(SearchError):
        parse_request(wrong)


VALUES = st.none() | st.booleans() | st.integers(-2, 60) | st.text(max_size=4) | st.sampled_from(["P7D", "day", "off", "BR"])


@given(st.dictionaries(st.sampled_from([*FULL, "extra"]), VALUES))
def test_what_the_parser_takes_the_schema_takes(payload: dict[str, object]) -> None:
    """The parser may refuse more than the schema, never less."""
    try:
        parse_request(payload)
    except SearchError:
        return
    assert accepts(NULLS, payload)


def test_the_strict_variant_requires_all_and_takes_null_for_what_is_optional() -> None:
    assert STRICT["required"] == ["query", "count", "recency", "site"]
    assert accepts(STRICT, {"query": "tea", "count": None, "recency": None, "site": None})
    assert not accepts(STRICT, {"query": "tea"})
    assert STRICT["additionalProperties"] is False


def test_the_strict_variant_holds_no_keyword_outside_the_strict_subset() -> None:
    keywords = {keyword for schema in properties(STRICT).values() for keyword in schema}
    assert keywords == {"type", "description", "enum"}


def test_the_strict_variant_refuses_an_open_object_by_name() -> None:
    with pytest.raises(ValueError, match=r"SearchRequest\.provider_options takes any object"):
        object_schema(SearchRequest, strict=True)


def test_a_subset_has_its_own_names_order_and_words() -> None:
    schema = object_schema(SearchRequest, names={"max_results": "n", "query": "q"}, words={"query": "Say it."})
    assert list(properties(schema)) == ["n", "q"]
    assert properties(schema)["q"]["description"] == "Say it."
    assert schema["required"] == ["q"]


@pytest.mark.parametrize("arguments", [{"names": {"qery": "q"}}, {"words": {"qery": "q"}}], ids=str)
def test_a_name_that_is_no_field_is_a_mistake(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="has no field 'qery'"):
        object_schema(SearchRequest, **arguments)


def test_a_schema_is_plain_json_and_the_callers_own() -> None:
    assert json.loads(json.dumps(PLAIN)) == PLAIN
    changed = object_schema(SearchRequest)
    properties(changed)["recency"]["enum"].clear()
    assert properties(object_schema(SearchRequest))["recency"]["enum"] == ["day", "week", "month", "year"]


class Size(StrEnum):
    SMALL = "small"


def _refuse(value: object) -> object:
    raise SearchError.invalid("$", "no")


@attrs.frozen(kw_only=True)
class Typed:
    """Fields without options of their own: their types tell."""

    name: str
    size: Size = Size.SMALL
    sizes: tuple[Size, ...] = ()
    limit: int | None = None
    ratio: float = 0.5
    either: Literal["a", "b"] | None = None
    parts: list[str] = attrs.field(factory=list, metadata={OPTION: Option(_refuse, "Parts.", {"type": "array"})})


def test_a_field_without_a_schema_is_described_by_its_type() -> None:
    told = properties(object_schema(Typed, nulls=True))
    assert told["limit"] == {"type": ["integer", "null"]}
    assert told["size"] == {"type": ["string", "null"], "enum": ["small", None], "default": "small"}
    assert told["ratio"] == {"type": ["number", "null"], "default": 0.5}
    assert told["sizes"]["items"] == {"type": "string", "enum": ["small"]}
    assert accepts(object_schema(Typed), {"name": "x", "limit": 3})
    assert structure({"name": "x", "limit": 3}, Typed).limit == 3


def test_a_list_in_the_strict_variant_keeps_its_items() -> None:
    told = properties(object_schema(Typed, names={"sizes": "sizes"}, strict=True))
    assert told["sizes"] == {"type": ["array", "null"], "items": {"type": "string", "enum": ["small"]}}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"description": "x", "const": 1}, {"description": "x", "anyOf": [{"const": 1}, {"type": "null"}]}),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        ),
        ({}, {}),
    ],
    ids=str,
)
def test_nullable_widens_any_schema_by_null(schema: dict[str, object], expected: dict[str, object]) -> None:
    assert expected == nullable(schema)
    assert accepts(expected, None)


def test_a_type_that_json_has_no_shape_for_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="no JSON Schema for <class 'complex'>"):
        type_schema(complex)


def test_an_open_type_and_a_mapping_are_told_as_they_are() -> None:
    assert type_schema(object) == {}
    assert type_schema(Mapping[str, object]) == {"type": "object"}
    assert type_schema(dict[str, int]) == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert type_schema(int | str | None) == {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}


TEXTS = st.text(max_size=10)
RESULTS = st.builds(
    RankedResult,
    rank=st.integers(1, 50),
    title=TEXTS,
    url=TEXTS,
    snippet=st.none() | TEXTS,
    published_date=st.none() | TEXTS,
    date_basis=st.sampled_from([None, "date-time", "date", "bound"]),
)
ENVELOPES = st.builds(
    Envelope,
    query=TEXTS,
    provider=TEXTS,
    vendor=TEXTS,
    model=st.none() | TEXTS,
    results=st.lists(RESULTS, max_size=3).map(tuple),
    ignored=st.lists(TEXTS, max_size=2).map(tuple),
    notices=st.lists(st.builds(Notice, code=TEXTS, message=TEXTS), max_size=2).map(tuple),
    filter_report=st.builds(FilterReport, undated=st.integers(0, 9)),
    cached=st.booleans(),
    attempts=st.lists(
        st.builds(Attempt, provider=TEXTS, outcome=TEXTS, vendor_requests=st.none() | st.integers(0, 5)), max_size=2
    ).map(tuple),
    request_id=TEXTS,
)


@given(ENVELOPES)
def test_every_rendered_envelope_is_what_its_schema_says_and_nothing_more(envelope: Envelope) -> None:
    rendered = json.loads(json.dumps(render_envelope(envelope)))
    assert [error.message for error in Draft202012Validator(closed(envelope_schema())).iter_errors(rendered)] == []


def test_the_envelopes_schema_names_every_field_at_every_depth() -> None:
    """A field that is added to a class is told without another edit."""
    told = properties(envelope_schema())
    assert set(told) == {camel_case(field.name) for field in attrs.fields(Envelope)}
    assert set(told["results"]["items"]["properties"]) == {camel_case(field.name) for field in attrs.fields(RankedResult)}
    assert set(told["filterReport"]["properties"]) == {camel_case(field.name) for field in attrs.fields(FilterReport)}


def test_an_answer_may_grow() -> None:
    schema = answer_schema(Notice)
    assert accepts(schema, {"code": "sunset", "message": "x", "link": "y"})
    assert not accepts(schema, {"code": "sunset"})
