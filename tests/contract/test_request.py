"""The options of a search: what is taken, what is refused, and in which words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport import ErrorCode, Freshness, Recency, Safe, SearchError, SearchRequest, Site
from searchport.request import parse_request


def refuse(payload: object) -> SearchError:
    with pytest.raises(SearchError) as caught:
        parse_request(payload)
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    return caught.value


def paths(payload: object) -> list[str]:
    return [fault.path for fault in refuse(payload).faults]


@pytest.mark.parametrize(("site", "hosts"), [(None, None), ("Example.COM.", ["example.com"])])
def test_a_site_is_a_list_of_one_host_for_vendors_that_take_lists(site: str | None, hosts: list[str] | None) -> None:
    assert SearchRequest("red pandas", site=site).hosts == hosts


def test_every_option_is_read_from_its_wire_name() -> None:
    request = parse_request(
        {
            "query": "red pandas",
            "maxResults": 5,
            "recency": "week",
            "freshness": "P7D",
            "site": "Example.COM.",
            "language": "pt-br",
            "country": "br",
            "safe": "strict",
            "providerOptions": {"cx": "1"},
        }
    )
    assert request == SearchRequest(
        "red pandas",
        max_results=5,
        recency=Recency.WEEK,
        freshness=Freshness.parse("P7D"),
        site=Site.parse("example.com"),
        language="pt-BR",
        country="BR",
        safe=Safe.STRICT,
        provider_options={"cx": "1"},
    )


def test_options_in_python_may_be_given_as_text() -> None:
    assert SearchRequest("q", recency="day", site="example.com") == SearchRequest(
        "q", recency=Recency.DAY, site=Site.parse("example.com")
    )


def test_a_query_alone_asks_for_ten_results_and_nothing_else() -> None:
    request = parse_request({"query": "q"})
    assert request.max_results == 10
    assert request.given() == frozenset()


def test_null_means_not_given() -> None:
    nothing = dict.fromkeys(("maxResults", "recency", "freshness", "site", "language", "country", "safe", "providerOptions"))
    assert parse_request({"query": "q"} | nothing) == SearchRequest("q")


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\u3000", 5, True, ["q"], {"q": 1}, "x" * 2_001, "lone \ud800"])
def test_a_query_that_is_no_text_to_look_for_is_refused(query: object) -> None:
    assert paths({"query": query}) == ["$.query"]


@pytest.mark.parametrize("query", ['"unbalanced', "site:example.com -x", "x" * 2_000, "  spaced  ", "\U0001f43c"])
def test_a_query_is_kept_to_the_letter(query: str) -> None:
    assert parse_request({"query": query}).query == query


@pytest.mark.parametrize("payload", [{}, {"query": None}])
def test_a_missing_query_is_named(payload: object) -> None:
    assert paths(payload) == ["$.query"]


@pytest.mark.parametrize("count", [True, False, "10", 10.5, 10.0, 0, -1, 51, 10**30, [10]])
def test_max_results_takes_whole_numbers_from_1_to_50_alone(count: object) -> None:
    assert paths({"query": "q", "maxResults": count}) == ["$.maxResults"]


@pytest.mark.parametrize("recency", ["Day", "hour", "", "d", 1, True])
def test_an_unknown_recency_is_refused_naming_the_allowed_ones(recency: object) -> None:
    (fault,) = refuse({"query": "q", "recency": recency}).faults
    assert "day, week, month, year" in fault.message


@pytest.mark.parametrize("safe", ["on", "Strict", True, 1])
def test_an_unknown_safe_is_refused_naming_the_allowed_ones(safe: object) -> None:
    (fault,) = refuse({"query": "q", "safe": safe}).faults
    assert "off, moderate, strict" in fault.message


@pytest.mark.parametrize("options", ["cx=1", ["cx"], 1, True])
def test_provider_options_must_be_an_object(options: object) -> None:
    assert paths({"query": "q", "providerOptions": options}) == ["$.providerOptions"]


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("freshnes", "freshness"),
        ("max_results", "maxResults"),
        ("Site", "site"),
        ("provider_options", "providerOptions"),
    ],
)
def test_an_unknown_field_is_refused_with_the_nearest_known_one(misspelt: str, meant: str) -> None:
    (fault,) = refuse({"query": "q", misspelt: "v"}).faults
    assert fault.path == f"$.{misspelt}"
    assert f"did you mean {meant!r}?" in fault.message


def test_an_unknown_field_is_refused_even_where_nothing_is_near() -> None:
    (fault,) = refuse({"query": "q", "zzz": 1}).faults
    assert fault.message.startswith("unknown field (known: query, maxResults,")


def test_all_faults_of_a_request_are_reported_together() -> None:
    payload = {
        "query": " ",
        "maxResults": "10",
        "freshness": "P1M",
        "site": "https://example.com",
        "zzz": 1,
        "country": "UK",
    }
    assert sorted(paths(payload)) == ["$.country", "$.freshness", "$.maxResults", "$.query", "$.site", "$.zzz"]


@pytest.mark.parametrize("payload", [None, [], "q", 5, True])
def test_a_payload_that_is_no_object_is_refused(payload: object) -> None:
    assert paths(payload) == ["$"]


def test_a_refused_query_is_not_in_the_words_of_the_refusal() -> None:
    assert "canary" not in str(refuse({"query": "canary" * 400}))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["query", "maxResults", "recency", "freshness", "site", "language", "country", "safe", "zzz"])
                | st.text(),
                inner,
                max_size=6,
            )
        ),
        max_leaves=12,
    )
)
def test_any_payload_is_a_request_or_a_validation_error(payload: object) -> None:
    try:
        assert isinstance(parse_request(payload), SearchRequest)
    except SearchError as error:
        assert error.code is ErrorCode.VALIDATION_ERROR
        assert error.faults
