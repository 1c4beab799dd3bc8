"""Keys: each organization's own, sealed to its row, used and never shown."""

import asyncio
import base64
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searchport.errors import SearchError
from searchport.request import SearchRequest
from searchport_platform.platform import Caller, Platform
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Router
from searchport_platform.tenancy import credentials
from searchport_platform.tenancy.admission import admit
from searchport_platform.tenancy.sealing import Keyring, SealingError, new_key

CANARY = "canary-key-do-not-show-9f3b"
ACME = "api.acme.example"


def write(*keys: bytes) -> str:
    """SEARCHPORT_SECRET_KEYS of these keys."""
    return ",".join(base64.b64encode(key).decode() for key in keys)


async def test_two_organizations_same_query_two_calls_each_with_its_own_key(bench: Any) -> None:
    ours = await bench.tenant("ours", "acme", keys={"acme": "key-of-ours-0001"})
    theirs = await bench.tenant("theirs", "acme", keys={"acme": "key-of-theirs-0002"})
    for tenant in (ours, theirs, ours):
        assert (await bench.search(tenant.search, "the same tea"))[0] == 200
    assert bench.keys_seen(ACME) == ["key-of-ours-0001", "key-of-theirs-0002", "key-of-ours-0001"]


async def test_an_organization_without_a_key_never_borrows_one(bench: Any) -> None:
    await bench.tenant("theirs", "acme", keys={"acme": "key-of-theirs-0002"})
    ours = await bench.tenant("ours", "acme")
    status, body = await bench.search(ours.search)
    assert (status, body["code"], body["provider"], bench.web.requests) == (409, "provider_not_configured", "acme", [])


async def test_a_new_key_counts_at_the_very_next_call(bench: Any) -> None:
    ours = await bench.tenant("ours", "acme", keys={"acme": "key-of-ours-0001"})
    await bench.search(ours.search)
    path = f"{ours.path}/search/providers/acme/credential"
    assert (await bench.call("PUT", path, ours.admin, {"value": "key-of-ours-0002"}))[0] == 200
    await bench.search(ours.search)
    assert (await bench.call("DELETE", path, ours.admin))[0] == 204
    assert (await bench.search(ours.search))[0] == 409
    assert bench.keys_seen(ACME) == ["key-of-ours-0001", "key-of-ours-0002"]


async def test_reading_a_key_shows_its_end_and_its_age(bench: Any) -> None:
    ours = await bench.tenant("ours", keys={"acme": CANARY})
    status, body = await bench.call("GET", f"{ours.path}/search/providers/acme/credential", ours.admin)
    assert (status, body.keys(), body["lastFour"]) == (200, {"provider", "lastFour", "storedAt"}, "9f3b")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", body["storedAt"])


async def test_a_short_key_shows_nothing_of_itself(bench: Any) -> None:
    ours = await bench.tenant("ours", keys={"acme": "short-key11"})
    assert (await bench.call("GET", f"{ours.path}/search/providers/acme/credential", ours.admin))[1]["lastFour"] == ""


async def test_no_route_shows_a_key(bench: Any) -> None:
    """The answers that store it and that replace it included."""
    ours = await bench.tenant("ours", "acme", keys={"acme": CANARY})
    path = f"{ours.path}/search/providers/acme/credential"
    answers = [await bench.call("PUT", path, ours.admin, {"value": CANARY}), await bench.search(ours.search)]
    for method, route in bench.admin_routes():
        address = route.format(organization="ours", provider="acme", agent="default", token="0")
        if method == "GET":
            answers.append(await bench.call(method, address, await bench.token(None, "operator")))
    assert {status for status, _ in answers} == {200}
    assert CANARY not in str(answers)


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500])
@pytest.mark.only("sqlite", "about what a vendor says")
async def test_no_error_shows_a_key(bench: Any, status: int) -> None:
    """The vendor repeats it, in words and as a code."""
    ours = await bench.tenant("ours", "brave", keys={"brave": CANARY})
    echo = {"error": {"code": CANARY, "detail": f"the key {CANARY} is not allowed"}}
    bench.web.answer("https://api.search.brave.com/res/v1/web/search", json=echo, status=status)
    answered, body = await bench.search(ours.search)
    assert (answered >= 500, CANARY in str(body)) == (True, False)


async def test_no_log_shows_a_key(bench: Any, logged: Callable[[], str], capfd: pytest.CaptureFixture[str]) -> None:
    ours = await bench.tenant("ours", "acme", keys={"acme": CANARY})
    path = f"{ours.path}/search/providers/acme/credential"
    await bench.call("PUT", path, ours.admin, {"value": CANARY})
    await bench.call("PUT", path, ours.admin, {"value": f"{CANARY}\n", "unknown": CANARY})
    await bench.search(ours.search)
    bench.sql("UPDATE credentials SET nonce = ?", bytes(12))
    await bench.search(ours.search)
    assert logged().count('"event"') >= 5
    assert CANARY not in f"{logged()} {capfd.readouterr()}"


