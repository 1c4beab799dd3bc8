"""Nobody sees, or changes, what is not his; and an admin of one organization cannot learn that another exists."""

from typing import Any

import pytest

from searchport_platform.tenancy import tokens

OPERATORS = {("GET", "/organizations"), ("POST", "/organizations"), ("DELETE", "/organizations/{organization}")}

BODIES: dict[tuple[str, str], object] = {
    ("POST", "/organizations"): {"organization": "newcomer"},
    ("PUT", "/organizations/{organization}/search/selection"): {"provider": "beta"},
    ("PUT", "/organizations/{organization}/search/providers/{provider}/credential"): {"value": "a-key-of-a-stranger"},
    ("PUT", "/organizations/{organization}/agents/{agent}"): {"tools": ["web.*"], "credentials": ["search.apiKey"]},
    ("POST", "/organizations/{organization}/tokens"): {"name": "mine", "scopes": ["admin"]},
}


def fill(path: str, organization: str, token: str = "0" * 16) -> str:
    """A route's address."""
    return path.format(organization=organization, provider="acme", agent="robot", token=token)


async def answers(bench: Any, token: str | None, organization: str, named: str = "0" * 16) -> dict[tuple[str, str], Any]:
    """Route -> status and body, without its request's id, of a call on every admin route."""
    found = {}
    for method, path in bench.admin_routes():
        status, body = await bench.call(method, fill(path, organization, named), token, BODIES.get((method, path), {}))
        found[method, path] = status, {k: v for k, v in (body or {}).items() if k != "requestId"}
    return found


@pytest.fixture
async def pair(bench: Any) -> tuple[Any, Any]:
    """Two organizations, each with everything that one can have."""
    made = []
    for name in ("ours", "theirs"):
        tenant = await bench.tenant(name, "acme", "beta", keys={"acme": f"key-of-{name}-acme", "beta": f"key-of-{name}-beta"})
        await bench.administration.put_agent(name, "robot", tools=["web.*"], credentials=[])
        await bench.administration.put_operator_settings(name, "acme", {"base_url": "https://api.acme.example"})
        await bench.search(tenant.search)
        await bench.call("GET", tenant.path, tenant.admin)
        made.append(tenant)
    return made[0], made[1]


def token_id(text: str) -> str:
    return text.removeprefix(tokens.PREFIX)[:16]


async def test_the_test_knows_the_admin_routes(bench: Any) -> None:
    routes = bench.admin_routes()
    assert len(routes) == len(set(routes)) >= 20
    assert OPERATORS | set(BODIES) <= set(routes)


async def test_an_admin_cannot_tell_another_organization_from_none(bench: Any, pair: tuple[Any, Any]) -> None:
    """On every route, both ways round, with the ids of the other's own things."""
    before = bench.rows()
    for admin, other in (pair, pair[::-1]):
        named = token_id(other.search)
        there, nowhere = await answers(bench, admin.admin, other.id, named), await answers(bench, admin.admin, "nobody", named)
        assert {route: answer for route, answer in there.items() if answer != nowhere[route]} == {}
        assert {status for status, _ in there.values()} == {403}
    assert bench.rows() == before


async def test_what_belongs_to_another_is_not_found_in_ones_own(bench: Any, pair: tuple[Any, Any]) -> None:
    ours, theirs = pair
    for text in (token_id(theirs.search), "0" * 16):
        assert await bench.call("DELETE", f"{ours.path}/tokens/{text}", ours.admin) == (
            404,
            {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "there is no such token", "faults": []},
        )
    assert (await bench.search(theirs.search))[0] == 200


async def test_a_token_cannot_be_bound_to_an_agent_of_another(bench: Any, pair: tuple[Any, Any]) -> None:
    await bench.administration.put_agent("theirs", "secret-agent", tools=[], credentials=[])
    refused = [
        await bench.call("POST", f"{pair[0].path}/tokens", pair[0].admin, {"name": "n", "scopes": ["search"], "agent": agent})
        for agent in ("secret-agent", "no-such-agent")
    ]
    assert refused[0] == refused[1]
    assert refused[0][0] == 400


async def test_ones_own_answers_never_name_another(bench: Any, pair: tuple[Any, Any]) -> None:
    ours, _ = pair
    found = await answers_of_reading(bench, ours)
    assert {status for status, _ in found.values()} == {200}
    assert {route: body for route, (_, body) in found.items() if "theirs" in str(body).lower()} == {}


async def answers_of_reading(bench: Any, tenant: Any) -> dict[str, Any]:
    paths = [path for method, path in bench.admin_routes() if method == "GET" and (method, path) not in OPERATORS]
    return {path: await bench.call("GET", fill(path, tenant.id), tenant.admin) for path in paths}


