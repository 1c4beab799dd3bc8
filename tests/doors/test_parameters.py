"""What becomes of parameters: everything that a vendor's own client can send has its place in the door's table."""

import inspect
import json
from importlib.resources import files
from typing import Any

import pytest
from aiohttp.test_utils import make_mocked_request
from hypothesis import given, settings
from hypothesis import strategies as st
from perplexity.types.search_create_params import SearchCreateParams
from tavily import AsyncTavilyClient, TavilyClient

from searchport import ErrorCode, SearchError
from searchport.country_names import COUNTRY_NAMES
from searchport.locale import COUNTRIES
from searchport_platform.doors import compat
from searchport_platform.doors.compat import brave, google_cse, openwebui, perplexity, searxng, serper, tavily, texts
from searchport_platform.doors.compat.parameters import Parameters, Treatment
from searchport_platform.doors.compat.spliced_sites import take_site

WIRES: dict[str, Parameters[Any]] = {
    module.__name__.rpartition(".")[2]: module.PARAMETERS
    for module in (google_cse, searxng, tavily, perplexity, brave, openwebui, serper)
}


def names(wire: Parameters[Any], treatment: Treatment | None = None) -> set[str]:
    """The parameters of a wire; of one treatment, or all."""
    return {name for row in wire.rows() if treatment in (None, row.treatment) for name in row.names}


def test_every_parameter_of_googles_discovery_document_has_its_place() -> None:
    file = files("googleapiclient.discovery_cache") / "documents" / "customsearch.v1.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    own = document["resources"]["cse"]["methods"]["list"]["parameters"]
    assert names(google_cse.PARAMETERS) == {*own, *document["parameters"]}


@pytest.mark.parametrize("client", [TavilyClient, AsyncTavilyClient])
def test_every_parameter_of_tavilys_client_has_its_place(client: Any) -> None:
    own = set(inspect.signature(client.search).parameters) - {"self", "kwargs", "timeout"}
    assert own - names(tavily.PARAMETERS) == set()


def test_every_parameter_of_perplexitys_sdk_has_its_place() -> None:
    assert names(perplexity.PARAMETERS) == set(SearchCreateParams.__annotations__)


def test_every_door_has_a_table() -> None:
    assert len(WIRES) == len(compat.DOORS)


@pytest.mark.parametrize("wire", WIRES)
def test_a_parameter_has_one_place(wire: str) -> None:
    placed = [name for row in WIRES[wire].rows() for name in row.names]
    assert len(placed) == len(set(placed))


@pytest.mark.parametrize("wire", WIRES)
def test_a_refused_parameter_is_refused_whatever_its_value(wire: str) -> None:
    for name in names(WIRES[wire], Treatment.REFUSED):
        for value in ("", "x", 0, False, [], {}):
            with pytest.raises(SearchError) as raised:
                WIRES[wire].read({name: value})
            assert f"$.{name}" in [fault.path for fault in raised.value.faults]


@pytest.mark.parametrize("wire", WIRES)
def test_null_is_not_given(wire: str) -> None:
    table = WIRES[wire]
    required = {"q": "tea"} if wire not in ("tavily", "perplexity", "openwebui") else {"query": "tea"}
    required |= {"format": "json"} if wire == "searxng" else {}
    nulls = dict.fromkeys(names(table) - set(required))
    assert table.read(required | nulls) == table.read(required)


@given(
    st.dictionaries(st.text(max_size=20), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text(), max_size=2))
)
@settings(max_examples=50)
def test_whatever_is_given_is_read_or_refused_with_its_place(given: dict[str, object]) -> None:
    for wire in WIRES.values():
        try:
            wire.read(given)
        except SearchError as error:
            assert (error.code, [fault for fault in error.faults if not fault.path.startswith("$")]) == (
                ErrorCode.VALIDATION_ERROR,
                [],
            )


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="#"), max_size=60))
def test_whatever_stands_behind_the_question_mark_is_read_or_refused(query: str) -> None:
    try:
        read = texts.read_query(make_mocked_request("GET", f"/?{query}"))
    except SearchError as error:
        assert error.code is ErrorCode.VALIDATION_ERROR
    else:
        assert all(isinstance(text, str) for pair in read.items() for text in pair)


def test_what_is_unknown_is_refused_with_the_nearest_known_name() -> None:
    with pytest.raises(SearchError, match="did you mean 'max_results'"):
        tavily.PARAMETERS.read({"query": "tea", "max_result": 3})


def test_false_is_not_nought() -> None:
    with pytest.raises(SearchError, match=r"\$\.include_answer"):
        tavily.PARAMETERS.read({"query": "tea", "include_answer": 0})


def test_every_country_that_tavily_names_is_one() -> None:
    assert set(COUNTRY_NAMES) <= COUNTRIES
    assert len(set(COUNTRY_NAMES.values())) == len(COUNTRY_NAMES)


@given(st.text(min_size=1).filter(lambda text: "site:" not in text))
def test_a_query_without_a_site_in_it_is_left_alone(query: str) -> None:
    assert take_site(query) == (query, None)


@given(st.text(min_size=1), st.sampled_from(["", "AND "]))
def test_a_site_that_was_put_behind_the_query_is_taken_back(query: str, word: str) -> None:
    taken, site = take_site(f"({query}) {word}(site:docs.example.com)")
    assert (taken, str(site)) == (query, "docs.example.com")


@pytest.mark.parametrize(
    "query", ["(tea) OR (site:a.example)", "tea (site:a.example)", "(tea) (site:a.example) now", "(site:a.example)"]
)
def test_any_other_form_is_literal_text(query: str) -> None:
    assert take_site(query) == (query, None)
