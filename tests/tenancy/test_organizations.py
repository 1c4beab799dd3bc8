"""Organizations: made with what a call needs, bounded by the operator, deleted with everything that is theirs."""

import itertools
from typing import Any

import pytest

from searchport.errors import SearchError
from searchport.request import SearchRequest
from searchport_platform.platform import Caller
from searchport_platform.storage.schema import METADATA, TENANT_TABLES

OWNED = sorted(table.name for table in METADATA.tables.values() if "organization" in table.columns)


async def test_every_table_with_an_organization_is_a_tenants_table() -> None:
    assert set(OWNED) == TENANT_TABLES


async def test_an_organization_begins_with_its_default_agent(bench: Any) -> None:
    ours = await bench.tenant("ours")
    _, body = await bench.call("GET", f"{ours.path}/agents", ours.admin)
    assert [(agent["id"], agent["tools"], agent["credentials"]) for agent in body["agents"]] == [
        ("default", ["web.*"], ["search.apiKey"])
    ]


async def test_an_organization_made_over_http_begins_with_it_too(bench: Any) -> None:
    operator = await bench.token(None, "operator")
    status, body = await bench.call("POST", "/organizations", operator, {"organization": "ours", "name": "Ours"})
    assert (status, body["id"], body["name"], body["allowedProviders"]) == (201, "ours", "Ours", None)
    assert (await bench.call("GET", "/organizations/ours/agents/default", operator))[0] == 200


async def test_a_taken_name_is_refused_and_changes_nothing(bench: Any) -> None:
    await bench.tenant("ours", "open")
    before = bench.rows()
    with pytest.raises(SearchError, match="'ours' is taken") as refused:
        await bench.administration.create_organization("ours", "Another")
    assert (str(refused.value.code), bench.rows()) == ("validation_error", before)


WRONG_NAMES = ["", "Ours", "-ours", "ours-", "our_s", "ou rs", "ours/../theirs", "öurs", "a" * 65, "ours\n", None, 5, "ours\x00"]


async def test_a_wrong_name_is_refused(bench: Any) -> None:
    for name in WRONG_NAMES:
        with pytest.raises(SearchError) as refused:
            await bench.administration.create_organization(name, "Name")
        assert [fault.path for fault in refused.value.faults] == ["$.organization"]
    assert bench.rows()["organizations"] == []


async def test_a_right_name_is_taken(bench: Any) -> None:
    for name in ("a", "0", "a-b", "a" * 64):
        assert (await bench.administration.create_organization(name, "Name")).id == name


async def test_a_wrong_name_of_an_agent_is_refused(bench: Any) -> None:
    ours = await bench.tenant("ours")
    for name in ("Robot", "-", "ro.bot", "r" * 65):
        status, body = await bench.call("PUT", f"{ours.path}/agents/{name}", ours.admin, {})
        assert (status, body["faults"][0]["path"]) == (400, "$.agent")


async def fill(bench: Any, name: str) -> Any:
    """An organization with a row in every table that can hold one."""
    tenant = await bench.tenant(name, "acme", "open", keys={"acme": f"key-of-{name}-acme"})
    await bench.administration.put_agent(name, "robot", tools=["web.*"], credentials=[])
    await bench.administration.put_operator_settings(name, "acme", {"base_url": "https://api.acme.example"})
    assert (await bench.search(tenant.search))[0] == 200
    bench.sql(f"INSERT INTO organization_months VALUES ('{name}', '2026-11', 5000)")  # noqa: S608  # no provider here has a price
    return tenant


async def test_deletion_removes_every_row_of_every_table(bench: Any) -> None:
    """Of this organization alone."""
    await fill(bench, "ours")
    await fill(bench, "theirs")

    def owners(table: str) -> set[str]:
        return {row[0] for row in bench.sql(f"SELECT organization FROM {table}")}  # noqa: S608

    assert {table: owners(table) >= {"ours", "theirs"} for table in OWNED} == dict.fromkeys(OWNED, True)
    await bench.administration.delete_organization("ours")
    assert {table: "ours" in owners(table) for table in OWNED} == dict.fromkeys(OWNED, False)
    assert {table: "theirs" in owners(table) for table in OWNED} == dict.fromkeys(OWNED, True)
    assert bench.sql("SELECT id FROM organizations") == [("theirs",)]


async def test_that_it_was_deleted_stays_in_the_platforms_own_trail(bench: Any) -> None:
    await fill(bench, "ours")
    await bench.administration.delete_organization("ours")
    changes = [(change.action, change.subject) for change in await bench.administration.list_changes(None)]
    assert changes[0] == ("organization.delete", "ours")


async def test_the_tokens_of_a_deleted_organization_stop_working(bench: Any) -> None:
    ours = await fill(bench, "ours")
    operator = await bench.token(None, "operator")
    assert (await bench.search(ours.search))[0] == 200
    assert (await bench.call("DELETE", "/organizations/ours", operator))[0] == 204
    assert (await bench.search(ours.search))[0] == 401
    assert (await bench.call("GET", "/organizations/ours", ours.admin))[0] == 401