async def test_a_search_token_changes_nothing(bench: Any, pair: tuple[Any, Any]) -> None:
    """On every route of its own organization; the refusal names the scope that is missing."""
    ours, _ = pair
    before = bench.rows()
    found = await answers(bench, ours.search, ours.id, token_id(ours.admin))
    gates = {route: (status, body["gate"]) for route, (status, body) in found.items()}
    assert gates == {route: (403, "scope:operator" if route in OPERATORS else "scope:admin") for route in found}
    assert bench.rows() == before


async def test_operators_routes_are_refused_to_admins(bench: Any, pair: tuple[Any, Any]) -> None:
    ours, _ = pair
    before = bench.rows()
    for method, path in sorted(OPERATORS):
        status, body = await bench.call(method, fill(path, ours.id), ours.admin, BODIES.get((method, path)))
        assert (status, body["code"], body["gate"]) == (403, "forbidden", "scope:operator")
    assert bench.rows() == before


async def test_an_operator_acts_on_every_organization(bench: Any, pair: tuple[Any, Any]) -> None:
    operator = await bench.token(None, "operator")
    listed = await bench.call("GET", "/organizations", operator)
    assert [each["id"] for each in listed[1]["organizations"]] == ["ours", "theirs"]
    assert [(await bench.call("GET", tenant.path, operator))[0] for tenant in pair] == [200, 200]
    assert (await bench.call("GET", "/organizations/nobody", operator))[0] == 403


async def test_an_operators_token_does_not_search(bench: Any) -> None:
    status, body = await bench.search(await bench.token(None, "operator"))
    assert (status, body["gate"]) == (403, "scope:search")


BAD_TOKENS = ["none", "empty", "garbage", "cut", "mistyped", "longer", "of another scheme", "forged", "expired", "revoked"]


async def bad_token(bench: Any, kind: str, pair: tuple[Any, Any]) -> str | None:
    """A header that must not let anyone in."""
    ours, theirs = pair
    good = ours.admin
    last = "0" if good[-1] != "0" else "1"
    if kind == "expired":
        good = await bench.token("ours", "admin", "search", expires_at="2020-01-01T00:00:00Z")
    if kind == "revoked":
        good = await bench.token("ours", "admin", "search")
        assert await bench.administration.revoke_token("ours", token_id(good))
    secret = theirs.admin.removeprefix(tokens.PREFIX)[16:80]
    return {
        "none": None,
        "empty": "Bearer ",
        "garbage": "Bearer let-me-in",
        "cut": f"Bearer {good[:-1]}",
        "mistyped": f"Bearer {good[:-1]}{last}",
        "longer": f"Bearer {good}0",
        "of another scheme": f"Basic {good}",
        "forged": f"Bearer {tokens._write(token_id(good), secret)}",
    }.get(kind, f"Bearer {good}")


@pytest.mark.parametrize("kind", BAD_TOKENS)
@pytest.mark.only("sqlite", "refused before any row is read")
async def test_no_route_is_open_without_a_valid_token(bench: Any, pair: tuple[Any, Any], kind: str) -> None:
    """forged: an identity of ours with a secret of theirs, and a right checksum."""
    header = await bad_token(bench, kind, pair)
    headers = {} if header is None else {"Authorization": header}
    before, asked = bench.rows(), len(bench.web.requests)
    routes = [*bench.admin_routes(), ("POST", "/action/search/web")]
    for method, path in routes:
        body = BODIES.get((method, path), {"query": "tea"})
        status, problem = await bench.call(method, fill(path, "ours"), None, body, headers)
        assert (method, path, status, problem["code"]) == (method, path, 401, "unauthorized")
    assert (bench.rows(), len(bench.web.requests)) == (before, asked)


async def test_a_refusal_says_how_to_authenticate(bench: Any) -> None:
    async with bench.client.post("/api/platform/v1/action/search/web", json={"query": "tea"}) as refused:
        assert refused.headers["WWW-Authenticate"] == 'Bearer realm="searchport"'
        assert refused.content_type == "application/problem+json"


async def test_every_wrong_token_gets_the_same_answer(bench: Any, pair: tuple[Any, Any]) -> None:
    """So that nobody learns which identities exist."""
    seen = set()
    for kind in BAD_TOKENS:
        header = await bad_token(bench, kind, pair)
        seen.add(str(await bench.call("GET", "/organizations/ours", None, None, {"Authorization": header} if header else {})))
    assert len(seen) == 1


async def test_an_admin_without_the_search_scope_cannot_search(bench: Any, pair: tuple[Any, Any]) -> None:
    asked = len(bench.web.requests)
    status, body = await bench.search(pair[0].admin)
    assert (status, body["code"], body["gate"], len(bench.web.requests)) == (403, "forbidden", "scope:search", asked)


