"""The Search block: what an editor draws, what a run gives, and what a workflow can branch on."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from searchport import ErrorCode, SearchError, SearchRequest
from searchport.request import OPTION_NAMES
from searchport.wire import OPTION, camel_case
from searchport_platform import Caller
from searchport_platform.doors.search_block import BLOCK_SCHEMA_FILE, BlockOutputs, describe_block, read_form, run_block

if TYPE_CHECKING:
    from conftest import Place

ROOT = "/api/platform/v1/blocks"
QUERY = "canary query 51c2"
FIELDS: dict[str, Any] = {field["name"]: field for field in describe_block()["fields"]}  # type: ignore[attr-defined]
ACME = Caller(organization="acme")


async def call(
    place: "Place", method: str, path: str, body: object = None, *, token: str | None = None
) -> tuple[int, Any, dict[str, str]]:
    """Status, body and headers of one call, with a token that searches."""
    headers = {"Authorization": f"Bearer {token or place.token}"}
    async with place.client.request(method, f"{ROOT}{path}", json=body, headers=headers) as response:
        return response.status, await response.json(), dict(response.headers)


async def run(place: "Place", **values: object) -> Any:
    """The result of a run in this process."""
    return await run_block(place.platform, ACME, {"query": QUERY, **values})


def asked(place: "Place") -> SearchRequest:
    """The one request that reached the provider."""
    (request,) = place.ours.asked
    return request


# The descriptor


def test_the_descriptor_is_valid_against_its_published_schema() -> None:
    schema = json.loads(BLOCK_SCHEMA_FILE.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    assert [error.message for error in Draft202012Validator(schema).iter_errors(describe_block())] == []


@pytest.mark.parametrize(
    "change",
    [
        {"output_trust": "trusted"},
        {"outputs": []},
        {"extra": 1},
        {"fields": [{"name": "x", "type": "choice", "label": "X", "help": "X.", "required": False}]},
        {"fields": [{"name": "x", "type": "text", "label": "X", "help": "X.", "required": False, "choices": []}]},
    ],
    ids=str,
)
def test_the_published_schema_refuses_what_is_no_descriptor(change: dict[str, object]) -> None:
    schema = json.loads(BLOCK_SCHEMA_FILE.read_text(encoding="utf-8"))
    assert not Draft202012Validator(schema).is_valid(describe_block() | change)


def test_every_option_of_the_contract_is_a_field_in_its_own_words() -> None:
    words = {camel_case(field.name): field.metadata[OPTION].words for field in attrs.fields(SearchRequest)}
    assert set(words) == set(FIELDS)
    assert all(FIELDS[name]["help"].startswith(words[name]) for name in words)


def test_any_time_comes_first_and_sends_nothing() -> None:
    assert FIELDS["recency"]["choices"][0] == {"value": "", "label": "Any time"}
    assert FIELDS["recency"]["default"] == ""


@pytest.mark.parametrize("name", ["recency", "safe"])
def test_the_choices_are_the_contracts(name: str) -> None:
    values = [choice["value"] for choice in FIELDS[name]["choices"]]
    assert values == ["", *attrs.fields_dict(SearchRequest)[name].metadata[OPTION].schema["enum"]]


def test_only_the_query_is_required() -> None:
    assert [name for name, field in FIELDS.items() if field["required"]] == ["query"]


def test_the_outputs_are_external() -> None:
    assert describe_block()["output_trust"] == "external"


def test_every_code_that_a_run_can_fail_with_is_told() -> None:
    told: Any = describe_block()["errors"]
    assert [error["code"] for error in told] == [*ErrorCode]


# A run


async def test_a_run_gives_every_output_that_is_told_and_no_other(place: "Place") -> None:
    result = await run(place)
    told: Any = describe_block()["outputs"]
    assert (result["ok"], set(result)) == (True, {"ok", "outputs"})
    assert set(result["outputs"]) == {output["name"] for output in told} == set(BlockOutputs.__annotations__)


async def test_every_output_is_of_its_told_type(place: "Place") -> None:
    outputs = (await run(place))["outputs"]
    kinds: dict[str, Any] = {"text": str | None, "number": int, "boolean": bool, "list": list, "object": dict}
    told: Any = describe_block()["outputs"]
    rendered = json.loads(json.dumps(outputs))
    for output in told:
        value = rendered[output["name"]]
        assert isinstance(value, kinds[output["type"]]), output["name"]
        assert Draft202012Validator(output["schema"]).is_valid(value), output["name"]


async def test_addresses_and_count_are_the_results(place: "Place") -> None:
    outputs = (await run(place))["outputs"]
    assert [f"https://ours.example/{number}" for number in (1, 2, 3)] == outputs["urls"]
    assert (outputs["count"], len(outputs["results"])) == (3, 3)


async def test_nothing_found_is_an_answer(place: "Place") -> None:
    place.ours.outcome = []
    result = await run(place)
    assert (result["ok"], result["outputs"]["count"], result["outputs"]["results"]) == (True, 0, [])


async def test_any_time_sends_no_recency(place: "Place") -> None:
    await run(place, recency="")
    assert asked(place).recency is None


async def test_every_field_reaches_the_provider(place: "Place") -> None:
    values: dict[str, object] = {
        "recency": "week",
        "site": "ours.example",
        "language": "de",
        "country": "at",
        "safe": "strict",
        "maxResults": 7,
    }
    await run(place, **values)
    sent = asked(place)
    assert (*(sent.recency, str(sent.site), sent.language, sent.country, sent.safe, sent.max_results),) == (
        "week",
        "ours.example",
        "de",
        "AT",
        "strict",
        7,
    )


async def test_an_untouched_form_sends_the_query_alone(place: "Place") -> None:
    untouched = {name: "" for name in FIELDS if name != "query"}
    result = await run(place, **untouched)
    assert result["ok"], result
    assert asked(place).given() == frozenset()


async def test_the_organizations_default_counts_where_no_number_is_given(place: "Place") -> None:
    await place.select("ours", default_results=4)
    await run(place, maxResults="")
    assert asked(place).max_results == 4


async def test_a_number_may_be_written_with_digits(place: "Place") -> None:
    await run(place, maxResults="7")
    assert asked(place).max_results == 7


@pytest.mark.parametrize("value", [" 7", "7.0", "+7", "-7", "1e1", "٧", "7 results", 7.0, True, "0", "51", "9" * 30, [7]])
async def test_any_other_number_is_refused(place: "Place", value: object) -> None:
    result = await run(place, maxResults=value)
    assert (result["error"]["code"], [f["path"] for f in result["error"]["faults"]]) == ("validation_error", ["$.maxResults"])
    assert place.ours.asked == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("query", value) for value in ("", "  ", None, 5)),
        *(("recency", value) for value in ("any", "Day", " ")),
        ("site", " "),
        ("language", " "),
        ("safe", True),
        ("freshness", "P1M"),
        ("providerOptions", "{}"),
    ],
)
async def test_a_value_that_is_none_is_refused_at_its_field(place: "Place", field: str, value: object) -> None:
    result = await run(place, **{field: value})
    assert [f"$.{field}"] == [fault["path"] for fault in result["error"]["faults"]]
    assert place.ours.asked == []


async def test_an_unknown_field_is_refused_with_the_nearest_known_one(place: "Place") -> None:
    result = await run(place, freshnes="P7D")
    (fault,) = result["error"]["faults"]
    assert fault["path"] == "$.freshnes"
    assert "did you mean 'freshness'?" in fault["message"]


async def test_all_faults_are_told_together(place: "Place") -> None:
    result = await run(place, recency="hour", maxResults="many", other=1)
    assert {"$.recency", "$.maxResults", "$.other"} == {fault["path"] for fault in result["error"]["faults"]}


@pytest.mark.parametrize("values", [None, [], "query", 5])
async def test_values_that_are_no_object_are_refused(place: "Place", values: object) -> None:
    result: Any = await run_block(place.platform, ACME, values)
    assert (result["ok"], result["error"]["code"]) == (False, "validation_error")


# A failure


@pytest.mark.parametrize("code", [code for code in ErrorCode if code is not ErrorCode.STORAGE_UNAVAILABLE])
async def test_every_failure_is_typed_and_holds_no_results(place: "Place", code: ErrorCode) -> None:
    place.ours.outcome = SearchError(code, retry_after=7 if code is ErrorCode.PROVIDER_RATE_LIMITED else None)
    result = await run(place)
    assert set(result) == {"ok", "error"}
    assert (False, code, code.is_retryable) == (result["ok"], result["error"]["code"], result["error"]["retryable"])


async def test_a_failure_tells_when_to_try_again(place: "Place") -> None:
    place.ours.outcome = SearchError(ErrorCode.PROVIDER_RATE_LIMITED, retry_after=30)
    assert (await run(place))["error"]["retryAfter"] == 30


async def test_a_failure_that_knows_no_time_tells_none(place: "Place") -> None:
    place.ours.outcome = SearchError(ErrorCode.PROVIDER_REJECTED)
    assert "retryAfter" not in (await run(place))["error"]


async def test_a_defect_is_a_failure_and_its_text_stays_inside(
    place: "Place", logged: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: object, **__: object) -> None:
        raise RuntimeError(QUERY)

    monkeypatch.setattr("searchport_platform.doors.search_block.render_success", break_down)
    result = await run(place)
    assert (result["ok"], result["error"]["code"]) == (False, "internal_error")
    assert "RuntimeError" in logged()
    assert QUERY not in logged() + json.dumps(result)


async def test_an_option_that_the_provider_cannot_honour_is_a_failure(place: "Place") -> None:
    await place.select("bare")
    result = await run(place, safe="strict")
    assert result["error"]["code"] == "unsupported_option"


async def test_a_caller_without_the_scope_is_told_so(place: "Place") -> None:
    result: Any = await run_block(place.platform, Caller(organization="acme", scopes=frozenset()), {"query": QUERY})
    assert result["error"]["code"] == "forbidden"


# Over HTTP


async def test_the_descriptor_is_served(place: "Place") -> None:
    status, body, _ = await call(place, "GET", "/search")
    assert (200, json.loads(json.dumps(describe_block()))) == (status, body)


async def test_the_descriptor_names_where_its_schema_and_its_run_are(place: "Place") -> None:
    block: Any = describe_block()
    async with place.client.get(block["$schema"]) as response:
        assert (await response.json()) == json.loads(BLOCK_SCHEMA_FILE.read_text(encoding="utf-8"))
    headers = {"Authorization": f"Bearer {place.token}"}
    async with place.client.request(
        block["run"]["method"], block["run"]["path"], json={"query": QUERY}, headers=headers
    ) as answer:
        assert answer.status == 200


async def test_a_run_over_http_gives_what_a_run_in_process_gives(place: "Place") -> None:
    status, body, _ = await call(place, "POST", "/search/run", {"query": QUERY, "maxResults": "2"})
    inside = json.loads(json.dumps(await run(place, maxResults=2)))
    for outcome in (body, inside):
        del outcome["outputs"]["requestId"]
    assert (200, inside) == (status, body)


async def test_a_failure_over_http_bears_its_status_and_the_same_body(place: "Place") -> None:
    place.ours.outcome = SearchError(ErrorCode.PROVIDER_RATE_LIMITED, retry_after=30)
    status, body, headers = await call(place, "POST", "/search/run", {"query": QUERY})
    assert (status, headers["Retry-After"]) == (503, "30")
    assert body == json.loads(json.dumps(await run(place)))


@pytest.mark.parametrize(("method", "path"), [("GET", "/search"), ("POST", "/search/run")])
async def test_a_token_is_needed(place: "Place", method: str, path: str) -> None:
    status, body, headers = await call(place, method, path, {"query": QUERY}, token="none")
    told = body["error"]["code"] if path.endswith("run") else body["code"]
    assert (status, told, headers["WWW-Authenticate"]) == (401, "unauthorized", 'Bearer realm="searchport"')


async def test_an_admins_token_alone_does_not_run_it(place: "Place") -> None:
    status, body, _ = await call(place, "POST", "/search/run", {"query": QUERY}, token=place.tokens["acme", "admin"])
    assert (status, body["error"]["code"]) == (403, "forbidden")


@pytest.mark.parametrize("body", ["", "{", '{"query": "a", "query": "b"}', "[]"])
async def test_a_body_that_is_no_object_is_a_typed_failure(place: "Place", body: str) -> None:
    headers = {"Authorization": f"Bearer {place.token}"}
    async with place.client.post(f"{ROOT}/search/run", data=body, headers=headers) as response:
        answer = await response.json()
    assert (response.status, answer["ok"], answer["error"]["code"]) == (400, False, "validation_error")


async def test_no_query_is_logged(place: "Place", logged: Callable[[], str]) -> None:
    await call(place, "POST", "/search/run", {"query": QUERY, "site": QUERY})
    await call(place, "POST", "/search/run", {"query": QUERY})
    assert "request" in logged()
    assert QUERY not in logged()


# What holds for every input

VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)


@given(st.dictionaries(st.sampled_from([*FIELDS, "other"]), VALUES))
def test_reading_a_form_changes_only_empty_texts_and_digits(values: dict[str, object]) -> None:
    read: Any = read_form(values)
    for name, value in values.items():
        is_empty = value == "" and name not in ("query", "other")
        is_digits = name == "maxResults" and isinstance(value, str) and value.isascii() and value.isdigit()
        expected = None if is_empty else int(value) if is_digits else value  # type: ignore[arg-type]  # digits are a text
        assert read[name] == expected


def test_the_contracts_options_are_all_told() -> None:
    assert {camel_case(name) for name in OPTION_NAMES} < set(FIELDS)
