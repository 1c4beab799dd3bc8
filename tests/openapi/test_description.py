"""`/openapi.json` describes every route of the server and nothing else, and what it says is so."""

import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from openapi_spec_validator import validate
from yarl import URL

from searchport import ErrorCode, SearchError
from searchport_platform import doors
from searchport_platform.doors.health import HealthDoor
from searchport_platform.doors.operations import Answer, Operation, Shape, find_operation
from searchport_platform.doors.problem import render_problem

if TYPE_CHECKING:
    from conftest import Served

PAGE = {"/api/docs", "/api/docs/", "/api/docs/{file}"}
"""The page that shows the description, and its files."""
DESCRIBED = re.compile(r"/(api|ops|healthz|readyz|info|openapi\.json)(/|$)")


def described_handlers() -> Iterator[tuple[str, Operation]]:
    """Every handler in every door that has a description, mounted or not."""
    for info in pkgutil.walk_packages(doors.__path__, "searchport_platform.doors."):
        module = importlib.import_module(info.name)
        for name, cls in inspect.getmembers(module, inspect.isclass):
            if cls.__module__ == module.__name__:
                for _, function in inspect.getmembers(cls, inspect.isfunction):
                    operation = find_operation(function)
                    if operation is not None:
                        yield f"{name}.{function.__name__}", operation


HANDLERS = dict(described_handlers())
WITH_BODY = [
    (operation.id, example)
    for operation in HANDLERS.values()
    if operation.body is not None
    for example in operation.body.examples
]