async def test_an_unknown_agent_is_forbidden(bench: Any, pair: tuple[Any, Any]) -> None:
    both = await bench.token("ours", "search", "agents")
    status, body = await bench.search(both, agent="nobody")
    assert (status, body["code"], body["gate"]) == (403, "forbidden", "agent")
    assert "'nobody'" in body["detail"]


async def test_an_agent_of_another_organization_is_unknown(bench: Any, pair: tuple[Any, Any]) -> None:
    await bench.administration.put_agent("theirs", "butler", tools=["*"], credentials=["*"])
    both = await bench.token("ours", "search", "agents")
    there, nowhere = await bench.search(both, agent="butler"), await bench.search(both, agent="batler")
    assert there[0] == nowhere[0] == 403
    assert str(there[1]).replace("butler", "batler") == str(nowhere[1])


async def test_naming_an_agent_takes_the_agents_scope(bench: Any, pair: tuple[Any, Any]) -> None:
    status, body = await bench.search(pair[0].search, agent="robot")
    assert (status, body["gate"]) == (403, "scope:agents")


async def test_a_token_with_the_agents_scope_names_its_agent(bench: Any, pair: tuple[Any, Any]) -> None:
    await bench.administration.put_agent("ours", "butler", tools=["web.search"], credentials=["search.apiKey"])
    both = await bench.token("ours", "search", "agents")
    assert (await bench.search(both, agent="butler"))[0] == 200
    assert (await bench.search(both, agent="robot"))[1]["gate"] == "credentials:search.apiKey"


async def test_a_bound_token_cannot_name_another_agent(bench: Any, pair: tuple[Any, Any]) -> None:
    bound = await bench.token("ours", "search", "agents", agent="robot")
    status, body = await bench.search(bound, agent="default")
    assert (status, body["code"], body["gate"]) == (403, "forbidden", "agent")


async def test_a_bound_token_may_name_its_own_agent(bench: Any, pair: tuple[Any, Any]) -> None:
    await bench.select("ours", "open")
    bound = await bench.token("ours", "search", agent="robot")
    assert [(await bench.search(bound, agent=agent))[0] for agent in (None, "robot")] == [200, 200]


async def test_a_bound_token_acts_for_its_agent(bench: Any, pair: tuple[Any, Any]) -> None:
    bound = await bench.token("ours", "search", agent="robot")
    assert "agent 'robot'" in (await bench.search(bound))[1]["detail"]


async def test_a_bound_token_ends_with_its_agent(bench: Any, pair: tuple[Any, Any]) -> None:
    await bench.select("ours", "open")
    bound = await bench.token("ours", "search", agent="robot")
    await bench.administration.remove_agent("ours", "robot")
    assert (await bench.search(bound))[1]["gate"] == "agent"


async def test_the_organization_comes_from_the_token_never_from_the_body(bench: Any, pair: tuple[Any, Any]) -> None:
    asked = len(bench.web.requests)
    status, body = await bench.search(pair[0].search, organization="theirs")
    assert (status, body["code"], len(bench.web.requests)) == (400, "validation_error", asked)
    assert [fault["path"] for fault in body["faults"]] == ["$.organization"]


async def test_an_admin_cannot_make_an_operators_token(bench: Any, pair: tuple[Any, Any]) -> None:
    body = {"name": "n", "scopes": ["admin", "operator"]}
    assert (await bench.call("POST", f"{pair[0].path}/tokens", pair[0].admin, body))[0] == 400
    assert bench.sql("SELECT count(*) FROM tokens WHERE CAST(scopes AS TEXT) LIKE '%operator%'") == [(0,)]


async def test_a_revoked_token_is_refused_at_the_very_next_call(bench: Any, pair: tuple[Any, Any]) -> None:
    ours, _ = pair
    assert (await bench.search(ours.search))[0] == 200
    assert (await bench.call("DELETE", f"{ours.path}/tokens/{token_id(ours.search)}", ours.admin))[0] == 204
    assert (await bench.search(ours.search))[0] == 401


async def test_a_token_shows_the_day_of_its_last_use_and_no_secret(bench: Any, pair: tuple[Any, Any]) -> None:
    ours, _ = pair
    status, body = await bench.call("GET", f"{ours.path}/tokens", ours.admin)
    listed = {token["id"]: token for token in body["tokens"]}
    assert (status, listed[token_id(ours.search)]["lastUsedDay"] is not None) == (200, True)
    assert not any(key in listed[token_id(ours.search)] for key in ("hash", "token"))
    assert ours.search not in str(body)