async def test_an_organization_made_again_inherits_nothing(bench: Any) -> None:
    old = await fill(bench, "ours")
    await bench.administration.delete_organization("ours")
    new = await bench.tenant("ours")
    assert (await bench.search(old.search))[0] == 401
    assert (await bench.search(new.search))[1]["code"] == "provider_not_configured"
    assert await bench.administration.list_credentials("ours") == []
    assert [agent.id for agent in await bench.administration.list_agents("ours")] == ["default"]


async def test_a_call_in_this_process_for_a_deleted_organization_is_unauthorized(bench: Any) -> None:
    with pytest.raises(SearchError) as refused:
        await bench.platform.search(Caller(organization="nobody"), SearchRequest("tea"))
    assert str(refused.value.code) == "unauthorized"


async def test_deleting_what_is_not_there_is_refused(bench: Any) -> None:
    with pytest.raises(SearchError, match="no such organization"):
        await bench.administration.delete_organization("nobody")


@pytest.mark.only("sqlite", "a server keeps its files where the platform cannot see them")
async def test_the_secrets_of_a_deleted_organization_do_not_linger_on_the_disk(bench: Any) -> None:
    """Not even sealed: its row is overwritten, once the journal is folded in."""
    await fill(bench, "ours")
    nonce = bench.sql("SELECT nonce FROM credentials")[0][0]
    await bench.administration.delete_organization("ours")
    await bench.platform.engine.dispose()
    assert nonce not in bench.file.read_bytes()


# What an organization's results may point to

PRIVATE = "http://10.0.0.7:9000"


@pytest.fixture
def pages(bench: Any) -> None:
    bench.web.answer(
        "https://pages.proxy.example/find",
        json={"hits": [{"t": "In", "u": f"{PRIVATE}/docs/a"}, {"t": "Out", "u": "https://pages.example/b"}]},
    )


async def ask_private(bench: Any, name: str) -> tuple[list[str], int]:
    """URLs that an organization gets, and how many were refused for their address."""
    tenant = await bench.tenant(name, "acme", keys={"acme": "key-of-acme-0001"})
    await bench.administration.put_operator_settings(name, "acme", {"base_url": "https://pages.proxy.example"})
    if name == "ours":
        await bench.administration.bound_organization(name, result_hosts=["10.0.0.7:9000"])
    _, body = await bench.search(tenant.search)
    return [result["url"] for result in body["results"]], body["filterReport"]["refusedAddress"]


@pytest.mark.usefixtures("pages")
async def test_only_an_organizations_own_result_hosts_may_be_private(bench: Any) -> None:
    assert await ask_private(bench, "ours") == ([f"{PRIVATE}/docs/a", "https://pages.example/b"], 0)
    assert await ask_private(bench, "theirs") == (["https://pages.example/b"], 1)


async def test_a_result_host_is_not_a_host_to_call(bench: Any) -> None:
    """What results may point to opens nothing for dialling."""
    ours = await bench.tenant("ours", "acme", keys={"acme": "key-of-acme-0001"})
    await bench.administration.put_operator_settings("ours", "acme", {"base_url": PRIVATE})
    await bench.administration.bound_organization("ours", result_hosts=["10.0.0.7:9000"])
    status, body = await bench.search(ours.search)
    assert (status, body["code"], bench.web.requests) == (502, "upstream_unreachable", [])


async def test_the_demos_own_origin_is_the_demos_alone(bench: Any, open_platform: Any) -> None:
    """Results from the manual point to this server: shown to the organization whose result hosts name it, to nobody else."""
    await bench.tenant("demo", "local")
    await bench.tenant("theirs", "local")
    await bench.administration.bound_organization("demo", result_hosts=["127.0.0.1:9000"])
    async with open_platform(public_url="http://127.0.0.1:9000") as platform:
        found = {name: await platform.search(Caller(organization=name), SearchRequest("search")) for name in ("demo", "theirs")}
    assert {result.url.split("/docs/")[0] for result in found["demo"].results} == {"http://127.0.0.1:9000"}
    assert (found["theirs"].results, found["theirs"].filter_report.refused_address > 0) == ((), True)


# What an organization's calls may reach


async def reach(bench: Any, url: str, **bounds: Any) -> str:
    """How a search ends whose vendor is at a private address: `ok` or the error's code."""
    bench.web.answer(f"{url}/find", json={"hits": []})
    tenant = await bench.tenant("ours", "acme", keys={"acme": "key-of-acme-0001"})
    await bench.administration.put_operator_settings("ours", "acme", {"base_url": url})
    await bench.administration.bound_organization("ours", **bounds)
    status, body = await bench.search(tenant.search)
    return "ok" if status == 200 else body["code"]


