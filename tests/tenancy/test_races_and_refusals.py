"""What a review of tenancy found; each failed before its fix."""

import asyncio
import base64
from typing import Any

import pytest

from searchport_platform.storage.engine import DatabaseUrlError, parse_url, transaction
from searchport_platform.tenancy.sealing import Keyring, SealingError


@pytest.fixture
async def ours(bench: Any) -> Any:
    return await bench.tenant("ours", "acme", keys={"acme": "key-of-ours-acme"})


async def select(bench: Any, tenant: Any, **body: object) -> tuple[int, Any]:
    return await bench.call("PUT", f"{tenant.path}/search/selection", tenant.admin, body)


async def test_an_admin_never_chooses_where_the_key_is_sent(bench: Any, ours: Any) -> None:
    """Asking for a model asks the vendor: not before the settings are checked."""
    bench.web.answer("https://evil.example/models", json={"models": [{"id": "swift"}]})
    status, body = await select(bench, ours, provider="acme", model="swift", settings={"base_url": "https://evil.example"})
    assert (status, body["code"], bench.web.requests) == (400, "validation_error", [])


async def test_models_of_a_provider_that_is_not_allowed_are_not_asked_for(bench: Any, ours: Any) -> None:
    await bench.administration.bound_organization("ours", allowed_providers=["open"])
    asked = await bench.call("GET", f"{ours.path}/search/providers/acme/models", ours.admin)
    assert ((await select(bench, ours, provider="acme", model="swift"))[0], asked[0], bench.web.requests) == (403, 409, [])


async def test_models_of_a_switched_off_provider_are_not_asked_for(bench: Any, ours: Any) -> None:
    await bench.administration.turn_off("acme", "a leak")
    status, _ = await bench.call("GET", f"{ours.path}/search/providers/acme/models", ours.admin)
    assert (status, bench.web.requests) == (409, [])


async def test_models_are_asked_under_the_organizations_own_policy(bench: Any, ours: Any) -> None:
    bench.web.answer("http://10.0.0.7:8080/models", json={"models": [{"id": "swift"}]})
    await bench.administration.put_operator_settings("ours", "acme", {"base_url": "http://10.0.0.7:8080"})
    await bench.administration.bound_organization("ours", allowed_hosts=["10.0.0.7:8080"])
    assert (await bench.call("GET", f"{ours.path}/search/providers/acme/models", ours.admin))[0] == 200


async def test_models_with_a_key_that_does_not_open_are_refused_clearly(bench: Any, ours: Any) -> None:
    bench.sql("UPDATE credentials SET sealed = ?", bytes(30))
    status, body = await bench.call("GET", f"{ours.path}/search/providers/acme/models", ours.admin)
    assert (status, body["code"]) == (409, "provider_not_configured")


async def test_a_fallback_is_an_object_with_model_and_settings(bench: Any, ours: Any) -> None:
    fallback = {"provider": "acme", "model": "swift", "settings": {"collection": "news"}}
    status, body = await select(bench, ours, provider="open", fallbacks=[fallback, {"provider": "beta"}])
    assert (status, body["fallbacks"]) == (200, [fallback, {"provider": "beta", "model": None, "settings": {}}])


async def test_removing_what_is_not_there_leaves_no_line(bench: Any, ours: Any) -> None:
    before = bench.sql("SELECT count(*) FROM audit")
    for path in ("/search/providers/beta/credential", "/agents/nobody", "/tokens/0000"):
        assert (await bench.call("DELETE", f"{ours.path}{path}", ours.admin))[0] == 404
    assert await bench.administration.turn_on("acme") is False
    assert bench.sql("SELECT count(*) FROM audit") == before


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/search/selection", {"provider": "open"}),
        ("/search/providers/beta/credential", {"value": "key-of-ours-beta"}),
        ("/agents/robot", {}),
    ],
)
async def test_first_writes_at_the_same_time_all_succeed(bench: Any, path: str, body: object) -> None:
    ours = await bench.tenant("ours")
    answers = await asyncio.gather(*(bench.call("PUT", f"{ours.path}{path}", ours.admin, body) for _ in range(12)))
    assert {status for status, _ in answers} == {200}


async def test_every_new_key_is_a_generation_of_its_own(bench: Any, ours: Any) -> None:
    path = f"{ours.path}/search/providers/acme/credential"
    await asyncio.gather(*(bench.call("PUT", path, ours.admin, {"value": f"key-number-{n:04}"}) for n in range(12)))
    assert bench.sql("SELECT generation FROM credentials") == [(13,)]


async def test_what_a_transaction_reads_is_of_one_moment(bench: Any, ours: Any) -> None:
    async with transaction(bench.platform.engine) as connection:
        seen = []
        for name in ("changed", "again"):
            seen.append((await connection.exec_driver_sql("SELECT name FROM organizations")).scalar_one())
            bench.sql("UPDATE organizations SET name = ?", name)
    assert seen == ["Ours", "Ours"]


@pytest.mark.only("sqlite", "the same on PostgreSQL is told in tests/databases")
async def test_processes_that_start_at_once_on_a_new_database_all_start(open_platform: Any, database: Any) -> None:
    database.unlink()

    async def start() -> None:
        async with open_platform():
            pass

    await asyncio.gather(start(), start(), start())


def test_a_token_of_an_organization_is_never_an_operators(command: Any) -> None:
    command("org", "create", "firm")
    assert command("token", "create", "firm", "--scope", "operator", "--scope", "search").exit_code == 2


@pytest.mark.only("sqlite", "a server has no file")
def test_a_file_that_is_no_database_is_one_clear_line(command: Any, database: Any) -> None:
    database.write_bytes(b"no database " * 100)
    done = command("org", "list")
    assert (done.exit_code, done.stderr.count("\n"), "storage_unavailable" in done.stderr) == (1, 1, True)


def test_a_port_that_is_no_number_is_one_error_without_the_password() -> None:
    with pytest.raises(DatabaseUrlError) as refused:
        parse_url("postgresql://u:canary@db.example:notaport/s")
    assert "canary" not in str(refused.value)


def test_secret_keys_beyond_ascii_are_one_error() -> None:
    with pytest.raises(SealingError, match="not base64"):
        Keyring.parse("ключ")
    assert Keyring.parse(base64.b64encode(bytes(32)).decode()).key_id


async def test_a_token_that_ended_long_ago_is_no_token(bench: Any, ours: Any) -> None:
    body = {"name": "n", "scopes": ["search"], "expiresAt": "0999-01-01T00:00:00Z"}
    _, made = await bench.call("POST", f"{ours.path}/tokens", ours.admin, body)
    assert (await bench.search(made["token"]))[0] == 401
