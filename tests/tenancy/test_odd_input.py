"""Odd bodies, paths and tokens get a typed refusal on every admin route; none of them is a defect."""

from typing import Any

import pytest

BODIES: list[Any] = [
    None,
    [],
    5,
    "x",
    {"name": "\ud800", "scopes": ["search"]},
    {"name": "", "scopes": ["search"]},
    {"name": "x" * 10_000, "scopes": ["search"]},
    {"name": "n", "scopes": [{}]},
    {"value": "\ud800" * 20},
    {"organization": "okay", "name": "\ud800"},
    {"provider": "\ud800"},
    {"provider": "open", "settings": {"a": "\ud800"}},
    {"provider": "acme", "settings": {"level": 10**30}},
    {"provider": "acme", "deadlineSeconds": 1e308},
    {"provider": "acme", "fallbacks": [[]]},
]


@pytest.mark.parametrize("body", BODIES)
async def test_an_odd_body_is_refused_by_every_route_that_changes(bench: Any, body: Any) -> None:
    await bench.tenant("ours", "open")
    operator = await bench.token(None, "operator")
    names = {"organization": "ours", "provider": "acme", "agent": "robot", "token": "0"}
    answers = {
        (method, path): (await bench.call(method, path.format(**names), operator, body))[0]
        for method, path in bench.admin_routes()
        if method in ("PUT", "POST")
    }
    assert {route: status for route, status in answers.items() if status >= 500} == {}


@pytest.mark.parametrize("odd", ["%00", "%ff", "%ed%a0%80", "a" * 5_000, "%2e%2e", "\u00f6"])
async def test_an_odd_name_in_a_path_is_refused_by_every_route(bench: Any, odd: str) -> None:
    await bench.tenant("ours", "open")
    operator = await bench.token(None, "operator")
    names = {"organization": "ours", "provider": "acme", "agent": "robot", "token": "0"}
    answers = {
        (method, path, name): (await bench.call(method, path.format(**(names | {name: odd})), operator, {}))[0]
        for method, path in bench.admin_routes()
        for name in names
        if f"{{{name}}}" in path
    }
    assert {route: status for route, status in answers.items() if status >= 500} == {}


async def test_a_fallback_that_a_gate_refuses_is_named_in_the_attempts(bench: Any, vendors: Any) -> None:
    ours = await bench.tenant("ours", "open")
    vendors.fail("open", 500)
    await bench.call("PUT", f"{ours.path}/agents/robot", ours.admin, {"tools": ["web.*"]})
    body = {"provider": "open", "fallbacks": ["acme", "fake"]}
    assert (await bench.call("PUT", f"{ours.path}/search/selection", ours.admin, body))[0] == 200
    status, answer = await bench.search(await bench.token("ours", "search", agent="robot"))
    assert status == 200
    assert [attempt["provider"] for attempt in answer["attempts"]] == ["open", "acme", "fake"]


async def test_an_empty_agent_header_is_no_agent(bench: Any) -> None:
    await bench.tenant("ours", "open")
    status, answer = await bench.search(await bench.token("ours", "search", "agents"), agent="")
    assert (status, answer["gate"]) == (403, "agent")


async def test_a_fallbacks_key_that_does_not_open_leaves_the_first_provider_alone(bench: Any) -> None:
    ours = await bench.tenant("ours", "open", keys={"acme": "a-key-of-some-length"})
    body = {"provider": "open", "fallbacks": ["acme"]}
    assert (await bench.call("PUT", f"{ours.path}/search/selection", ours.admin, body))[0] == 200
    bench.sql("UPDATE credentials SET sealed = ?", b"\0")
    assert (await bench.search(ours.search))[0] == 200


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nowhere", 404), ("PATCH", "/organizations/ours/audit", 405)])
@pytest.mark.only("sqlite", "there is no such route")
async def test_a_route_that_is_not_there_answers_in_the_apis_own_shape(bench: Any, method: str, path: str, status: int) -> None:
    answered, body = await bench.call(method, path, None)
    assert (answered, body["status"], body["type"]) == (status, status, "about:blank")
