"""Two gates an agent must pass: the tool and the credential. Nothing is allowed unless it is listed."""

from typing import Any

import pytest


@pytest.fixture
async def tenant(bench: Any) -> Any:
    return await bench.tenant("ours", "acme", keys={"acme": "key-of-ours-acme"})


async def search_as(bench: Any, tools: list[str], credentials: list[str]) -> tuple[int, Any]:
    """One search of an agent with these gates."""
    await bench.administration.put_agent("ours", "robot", tools=tools, credentials=credentials)
    return await bench.search(await bench.token("ours", "search", agent="robot"))


async def test_the_default_agent_passes_both(bench: Any, tenant: Any) -> None:
    status, body = await bench.search(tenant.search)
    assert (status, body["provider"], bench.keys_seen("api.acme.example")) == (200, "acme", ["key-of-ours-acme"])


async def test_another_agent_begins_with_nothing(bench: Any, tenant: Any) -> None:
    """It is stopped at the first gate, and nothing is asked of the vendor."""
    made = await bench.call("PUT", f"{tenant.path}/agents/robot", tenant.admin, {})
    assert (made[0], made[1]["tools"], made[1]["credentials"]) == (200, [], [])
    status, body = await bench.search(await bench.token("ours", "search", agent="robot"))
    assert (status, body["code"], body["gate"], bench.web.requests) == (403, "forbidden", "tools:web.search", [])


async def test_the_tool_gate_names_the_agent_and_the_gate(bench: Any, tenant: Any) -> None:
    _, body = await search_as(bench, [], ["search.apiKey"])
    assert body["gate"] == "tools:web.search"
    assert "agent 'robot'" in body["detail"]
    assert "add it to the agent's tools" in body["detail"]


async def test_the_credential_gate_names_the_agent_and_the_gate(bench: Any, tenant: Any) -> None:
    status, body = await search_as(bench, ["web.search"], [])
    assert (status, body["gate"], bench.web.requests) == (403, "credentials:search.apiKey", [])
    assert "agent 'robot'" in body["detail"]
    assert "add it to the agent's credentials" in body["detail"]


async def test_a_glob_that_covers_the_tool_opens_its_gate(bench: Any, tenant: Any) -> None:
    for pattern in ("web.search", "web.*", "*", "web.s*", "*.search", "*search"):
        assert (await search_as(bench, [pattern], ["search.apiKey"]))[0] == 200


async def test_a_glob_that_does_not_cover_the_tool_opens_nothing(bench: Any, tenant: Any) -> None:
    for pattern in ("web", "search", "WEB.*", "web.search.more", "news.*", "web.s", "web.searches", "action.search.web"):
        status, body = await search_as(bench, [pattern], ["search.apiKey"])
        assert (pattern, status, body["gate"]) == (pattern, 403, "tools:web.search")


async def test_a_glob_that_covers_the_credential_opens_its_gate(bench: Any, tenant: Any) -> None:
    for pattern in ("search.apiKey", "search.*", "*"):
        assert (await search_as(bench, ["web.*"], [pattern]))[0] == 200


async def test_a_glob_that_does_not_cover_the_credential_opens_nothing(bench: Any, tenant: Any) -> None:
    for pattern in ("search.apikey", "search", "apiKey", "web.*", "acme"):
        status, body = await search_as(bench, ["web.*"], [pattern])
        assert (pattern, status, body["gate"]) == (pattern, 403, "credentials:search.apiKey")


@pytest.mark.parametrize("provider", ["fake", "open"])
async def test_a_keyless_provider_has_no_credential_gate(bench: Any, tenant: Any, provider: str) -> None:
    await bench.select("ours", provider)
    status, body = await search_as(bench, ["web.search"], [])
    assert (status, body["provider"]) == (200, provider)


async def test_local_documents_have_no_credential_gate(bench: Any, tenant: Any) -> None:
    await bench.administration.put_operator_settings("ours", "local", {"pages_url": "https://docs.example"})
    await bench.select("ours", "local")
    status, body = await search_as(bench, ["web.search"], [])
    assert (status, body["provider"]) == (200, "local")


async def test_a_keyless_provider_still_has_the_tool_gate(bench: Any, tenant: Any) -> None:
    await bench.select("ours", "open")
    status, body = await search_as(bench, [], ["*"])
    assert (status, body["gate"], bench.web.requests) == (403, "tools:web.search", [])


async def test_a_fallback_has_its_credential_gate_too(bench: Any, tenant: Any, vendors: Any) -> None:
    """The keyless provider fails, and the agent may not use the key of the one after it."""
    vendors.fail("open", 500)
    await bench.select("ours", "open", "acme")
    status, body = await search_as(bench, ["web.search"], [])
    assert (status, body["code"], body["provider"]) == (503, "provider_unavailable", "open")
    assert bench.keys_seen("api.acme.example") == []


async def test_a_gate_closes_at_the_very_next_call(bench: Any, tenant: Any) -> None:
    assert (await search_as(bench, ["web.*"], ["search.apiKey"]))[0] == 200
    token = await bench.token("ours", "search", agent="robot")
    closed = await bench.call("PUT", f"{tenant.path}/agents/robot", tenant.admin, {"tools": [], "credentials": []})
    assert (closed[0], (await bench.search(token))[0]) == (200, 403)


async def test_the_default_agents_gates_can_be_closed(bench: Any, tenant: Any) -> None:
    await bench.call("PUT", f"{tenant.path}/agents/default", tenant.admin, {"tools": [], "credentials": []})
    assert (await bench.search(tenant.search))[1]["gate"] == "tools:web.search"


async def test_the_default_agent_cannot_be_deleted(bench: Any, tenant: Any) -> None:
    status, body = await bench.call("DELETE", f"{tenant.path}/agents/default", tenant.admin)
    assert (status, body["code"]) == (400, "validation_error")
    assert (await bench.search(tenant.search))[0] == 200


NO_GATES: list[object] = ["web.*", [5], [""], ["web search"], ["web.[s]earch"], [None], ["x" * 65], ["a"] * 65, {"web": 1}]


async def test_a_list_of_gates_that_is_none_is_refused(bench: Any, tenant: Any) -> None:
    for tools in NO_GATES:
        status, body = await bench.call("PUT", f"{tenant.path}/agents/robot", tenant.admin, {"tools": tools})
        assert (status, body["code"], body["faults"][0]["path"]) == (400, "validation_error", "$.tools")


async def test_an_unknown_gate_is_refused_by_name(bench: Any, tenant: Any) -> None:
    status, body = await bench.call("PUT", f"{tenant.path}/agents/robot", tenant.admin, {"tolls": ["web.*"]})
    assert (status, body["faults"][0]["path"], "did you mean 'tools'?" in body["detail"]) == (400, "$.tolls", True)


async def test_an_organization_without_a_selection_is_told_so(bench: Any) -> None:
    status, body = await bench.search((await bench.tenant("bare")).search)
    assert (status, body["code"]) == (409, "provider_not_configured")
    assert "selected no provider" in body["detail"]