async def test_no_audit_line_shows_a_key(bench: Any) -> None:
    ours = await bench.tenant("ours", "acme", keys={"acme": CANARY})
    await bench.call("DELETE", f"{ours.path}/search/providers/acme/credential", ours.admin)
    trail = bench.rows()["audit"]
    assert [row[4] for row in trail if row[4].startswith("credential.")] == ["credential.put", "credential.remove"]
    assert CANARY not in str(trail)


async def test_no_repr_shows_a_key(bench: Any) -> None:
    await bench.tenant("ours", "acme", keys={"acme": CANARY})
    async with bench.platform.engine.connect() as connection:
        admission = await admit(connection, Caller(organization="ours"))
    route = bench.platform._build_route(admission, admission.selection.choice)
    assert route.credential == CANARY
    assert CANARY not in f"{admission!r} {route!r} {bench.platform!r} {bench.administration!r}"


async def test_no_command_shows_a_key(bench: Any, command: Any) -> None:
    await bench.tenant("ours", "acme", keys={"acme": CANARY})
    for arguments in (("org", "list"), ("agent", "list", "ours"), ("token", "list", "ours"), ("keys", "rotate")):
        done = await asyncio.to_thread(command, *arguments)
        assert (done.exit_code, CANARY in done.output) == (0, False)


NO_KEYS: list[object] = [None, "", "  ", 5, True, ["canary"], {"canary": 1}, "canary\nX-Other: 1", "canary\x00", "canary" * 700]


async def test_what_is_no_key_is_refused_and_not_repeated(bench: Any) -> None:
    ours = await bench.tenant("ours")
    for value in NO_KEYS:
        status, body = await bench.call("PUT", f"{ours.path}/search/providers/acme/credential", ours.admin, {"value": value})
        assert (status, body["code"], body["faults"][0]["path"]) == (400, "validation_error", "$.value")
        assert "canary" not in str(body)


async def test_white_space_around_a_pasted_key_is_no_part_of_it(bench: Any) -> None:
    ours = await bench.tenant("ours", "acme", keys={"acme": "  key-of-ours-0001 "})
    await bench.search(ours.search)
    assert bench.keys_seen(ACME) == ["key-of-ours-0001"]


async def test_a_keyless_provider_takes_no_key(bench: Any) -> None:
    ours = await bench.tenant("ours")
    status, body = await bench.call("PUT", f"{ours.path}/search/providers/open/credential", ours.admin, {"value": "anything"})
    assert (status, body["code"]) == (400, "validation_error")


async def test_a_key_of_an_unknown_provider_is_refused(bench: Any) -> None:
    ours = await bench.tenant("ours")
    status, body = await bench.call("PUT", f"{ours.path}/search/providers/acne/credential", ours.admin, {"value": "anything"})
    assert (status, body["code"], "did you mean 'acme'?" in body["detail"]) == (409, "provider_not_configured", True)


COPIES = {
    "moved": "UPDATE credentials SET organization = 'ours' WHERE organization = 'theirs'",
    "copied": "INSERT INTO credentials SELECT 'ours', provider, name, key_id, nonce, sealed, last_four, generation, stored_at "
    "FROM credentials WHERE organization = 'theirs'",
    "copied over": "UPDATE credentials SET (nonce, sealed) = "
    "(SELECT nonce, sealed FROM credentials WHERE organization = 'theirs') WHERE organization = 'ours'",
    "of another provider": "UPDATE credentials SET provider = 'acme' WHERE organization = 'ours' AND provider = 'beta'",
    "changed": "UPDATE credentials SET sealed = substr(sealed, 2) WHERE organization = 'ours'",
    "of another key": "UPDATE credentials SET key_id = '0000000000000000' WHERE organization = 'ours'",
}


@pytest.mark.parametrize("kind", COPIES)
async def test_a_row_that_is_not_where_it_was_sealed_does_not_open(bench: Any, kind: str) -> None:
    """A clear refusal, not an internal error; and nothing is asked of the vendor."""
    await bench.tenant("theirs", "acme", keys={"acme": CANARY})
    own = {"copied over": "acme", "changed": "acme", "of another key": "acme", "of another provider": "beta"}
    ours = await bench.tenant("ours", "acme", keys={own[kind]: "key-of-ours-0001"} if kind in own else None)
    bench.sql(COPIES[kind])
    status, body = await bench.search(ours.search)
    assert (status, body["code"], bench.web.requests) == (409, "provider_not_configured", [])
    assert "the credential " in body["detail"]
    assert CANARY not in str(body)