def operations_of(description: dict[str, Any]) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """operationId -> method, path, operation."""
    return {
        operation["operationId"]: (method.upper(), path, operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    }


def test_it_is_valid_openapi(served: "Served") -> None:
    assert served.description["openapi"] == "3.1.0"
    validate(served.description)


async def test_it_is_served_to_everyone(served: "Served") -> None:
    status, body, headers = await served.call("GET", "/openapi.json")
    assert (status, headers["Content-Type"]) == (200, "application/json; charset=utf-8")
    assert body["paths"] == json.loads(json.dumps(served.description["paths"]))


def test_every_route_is_described(served: "Served") -> None:
    routes = {
        (route.method.lower(), route.resource.canonical)
        for route in served.app.router.routes()
        if route.resource is not None and route.method != "HEAD" and DESCRIBED.match(route.resource.canonical)
    }
    told = {(method, path) for path, methods in served.description["paths"].items() for method in methods}
    assert {route for route in routes if route[1] not in PAGE} == told


def test_every_description_is_of_a_route(served: "Served") -> None:
    """A handler that is described and not mounted is a route that somebody forgot."""
    assert sorted(operation.id for operation in HANDLERS.values()) == sorted(operations_of(served.description))


def test_every_operation_says_who_may_call_it_and_how_it_fails(served: "Served") -> None:
    for identity, (_, path, operation) in operations_of(served.description).items():
        is_open = path in {"/healthz", "/readyz", "/openapi.json", "/api/platform/v1/blocks/schema"}
        assert is_open == (not operation["security"]), identity
        assert operation["summary"], identity
        assert "`" not in operation["summary"], identity
        if not is_open:
            assert {"401", "500"} <= set(operation["responses"]), identity


def test_every_answer_bears_the_requests_id(served: "Served") -> None:
    for identity, (_, _, operation) in operations_of(served.description).items():
        for status, response in operation["responses"].items():
            assert "X-Request-Id" in response["headers"], (identity, status)


def test_what_can_be_tried_later_tells_when(served: "Served") -> None:
    for identity, (_, path, operation) in operations_of(served.description).items():
        for status in {"429", "503"} & set(operation["responses"]):
            told = "Retry-After" in operation["responses"][status]["headers"]
            assert told or path == "/readyz", (identity, status)


def test_failures_of_the_platform_api_are_problems(served: "Served") -> None:
    for identity, (_, path, operation) in operations_of(served.description).items():
        if path.startswith("/api/platform/v1/org") or path.endswith("/action/search/web"):
            failures = {status: told for status, told in operation["responses"].items() if status >= "400"}
            assert {("application/problem+json",)} == {tuple(told["content"]) for told in failures.values()}, identity


def test_a_search_can_fail_with_every_code(served: "Served") -> None:
    responses = operations_of(served.description)["searchWeb"][2]["responses"]
    assert all(f"`{code}`" in responses[str(code.status)]["description"] for code in ErrorCode)


async def fill(served: "Served", path: str, identity: str) -> str:
    """The path, for things that are there or, for what makes or deletes them, were made for it."""
    administration = served.platform.administration()
    await administration.store_credential("acme", "brave", "a-vendors-key")
    token, _ = await administration.issue_token("acme", name="other", scopes=[])
    if identity != "removeAgent":
        agent = "default"
    else:
        agent = (await administration.put_agent("acme", "spare", tools=[], credentials=[])).id
    provider = "brave" if "credential" in path else "fake"
    return path.format(organization="acme", provider=provider, agent=agent, token=token.id)


async def call_described(served: "Served", identity: str, body: object = None) -> tuple[int, Any, str, dict[str, Any]]:
    """Status and body of an operation's own success, its media type, and what is told of it."""
    method, path, told = operations_of(served.description)[identity]
    security = told["security"]
    token = None
    if security and "opsToken" in security[0]:
        token = "ops"
    elif security:
        token = "operator" if security[0]["bearer"] == ["operator"] else "all"
    status, answer, headers = await served.call(method, await fill(served, path, identity), body, token=token)
    return status, answer, headers.get("Content-Type", "").partition(";")[0], told


def test_every_example_of_a_shape_fits_it(served: "Served") -> None:
    examples = {
        name: schema["examples"] for name, schema in served.description["components"]["schemas"].items() if "examples" in schema
    }
    assert {"SearchAnswer", "Problem"} <= set(examples)
    assert [
        error for name, (example,) in examples.items() for error in served.errors_of(name, json.loads(json.dumps(example)))
    ] == []


@pytest.mark.parametrize("identity", sorted(operation.id for operation in HANDLERS.values() if operation.body is None))
async def test_every_operation_without_a_body_answers_as_told(served: "Served", identity: str) -> None:
    await check_answer(served, identity, None)


@pytest.mark.parametrize(("identity", "example"), WITH_BODY)
async def test_every_example_is_answered_as_told(served: "Served", identity: str, example: str) -> None:
    operation = next(operation for operation in HANDLERS.values() if operation.id == identity)
    assert operation.body is not None
    body = operation.body.examples[example]
    assert served.errors_of(operation.body.shape.name, body) == []
    await check_answer(served, identity, body)


async def check_answer(served: "Served", identity: str, body: object) -> None:
    status, answer, media, told = await call_described(served, identity, body)
    assert status < 300, answer
    response = told["responses"][str(status)]
    if status == 204:
        assert "content" not in response
        return
    shape = response["content"][media]["schema"]["$ref"].rpartition("/")[2]
    if media == "application/json" and shape not in {"Description", "BlockSchema", "Block", "ToolDeclaration"}:
        assert served.errors_of(shape, answer) == []


async def test_usage_as_csv_is_told(served: "Served") -> None:
    path = "/api/platform/v1/organizations/acme/search/usage"
    status, _, headers = await served.call("GET", path, token="admin", Accept="text/csv")
    assert (status, headers["Content-Type"]) == (200, "text/csv; charset=utf-8")


async def test_usage_with_rows_is_as_told(served: "Served") -> None:
    await served.call("POST", "/api/platform/v1/action/search/web", {"query": "tea"}, token="search")
    _, answer, _ = await served.call("GET", "/api/platform/v1/organizations/acme/search/usage?by=day", token="admin")
    assert [row["searches"] for row in answer["rows"]] == [1]
    assert served.errors_of("Usage", answer) == []


async def test_a_selections_fallback_may_be_an_object(served: "Served") -> None:
    body = {"provider": "fake", "fallbacks": ["local", {"provider": "fake", "settings": {}}]}
    assert served.errors_of("SelectionRequest", body) == []
    status, answer, _ = await served.call("PUT", "/api/platform/v1/organizations/acme/search/selection", body, token="admin")
    assert status == 200
    assert served.errors_of("Selection", answer) == []


@pytest.mark.parametrize("query", ["", "a" * 2_001])
async def test_a_refused_dry_run_is_refused_before_it_is_planned(served: "Served", query: str) -> None:
    """Whether or not a gate would stop the call too."""
    await served.platform.administration().put_agent("acme", "default", tools=[], credentials=[])
    path = "/api/platform/v1/action/search/web"
    status, answer, _ = await served.call("POST", path, {"query": query, "dryRun": True}, token="search")
    assert (status, answer["code"]) == (400, "validation_error")


async def test_a_plan_that_a_gate_refuses_is_as_told(served: "Served") -> None:
    await served.platform.administration().put_agent("acme", "default", tools=[], credentials=[])
    path = "/api/platform/v1/action/search/web"
    _, answer, _ = await served.call("POST", path, {"query": "tea", "dryRun": True}, token="search")
    assert answer["refused"]["code"] == "forbidden"
    assert served.errors_of("Plan", answer) == []


@pytest.mark.parametrize("code", ErrorCode)
def test_every_error_is_a_problem_as_told(served: "Served", code: ErrorCode) -> None:
    error = SearchError(code, retry_after=2.5, provider="acme", gate="tools:x", alternatives=["b"], vendor_code="Q1")
    text = render_problem(error).text
    assert text is not None
    assert served.errors_of("Problem", json.loads(text)) == []


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/none", 404), ("DELETE", "/api/platform/v1/action/search/web", 405), ("GET", "/api/docs/none.js", 404)],
)
async def test_the_servers_own_refusals_are_problems(served: "Served", method: str, path: str, status: int) -> None:
    found, answer, headers = await served.call(method, path)
    assert (status, "application/problem+json") == (found, headers["Content-Type"].partition(";")[0])
    assert served.errors_of("Problem", answer) == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("frm=2026-01-01", "unknown query parameter 'frm'; did you mean 'from'? (known: from, to, by, format)"),
        ("from=2026-01-01&from=2026-02-01", "given more than once"),
    ],
)
async def test_a_query_parameter_is_refused_rather_than_not_read(served: "Served", query: str, message: str) -> None:
    path = f"/api/platform/v1/organizations/acme/search/usage?{query}"
    status, answer, _ = await served.call("GET", path, token="admin")
    assert (400, [message]) == (status, [fault["message"] for fault in answer["faults"]])


