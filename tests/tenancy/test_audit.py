"""The audit trail: one line for every change, who made it, never a secret; nothing where nothing changed."""

import json
from typing import Any

import pytest

from searchport_platform.tenancy import tokens

CANARY = "canary-key-do-not-show-9f3b"

CHANGES: dict[tuple[str, str], tuple[object, str, str]] = {
    ("POST", "/organizations"): ({"organization": "newcomer", "name": "N"}, "organization.create", "newcomer"),
    ("PUT", "/organizations/{organization}/search/providers/{provider}/credential"): (
        {"value": CANARY},
        "credential.put",
        "acme",
    ),
    ("DELETE", "/organizations/{organization}/search/providers/{provider}/credential"): (None, "credential.remove", "acme"),
    ("PUT", "/organizations/{organization}/search/selection"): ({"provider": "open"}, "selection.put", "open"),
    ("DELETE", "/organizations/{organization}/search/selection"): (None, "selection.remove", "ours"),
    ("PUT", "/organizations/{organization}/agents/{agent}"): ({"tools": ["web.*"]}, "agent.put", "robot"),
    ("DELETE", "/organizations/{organization}/agents/{agent}"): (None, "agent.remove", "robot"),
    ("POST", "/organizations/{organization}/tokens"): ({"name": "laptop", "scopes": ["search"]}, "token.issue", "laptop"),
    ("DELETE", "/organizations/{organization}/tokens/{token}"): (None, "token.revoke", "TOKEN"),
    ("PUT", "/organizations/{organization}/limits"): ({"concurrency": 4}, "limits.put", "ours"),
    ("DELETE", "/organizations/{organization}"): (None, "organization.delete", "ours"),
}
"""Route -> its body, the action of its line, the line's subject."""


def token_id(text: str) -> str:
    return text.removeprefix(tokens.PREFIX)[:16]


def trail(bench: Any) -> list[dict[str, Any]]:
    """Every line, of whomever, oldest first."""
    query = "SELECT organization, actor, action, subject, details FROM audit ORDER BY id"
    return [dict(zip(("organization", "actor", "action", "subject", "details"), row, strict=True)) for row in bench.sql(query)]


@pytest.fixture
async def ours(bench: Any) -> Any:
    tenant = await bench.tenant("ours", "acme", keys={"acme": CANARY})
    await bench.administration.put_agent("ours", "robot", tools=[], credentials=[])
    return tenant


async def test_the_test_knows_every_route_that_changes(bench: Any) -> None:
    assert set(CHANGES) == {(method, path) for method, path in bench.admin_routes() if method != "GET"}


@pytest.mark.parametrize("route", CHANGES)
async def test_a_change_leaves_exactly_one_line(bench: Any, ours: Any, route: tuple[str, str]) -> None:
    method, path = route
    body, action, subject = CHANGES[route]
    actor = await bench.token(None, "operator")
    victim = token_id(ours.search)
    before = len(trail(bench))
    status, answer = await bench.call(
        method, path.format(organization="ours", provider="acme", agent="robot", token=victim), actor, body
    )
    lines = trail(bench)[before - (5 if action == "organization.delete" else 0) :]
    assert (status < 300, len([line for line in lines if line["action"] == action])) == (True, 1)
    assert lines[-1]["actor"] == f"token {token_id(actor)}"
    assert (lines[-1]["action"], lines[-1]["subject"]) == (action, victim if subject == "TOKEN" else subject)
    assert lines[-1]["organization"] == (None if action.startswith("organization.") else "ours")
    assert CANARY not in str(trail(bench))
    assert "token" not in (answer or {}) or answer["token"] not in str(trail(bench))


async def test_an_admins_change_names_the_admins_token(bench: Any, ours: Any) -> None:
    await bench.call("PUT", f"{ours.path}/search/selection", ours.admin, {"provider": "open"})
    assert trail(bench)[-1]["actor"] == f"token {token_id(ours.admin)}"


async def test_a_change_from_the_command_line_says_so(bench: Any, ours: Any) -> None:
    assert {line["actor"] for line in trail(bench)} == {"command line"}


async def test_every_verb_of_the_operator_leaves_one_line(bench: Any, ours: Any) -> None:
    administration = bench.administration
    verbs: dict[str, Any] = {
        "organization.bound": lambda: administration.bound_organization("ours", allowed_providers=["open"]),
        "operator-settings.put": lambda: administration.put_operator_settings("ours", "acme", {"base_url": "https://a.example"}),
        "provider.off": lambda: administration.turn_off("acme", "a leak"),
        "provider.on": lambda: administration.turn_on("acme"),
    }
    for action, verb in verbs.items():
        before = len(trail(bench))
        await verb()
        assert [line["action"] for line in trail(bench)[before:]] == [action]