# Rotation

OLD, NEW = bytes(range(32)), bytes(range(32, 64))


async def store_many(platform: Platform, how_many: int) -> None:
    """Keys of an organization, and many of providers that are not there any more."""
    administration = platform.administration()
    await administration.create_organization("ours", "Ours", provider="acme")
    await administration.store_credential("ours", "acme", "key-of-ours-0001")
    async with platform.engine.begin() as connection:
        for number in range(how_many - 1):
            await credentials.store(connection, "ours", f"gone-{number}", f"secret-{number}", platform.keyring)


def sealed_with(store: Any, key: bytes) -> int:
    return int(store.sql("SELECT count(*) FROM credentials WHERE key_id = ?", Keyring([key]).key_id)[0][0])


async def test_a_rotation_seals_every_key_anew_while_searches_go_on(open_platform: Any, vendors: Any, store: Any) -> None:
    """In this process, and in another that still seals with the old key; afterwards the old key can be taken out."""
    async with open_platform(write(OLD)) as before:
        await store_many(before, 250)
    caller, request = Caller(organization="ours"), SearchRequest("tea")
    async with open_platform(write(NEW, OLD)) as one, open_platform(write(OLD, NEW)) as other:
        left = []
        async for number in one.administration().rotate_keys():
            left.append(number)
            assert [(await platform.search(caller, request)).provider for platform in (one, other)] == ["acme", "acme"]
        assert left == [150, 50, 0]
    assert (sealed_with(store, NEW), sealed_with(store, OLD)) == (250, 0)
    async with open_platform(write(NEW)) as after:
        assert (await after.search(caller, request)).provider == "acme"


async def test_a_rotation_that_broke_off_is_begun_again_where_it_stopped(open_platform: Any, store: Any) -> None:
    async with open_platform(write(OLD)) as before:
        await store_many(before, 250)
    async with open_platform(write(NEW, OLD)) as one:
        async for _ in one.administration().rotate_keys():
            break
        assert (sealed_with(store, NEW), sealed_with(store, OLD)) == (100, 150)
    async with open_platform(write(NEW, OLD)) as two:
        assert [left async for left in two.administration().rotate_keys()] == [50, 0]


async def test_a_key_that_was_replaced_during_a_rotation_stays_replaced(open_platform: Any, vendors: Any, web: Any) -> None:
    async with open_platform(write(OLD)) as before:
        await store_many(before, 150)
    async with open_platform(write(NEW, OLD)) as one, open_platform(write(OLD, NEW)) as other:
        rotating = one.administration().rotate_keys()
        await anext(rotating)
        await other.administration().store_credential("ours", "acme", "key-of-ours-0002")
        assert [left async for left in rotating][-1] == 0
        await one.search(Caller(organization="ours"), SearchRequest("tea"))
    assert web.requests[-1].headers["X-Key"] == "key-of-ours-0002"


async def test_a_rotation_changes_nothing_that_an_admin_sees(open_platform: Any) -> None:
    async with open_platform(write(OLD)) as before:
        await store_many(before, 2)
        told = await before.administration().list_credentials("ours")
    async with open_platform(write(NEW, OLD)) as one:
        assert [left async for left in one.administration().rotate_keys()] == [0]
        assert await one.administration().list_credentials("ours") == told


async def test_nothing_to_rotate_is_a_success(bench: Any) -> None:
    assert [left async for left in bench.administration.rotate_keys()] == [0]


async def test_a_missing_secret_key_says_so(open_platform: Any, web: Any) -> None:
    async with open_platform(write(OLD)) as before:
        await store_many(before, 1)
    async with open_platform(write(NEW)) as after:
        with pytest.raises(SearchError, match="SEARCHPORT_SECRET_KEYS does not hold") as refused:
            await after.search(Caller(organization="ours"), SearchRequest("tea"))
    assert (str(refused.value.code), web.requests) == ("provider_not_configured", [])


async def test_a_rotation_with_a_missing_key_says_so_and_changes_nothing(open_platform: Any, store: Any) -> None:
    async with open_platform(write(OLD)) as before:
        await store_many(before, 3)
    async with open_platform(write(NEW)) as after:
        with pytest.raises(SealingError, match="SEARCHPORT_SECRET_KEYS does not hold"):
            await anext(after.administration().rotate_keys())
    assert sealed_with(store, OLD) == 3