@pytest.mark.parametrize(
    ("bounds", "outcome"),
    [
        ({}, "upstream_unreachable"),
        ({"allowed_hosts": ["10.0.0.7:9000"]}, "ok"),
        ({"allowed_hosts": ["10.0.0.7"]}, "ok"),
        ({"allowed_hosts": ["10.0.0.7:9001"]}, "upstream_unreachable"),
        ({"allowed_hosts": ["10.0.0.8:9000"]}, "upstream_unreachable"),
        ({"allow_private_addresses": True}, "upstream_unreachable"),  # the port is still none of the four
    ],
)
@pytest.mark.only("sqlite", "about what may be dialled")
async def test_an_organization_reaches_the_private_hosts_that_the_operator_lists(
    bench: Any, bounds: dict[str, Any], outcome: str
) -> None:
    assert await reach(bench, PRIVATE, **bounds) == outcome


async def test_private_addresses_are_an_operators_to_allow(bench: Any) -> None:
    assert await reach(bench, "http://10.0.0.7:8080", allow_private_addresses=True) == "ok"


@pytest.mark.parametrize("url", ["http://169.254.169.254", "http://169.254.170.2:8080"])
@pytest.mark.only("sqlite", "about what may be dialled")
async def test_a_metadata_address_is_never_allowed(bench: Any, url: str) -> None:
    host = url.removeprefix("http://")
    assert await reach(bench, url, allow_private_addresses=True, allowed_hosts=[]) == "upstream_unreachable"
    assert [request.host for request in bench.web.requests if request.host in host] == []


async def test_what_one_organization_may_reach_another_may_not(bench: Any) -> None:
    """Also once a connection is open: pooled connections are not shared between policies."""
    assert await reach(bench, PRIVATE, allowed_hosts=["10.0.0.7:9000"]) == "ok"
    theirs = await bench.tenant("theirs", "acme", keys={"acme": "key-of-acme-0002"})
    await bench.administration.put_operator_settings("theirs", "acme", {"base_url": PRIVATE})
    assert (await bench.search(theirs.search))[1]["code"] == "upstream_unreachable"
    assert bench.keys_seen("10.0.0.7") == ["key-of-acme-0001"]


@pytest.mark.parametrize(("column", "value"), [("allowed_hosts", '["10.0.0.7:8080"]'), ("allow_private_addresses", True)])
async def test_what_one_agent_may_reach_another_may_not(bench: Any, column: str, value: object) -> None:
    bench.web.answer("http://10.0.0.7:8080/find", json={"hits": []})
    await bench.tenant("ours", "acme", keys={"acme": "key-of-acme-0001"})
    await bench.administration.put_operator_settings("ours", "acme", {"base_url": "http://10.0.0.7:8080"})
    await bench.administration.put_agent("ours", "robot", tools=["*"], credentials=["*"])
    bench.sql(f"UPDATE agents SET {column} = ? WHERE id = 'robot'", value)  # noqa: S608
    token = await bench.token("ours", "search", "agents")
    assert [(await bench.search(token, agent=agent))[0] for agent in ("robot", "default")] == [200, 502]


async def test_an_admin_who_changes_an_agent_keeps_what_the_operator_opened(bench: Any) -> None:
    ours = await bench.tenant("ours")
    bench.sql("UPDATE agents SET allowed_hosts = ?", '["10.0.0.7:8080"]')
    body = {"tools": ["web.*"], "credentials": []}
    assert (await bench.call("PUT", f"{ours.path}/agents/default", ours.admin, body))[1]["allowedHosts"] == ["10.0.0.7:8080"]


WRONG_HOSTS = [["http://10.0.0.7"], [""], ["10.0.0.7:0x50"], ["*.example.com"], ["user@host"]]


async def test_a_wrong_host_is_refused(bench: Any) -> None:
    await bench.tenant("ours")
    for hosts, (name, path) in itertools.product(
        WRONG_HOSTS, (("allowed_hosts", "$.allowedHosts"), ("result_hosts", "$.resultHosts"))
    ):
        with pytest.raises(SearchError) as refused:
            await bench.administration.bound_organization("ours", **{name: hosts})
        assert [fault.path for fault in refused.value.faults] == [path]


async def test_a_bound_names_enabled_providers_only(bench: Any) -> None:
    await bench.tenant("ours")
    with pytest.raises(SearchError, match="did you mean 'acme'"):
        await bench.administration.bound_organization("ours", allowed_providers=["acne"])


async def test_an_admin_sees_the_bounds_and_no_route_changes_them(bench: Any) -> None:
    ours = await bench.tenant("ours")
    await bench.administration.bound_organization("ours", allowed_providers=["open"], allowed_hosts=["10.0.0.7:8080"])
    _, body = await bench.call("GET", ours.path, ours.admin)
    assert (body["allowedProviders"], body["allowedHosts"]) == (["open"], ["10.0.0.7:8080"])
    assert {method for method, path in bench.admin_routes() if path == "/organizations/{organization}"} == {"GET", "DELETE"}