async def test_a_route_that_takes_no_query_parameter_says_so(served: "Served") -> None:
    status, answer, _ = await served.call("GET", "/api/platform/v1/organizations/acme/agents?limit=1", token="admin")
    assert (
        status,
        answer["detail"].partition("; correct")[0],
    ) == (400, "$: unknown query parameter 'limit'; this route takes none")


def test_two_shapes_of_one_name_are_a_mistake(served: "Served", monkeypatch: pytest.MonkeyPatch) -> None:
    operation = find_operation(HealthDoor.healthz)
    assert operation is not None
    twin = attrs.evolve(operation, answers={200: Answer("x", Shape("Problem", dict))})
    monkeypatch.setattr(HealthDoor.healthz, "__searchport_operation__", twin)
    with pytest.raises(ValueError, match="two shapes are named 'Problem'"):
        _ = served.description


# The page


async def test_the_page_runs_no_inline_script_and_asks_no_other_host(served: "Served") -> None:
    status, page, headers = await served.call("GET", "/api/docs")
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert (status, headers["Content-Type"].partition(";")[0]) == (200, "text/html")
    assert (policy["default-src"], policy["script-src"], policy["connect-src"]) == ("'none'", "'self'", "'self'")
    assert re.findall(r"<script(?![^>]* src=)", page) == []
    assert re.findall(r"(?:src|href)=\"(?!/|data:,)", page) == []


async def test_every_file_that_the_page_needs_is_served(served: "Served") -> None:
    _, page, _ = await served.call("GET", "/api/docs")
    files = re.findall(r"(?:src|href)=\"(/api/docs/[^\"]+)\"", page)
    assert len(files) == 3
    for file in files:
        status, _, headers = await served.call("GET", file)
        kind = "text/css" if file.endswith(".css") else "text/javascript"
        assert (200, kind) == (status, headers["Content-Type"].partition(";")[0])


async def test_the_pages_files_come_with_their_licence(served: "Served") -> None:
    _, licence, _ = await served.call("GET", "/api/docs/LICENSE")
    assert "Apache License" in licence


async def test_the_page_asks_for_no_validation_elsewhere(served: "Served") -> None:
    _, script, _ = await served.call("GET", "/api/docs/start.js")
    assert "validatorUrl: null" in script


@pytest.mark.parametrize("name", ["..%2fopenapi.py", "%2e%2e%2fhttp.py", "index.html", "none"])
async def test_nothing_else_of_the_package_is_served(served: "Served", name: str) -> None:
    async with served.client.get(URL(f"/api/docs/{name}", encoded=True)) as response:
        assert response.status == 404


# When to try again


async def test_a_vendors_limit_tells_when_to_try_again(served: "Served") -> None:
    path = "/api/platform/v1/action/search/web"
    status, _, headers = await served.call("POST", path, {"query": "limited: tea"}, token="search")
    assert (status, headers["Retry-After"]) == (503, "30")


async def test_a_cap_that_is_reached_tells_when_the_next_day_begins(served: "Served") -> None:
    administration = served.platform.administration()
    await administration.put_agent("acme", "default", tools=["web.*"], credentials=[], max_searches_per_day=0)
    path = "/api/platform/v1/action/search/web"
    status, _, headers = await served.call("POST", path, {"query": "tea"}, token="search")
    assert status == 429
    assert 1 <= int(headers["Retry-After"]) <= 86_400


async def test_the_envelopes_id_is_the_records_and_the_headers_the_requests(served: "Served", logged: Callable[[], str]) -> None:
    path = "/api/platform/v1/action/search/web"
    _, answer, headers = await served.call("POST", path, {"query": "tea"}, token="search", X_Request_Id="mine")
    assert headers["X-Request-Id"] == "mine" != answer["requestId"]
    lines = [json.loads(line) for line in logged().splitlines()]
    assert {(line["request_id"], line["record"]) for line in lines if line["event"] in ("request", "search")} == {
        ("mine", answer["requestId"])
    }