@pytest.mark.parametrize("text", ["not base64!", base64.b64encode(b"short").decode(), f"{write(OLD)},", "," + write(OLD)])
@pytest.mark.only("sqlite", "read before any database is")
async def test_secret_keys_that_cannot_be_used_stop_the_start(open_platform: Any, text: str) -> None:
    with pytest.raises(SealingError, match="32 bytes"):
        async with open_platform(text):
            pass


# The key file

KEY_FILE = "searchport.db.key"


@pytest.mark.only("sqlite", "a server has no key file")
async def test_the_key_file_is_its_owners_alone(bench: Any) -> None:
    assert stat.S_IMODE(bench.file.with_name(KEY_FILE).stat().st_mode) == 0o600


@pytest.mark.only("sqlite", "a server has no key file")
async def test_a_key_file_that_others_can_read_is_refused(bench: Any) -> None:
    bench.file.with_name(KEY_FILE).chmod(0o640)
    with pytest.raises(SealingError, match="chmod 600"):
        async with bench.open():
            pass


@pytest.mark.only("sqlite", "a server has no key file")
async def test_the_key_file_outlives_the_process(bench: Any) -> None:
    before = bench.file.with_name(KEY_FILE).read_bytes()
    async with bench.open() as second:
        assert second.keyring.key_id == bench.platform.keyring.key_id
    assert bench.file.with_name(KEY_FILE).read_bytes() == before


@pytest.mark.only("sqlite", "a server has no key file")
async def test_secret_keys_of_ones_own_make_no_key_file(open_platform: Any, database: Path) -> None:
    async with open_platform(write(new_key())):
        assert list(database.parent.glob("*.key*")) == []


@pytest.mark.only("sqlite", "a server has no key file")
async def test_no_half_written_key_is_left_behind(bench: Any) -> None:
    assert sorted(file.suffix for file in bench.file.parent.glob("*.key*")) == [".key"]


async def test_a_database_in_memory_has_no_key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry: Registry) -> None:
    monkeypatch.chdir(tmp_path)
    async with (
        HttpClients() as clients,
        Platform.open("sqlite://", router=Router(registry=registry, clients=clients), prepare=False),
    ):
        assert [file for file in os.listdir(tmp_path) if file.endswith(".key")] == []  # noqa: PTH208


# The disk


@pytest.mark.only("sqlite", "a server keeps its files where the platform cannot see them")
async def test_no_key_ever_reaches_the_disk_in_the_clear(bench: Any) -> None:
    """The database file and its journal: after storing, using, replacing, deleting, and deleting the organization."""
    ours = await bench.tenant("ours", "acme", keys={"acme": CANARY})
    seen = [bench.bytes_on_disk()]
    await bench.search(ours.search)
    path = f"{ours.path}/search/providers/acme/credential"
    await bench.call("PUT", path, ours.admin, {"value": f"{CANARY}-two"})
    seen.append(bench.bytes_on_disk())
    await bench.call("DELETE", path, ours.admin)
    seen.append(bench.bytes_on_disk())
    await bench.administration.delete_organization("ours")
    await bench.platform.engine.dispose()
    seen.append(bench.bytes_on_disk())
    assert all(b"SQLite format 3" in content for content in seen)
    assert [CANARY.encode() in content for content in seen] == [False] * 4


async def test_no_token_ever_reaches_the_disk(bench: Any) -> None:
    """Nor the 256 bits of it that are secret."""
    ours = await bench.tenant("ours", "open")
    _, made = await bench.call("POST", f"{ours.path}/tokens", ours.admin, {"name": "third", "scopes": ["search"]})
    assert (await bench.search(made["token"]))[0] == 200
    content = bench.bytes_on_disk()
    for text in (ours.search, ours.admin, made["token"]):
        assert text[4:20].encode() in content
        assert text.encode() not in content
        assert text[20:84].encode() not in content
        assert bytes.fromhex(text[20:84]) not in content


@pytest.mark.only("sqlite", "a server has no key file")
async def test_the_sealing_key_is_not_in_the_database(bench: Any) -> None:
    await bench.tenant("ours", "acme", keys={"acme": CANARY})
    text = bench.file.with_name(KEY_FILE).read_bytes().strip()
    content = bench.bytes_on_disk()
    assert (len(base64.b64decode(text)), text in content, base64.b64decode(text) in content) == (32, False, False)


async def test_the_same_key_twice_is_sealed_differently(bench: Any) -> None:
    await bench.tenant("ours", keys={"acme": CANARY, "beta": CANARY})
    rows = bench.sql("SELECT nonce, sealed FROM credentials")
    assert len({nonce for nonce, _ in rows}) == len({sealed for _, sealed in rows}) == 2