async def test_a_line_tells_what_it_is_now(bench: Any, ours: Any) -> None:
    await bench.administration.put_agent("ours", "robot", tools=["web.*"], credentials=["search.apiKey"])
    assert json.loads(trail(bench)[-1]["details"]) == {"tools": ["web.*"], "credentials": ["search.apiKey"]}


async def test_settings_are_named_not_shown(bench: Any, ours: Any) -> None:
    """A proxy's address may hold what is nobody else's business."""
    await bench.administration.put_operator_settings("ours", "acme", {"base_url": "https://canary.example"})
    assert (trail(bench)[-1]["subject"], json.loads(trail(bench)[-1]["details"])) == ("acme", {"names": ["base_url"]})


REFUSED: list[tuple[str, str, object]] = [
    ("PUT", "/organizations/ours/search/selection", {"provider": "acne"}),
    ("PUT", "/organizations/ours/search/selection", {"provider": "acme", "settings": {"level": "1"}}),
    ("PUT", "/organizations/ours/search/providers/acme/credential", {"value": ""}),
    ("PUT", "/organizations/ours/search/providers/open/credential", {"value": CANARY}),
    ("PUT", "/organizations/ours/agents/-", {}),
    ("PUT", "/organizations/ours/agents/robot", {"tools": "web.*"}),
    ("DELETE", "/organizations/ours/agents/default", None),
    ("POST", "/organizations/ours/tokens", {"name": "n", "scopes": []}),
    ("POST", "/organizations/ours/tokens", {"name": "n", "scopes": ["search"], "agent": "nobody"}),
    ("POST", "/organizations/ours/tokens", {"name": "n", "scopes": ["search"], "expiresAt": "tomorrow"}),
    ("PUT", "/organizations/theirs/search/selection", {"provider": "open"}),
    ("POST", "/organizations", {"organization": "ours"}),
    ("DELETE", "/organizations/ours", None),
]


@pytest.mark.parametrize(("method", "path", "body"), REFUSED)
async def test_a_refused_change_leaves_no_line(bench: Any, ours: Any, method: str, path: str, body: object) -> None:
    before = trail(bench)
    assert (await bench.call(method, path, ours.admin, body))[0] >= 400
    assert trail(bench) == before


async def test_a_refused_change_of_an_operator_leaves_no_line(bench: Any, ours: Any) -> None:
    operator = await bench.token(None, "operator")
    before = trail(bench)
    for body in ({"organization": "ours"}, {"organization": "Wrong Name"}, {}):
        assert (await bench.call("POST", "/organizations", operator, body))[0] == 400
    assert (await bench.call("DELETE", "/organizations/nobody", operator))[0] == 403
    assert trail(bench) == before


async def test_reading_leaves_no_line(bench: Any, ours: Any) -> None:
    before = trail(bench)
    for method, path in bench.admin_routes():
        if (method, path) != ("GET", "/organizations") and method == "GET":
            address = path.format(organization="ours", provider="acme", agent="robot")
            assert (await bench.call(method, address, ours.admin))[0] == 200
    assert trail(bench) == before


async def test_a_search_leaves_no_line_and_its_query_nowhere(bench: Any, ours: Any) -> None:
    before = trail(bench)
    await bench.search(ours.search, "canary query")
    assert trail(bench) == before
    assert b"canary query" not in bench.bytes_on_disk()


async def test_an_admin_reads_the_trail_newest_first(bench: Any, ours: Any) -> None:
    _, body = await bench.call("GET", f"{ours.path}/audit", ours.admin)
    actions = [change["action"] for change in body["changes"]]
    assert actions == ["agent.put", "token.issue", "token.issue", "selection.put", "credential.put"]
    assert all(change.keys() == {"id", "at", "actor", "action", "subject", "details"} for change in body["changes"])


async def test_the_trail_is_read_a_hundred_lines_at_a_time(bench: Any, ours: Any) -> None:
    columns = "organization, at, actor, action, subject, details"
    line = f"INSERT INTO audit ({columns}) VALUES ('ours', '2026-11-30T00:00:00Z', 'x', 'y', ?, '{{}}')"  # noqa: S608
    for number in range(150):
        bench.sql(line, str(number))
    _, first = await bench.call("GET", f"{ours.path}/audit", ours.admin)
    _, second = await bench.call("GET", f"{ours.path}/audit?before={first['changes'][-1]['id']}", ours.admin)
    assert [change["subject"] for change in first["changes"]] == [str(number) for number in range(149, 49, -1)]
    assert [change["subject"] for change in second["changes"]][:50] == [str(number) for number in range(49, -1, -1)]
    assert len(second["changes"]) == 55


async def test_a_wrong_page_of_the_trail_is_refused(bench: Any, ours: Any) -> None:
    for before in ("x", "-1", "1.5", "", "9" * 19, "١"):
        status, body = await bench.call("GET", f"{ours.path}/audit?before={before}", ours.admin)
        assert (status, body["faults"][0]["path"]) == (400, "$.before")
