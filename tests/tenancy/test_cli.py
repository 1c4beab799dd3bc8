"""The operator's commands, and the demo, as their users run them."""

import base64
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from searchport_platform.tenancy import tokens
from searchport_platform.tenancy.sealing import Keyring

pytestmark = pytest.mark.only("sqlite", "the verbs behind the commands are tested on both, and every command in test_statements")

COMMAND = [sys.executable, "-m", "searchport_platform"]

Run = Callable[..., subprocess.CompletedProcess[str]]


def environment(**variables: str) -> dict[str, str]:
    """The developer's own, without Searchport's."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SEARCHPORT_")}
    return clean | {"COLUMNS": "200", "NO_COLOR": "1"} | variables


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs the real command in an empty folder."""

    def start(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        options: dict[str, Any] = {"env": environment(**variables), "cwd": tmp_path, "timeout": 30}
        return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, **options)

    return start


@contextmanager
def serving(*arguments: str, cwd: Path, ready: str, **variables: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server as a process, and its first line on the stream named `ready`; killed at the end if it still runs."""
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": cwd}
    with subprocess.Popen([*COMMAND, *arguments], env=environment(**variables), **options) as process:
        try:
            stream = getattr(process, ready)
            line = next((line for line in stream if ready == "stdout" or json.loads(line)["event"] == "listening"), "")
            yield process, line
        finally:
            process.kill()


def stop(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """SIGTERM; exit status and the rest of both streams."""
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    return process.returncode, out, err


def ask(url: str, path: str, token: str | None = None, body: object = None, method: str = "") -> tuple[int, Any]:
    """Status and body of one request to the server at `url`."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    try:
        headers = {"Content-Type": "application/json"} | ({} if token is None else {"Authorization": f"Bearer {token}"})
        sent = None if body is None else json.dumps(body)
        connection.request(method or ("GET" if body is None else "POST"), path, sent, headers)
        response = connection.getresponse()
        text = response.read().decode()
        return response.status, json.loads(text) if "json" in (response.getheader("Content-Type") or "") else text
    finally:
        connection.close()


SEARCH = "/api/platform/v1/action/search/web"


# The operator's commands on a real database, in the real process


def test_an_operator_sets_up_an_organization_and_serves_it(run: Run, command: Any, tmp_path: Path) -> None:
    """From nothing to a search, the server a process of its own."""
    database = ("--database", f"sqlite:///{tmp_path}/s.db")
    made = run("org", "create", "firm", "--provider", "fake", *database)
    assert (made.returncode, made.stderr) == (0, "")
    assert "searchport token create firm --scope search" in made.stdout
    token = run("token", "create", "firm", "--scope", "search", *database)
    assert (token.returncode, token.stdout.startswith(tokens.PREFIX), token.stdout.count("\n")) == (0, True, 1)
    with serving("serve", "--port", "0", *database, cwd=tmp_path, ready="stderr") as (process, line):
        url = json.loads(line)["url"]
        status, body = ask(url, SEARCH, token.stdout.strip(), {"query": "canary query"})
        assert (status, body["provider"]) == (200, "fake")
        assert command("provider", "off", "fake", "--reason", "a drill", *database).exit_code == 0
        status, body = ask(url, SEARCH, token.stdout.strip(), {"query": "canary query"})
        assert (status, "a drill" in body["detail"]) == (409, True)
        code, out, err = stop(process)
    assert (code, out) == (0, "")
    assert ("canary" in err, token.stdout.strip() in err) == (False, False)
    assert sorted(file.name for file in tmp_path.glob("s.db*") if "-" not in file.name) == ["s.db", "s.db.key"]


def test_without_a_database_option_the_file_is_in_this_folder(
    command: Any, tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.unlink()
    monkeypatch.chdir(tmp_path)
    assert command("org", "list", SEARCHPORT_DATABASE_URL=None).exit_code == 0
    assert (tmp_path / "searchport.db").is_file()


# Each verb, run in this process


def test_organizations_are_listed(command: Any) -> None:
    assert command("org", "list").output.strip() == "None."
    assert command("org", "create", "firm", "--name", "A Firm").exit_code == 0
    assert "A Firm" in command("org", "list").output
    listed = json.loads(command("org", "list", "--json").stdout)
    assert [(each["id"], each["name"], each["allowedProviders"]) for each in listed] == [("firm", "A Firm", None)]


def test_a_new_organization_begins_with_the_default_provider(command: Any, database: Path) -> None:
    assert command("org", "create", "firm", SEARCHPORT_DEFAULT_PROVIDER="fake").exit_code == 0
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT organization, provider FROM selections").fetchall() == [("firm", "fake")]


def test_bounds_are_set_in_place_of_those_before(command: Any) -> None:
    command("org", "create", "firm")
    flags = (
        "--allow-provider",
        "fake",
        "--allow-provider",
        "local",
        "--allow-host",
        "10.0.0.7:8080",
        "--result-host",
        "10.0.0.8",
    )
    assert command("org", "bound", "firm", *flags, "--allow-private-addresses").exit_code == 0
    (firm,) = json.loads(command("org", "list", "--json").stdout)
    assert firm["allowedProviders"] == ["fake", "local"]
    assert (firm["allowedHosts"], firm["resultHosts"], firm["allowPrivateAddresses"]) == (["10.0.0.7:8080"], ["10.0.0.8"], True)
    assert command("org", "bound", "firm").exit_code == 0
    (firm,) = json.loads(command("org", "list", "--json").stdout)
    assert (firm["allowedProviders"], firm["allowedHosts"], firm["allowPrivateAddresses"]) == (None, [], False)


def test_operator_settings_are_set_and_taken_away(command: Any, tmp_path: Path) -> None:
    command("org", "create", "firm")
    assert "folder" in command("org", "setting", "firm", "local", f"folder={tmp_path}").output
    assert "none" in command("org", "setting", "firm", "local").output


def test_deleting_asks_first(command: Any) -> None:
    command("org", "create", "firm")
    assert command("org", "delete", "firm").exit_code == 1
    assert "firm" in command("org", "list").output
    assert command("org", "delete", "firm", "--yes").exit_code == 0
    assert command("org", "list").output.strip() == "None."


def test_agents_are_put_and_listed(command: Any) -> None:
    command("org", "create", "firm")
    assert "tools none; credentials none" in command("agent", "put", "firm", "robot").output
    assert command("agent", "put", "firm", "robot", "--tool", "web.*", "--credential", "search.apiKey").exit_code == 0
    listed = {agent["id"]: agent for agent in json.loads(command("agent", "list", "firm", "--json").stdout)}
    assert listed.keys() == {"default", "robot"}
    assert (listed["robot"]["tools"], listed["robot"]["credentials"]) == (["web.*"], ["search.apiKey"])
    assert "robot" in command("agent", "list", "firm").output


def test_tokens_are_created_listed_and_revoked(command: Any) -> None:
    command("org", "create", "firm")
    text = command("token", "create", "firm", "--scope", "search", "--scope", "agents", "--name", "laptop").stdout.strip()
    (listed,) = json.loads(command("token", "list", "firm", "--json").stdout)
    assert (listed["name"], listed["scopes"], listed["id"]) == ("laptop", ["agents", "search"], text[4:20])
    assert text[20:] not in command("token", "list", "firm").output
    assert command("token", "revoke", listed["id"], "firm").exit_code == 0
    assert command("token", "revoke", listed["id"], "firm").exit_code == 1
    assert json.loads(command("token", "list", "firm", "--json").stdout) == []


def test_an_operators_token_belongs_to_no_organization(command: Any) -> None:
    text = command("token", "create", "--scope", "operator").stdout.strip()
    (listed,) = json.loads(command("token", "list", "--json").stdout)
    assert (listed["organization"], listed["scopes"], listed["id"]) == (None, ["operator"], text[4:20])


def test_a_provider_is_turned_off_and_on(command: Any) -> None:
    assert "off everywhere" in command("provider", "off", "brave", "--reason", "a leak").output
    assert "on again" in command("provider", "on", "brave").output
    assert "as it was" in command("provider", "on", "brave").output


def test_keys_rotate_seals_with_the_first_key(command: Any, database: Path) -> None:
    old, new = bytes(32), bytes([1]) * 32
    texts = [base64.b64encode(key).decode() for key in (old, new)]
    command("org", "create", "firm", SEARCHPORT_SECRET_KEYS=texts[0])
    sealed = Keyring([old]).seal("a-key-of-firm", ("firm", "brave", "search.apiKey"))
    row = ("firm", "brave", "search.apiKey", sealed.key_id, sealed.nonce, sealed.data, "firm", 1, "2026-11-30T00:00:00Z")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT INTO credentials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    done = command("keys", "rotate", SEARCHPORT_SECRET_KEYS=f"{texts[1]},{texts[0]}")
    assert (done.exit_code, "sealed with the first key" in done.stdout) == (0, True)
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT key_id FROM credentials").fetchall() == [(Keyring([new]).key_id,)]
    refused = command("keys", "rotate", SEARCHPORT_SECRET_KEYS=base64.b64encode(bytes([2]) * 32).decode())
    assert (refused.exit_code, "SEARCHPORT_SECRET_KEYS does not hold" in refused.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ("org create Firm", 2, "validation_error: $.organization"),
        ("org create firm", 2, "'firm' is taken"),
        ("org create other --provider bravo", 1, "did you mean 'brave'?"),
        ("org bound nobody", 1, "forbidden: "),
        ("org bound firm --allow-provider bravo", 1, "did you mean 'brave'?"),
        ("org bound firm --allow-host http://10.0.0.7", 2, "$.allowedHosts"),
        ("org setting firm local colour=red", 2, "$.settings.colour"),
        ("org setting firm bravo x=y", 1, "did you mean 'brave'?"),
        ("org delete nobody --yes", 1, "forbidden: "),
        ("agent put firm Robot", 2, "$.agent"),
        ("agent put nobody robot", 1, "forbidden: "),
        ("agent list nobody", 1, "forbidden: "),
        ("token create nobody --scope search", 1, "forbidden: "),
        ("token create firm --scope search --agent nobody", 2, "$.agent"),
        ("token list nobody", 1, "forbidden: "),
        ("provider off bravo --reason x", 1, "did you mean 'brave'?"),
    ],
)
def test_a_failure_is_one_clear_line(command: Any, arguments: str, code: int, words: str) -> None:
    command("org", "create", "firm")
    done = command(*arguments.split(" "))
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert done.stderr.startswith("searchport: ")
    assert words in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        "token create firm",
        "token create firm --scope everything",
        "token create --scope search",
        "token create firm --scope operator",
        "provider off brave",
        "org create",
        "org nonsense",
    ],
)
def test_wrong_usage_exits_with_two(command: Any, arguments: str) -> None:
    command("org", "create", "firm")
    done = command(*arguments.split(" "))
    assert (done.exit_code, done.stdout) == (2, "")


@pytest.mark.parametrize("url", ["nonsense", "mysql://u:canary@db.example/s", "sqlite:////missing/folder/s.db"])
def test_a_database_that_cannot_be_used_is_one_clear_line(command: Any, url: str) -> None:
    done = command("org", "list", "--database", url)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert (done.stderr.startswith("searchport: "), "canary" in done.stderr) == (True, False)


@pytest.mark.parametrize("keys", ["nonsense", base64.b64encode(b"canary").decode()])
def test_secret_keys_that_cannot_be_used_are_one_clear_line(command: Any, keys: str) -> None:
    done = command("org", "list", SEARCHPORT_SECRET_KEYS=keys)
    assert (done.exit_code, done.stderr.count("\n"), "32 bytes" in done.stderr, keys in done.stderr) == (1, 1, True, False)


def test_every_verb_explains_itself(command: Any) -> None:
    for group in ("org", "agent", "token", "provider", "keys"):
        shown = command(group, "--help")
        assert (shown.exit_code, "Commands:" in shown.output) == (0, True)


# Serving


def test_a_server_on_a_database_that_cannot_be_used_says_so(command: Any, tmp_path: Path) -> None:
    done = command("serve", "--port", "0", "--database", f"sqlite:///{tmp_path}/missing/s.db")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert (done.stderr.startswith("searchport: "), "missing" in done.stderr) == (True, True)


# The demo


def test_the_demo_answers_real_results_at_once_and_their_links_open(tmp_path: Path) -> None:
    with serving("demo", "--json", "--port", "0", cwd=tmp_path, ready="stdout") as (process, line):
        access = json.loads(line)
        assert list(access) == ["url", "organization", "searchToken", "adminToken", "opsToken"]
        assert access["organization"] == "demo"
        status, body = ask(access["url"], SEARCH, access["searchToken"], {"query": "freshness", "maxResults": 5})
        assert (status, body["provider"], len(body["results"]) >= 1) == (200, "local", True)
        assert all(result["url"].startswith(access["url"]) for result in body["results"])
        assert [ask(access["url"], urlsplit(result["url"]).path)[0] for result in body["results"]] == [200] * len(body["results"])
        admin = ask(access["url"], "/api/platform/v1/organizations/demo/search/providers", access["adminToken"])
        assert {row["id"] for row in admin[1]["providers"] if row["selected"]} == {"local"}
        refused = ask(access["url"], "/api/platform/v1/organizations/demo/search/providers", access["searchToken"])
        wrong = ask(access["url"], SEARCH, access["adminToken"], {"query": "freshness"})
        assert (refused[0], wrong[0]) == (403, 403)
        asked = {"provider": "fake", "query": "tea"}
        assert [ask(access["url"], "/ops/search", token, asked)[0] for token in (access["opsToken"], None)] == [200, 401]
        code, rest, logged = stop(process)
    assert (code, rest) == (0, "")
    assert not any(access[name] in logged for name in ("searchToken", "adminToken", "opsToken"))
    assert list(tmp_path.iterdir()) == []


def test_the_demos_data_survive_a_restart(tmp_path: Path) -> None:
    """The organization and its selection stay; the tokens of the run before do not."""
    arguments = ("demo", "--json", "--port", "0", "--data", str(tmp_path / "kept"))
    with serving(*arguments, cwd=tmp_path, ready="stdout") as (process, line):
        first = json.loads(line)
        path = "/api/platform/v1/organizations/demo/search/selection"
        assert ask(first["url"], path, first["adminToken"], {"provider": "fake"}, "PUT")[0] == 200
        assert stop(process)[0] == 0
    with serving(*arguments, cwd=tmp_path, ready="stdout") as (process, line):
        second = json.loads(line)
        assert ask(second["url"], SEARCH, second["searchToken"], {"query": "tea"})[1]["provider"] == "fake"
        assert ask(second["url"], SEARCH, first["searchToken"], {"query": "tea"})[0] == 401
        assert stop(process)[0] == 0


def test_the_demo_prints_a_search_to_copy(tmp_path: Path) -> None:
    """The printed words, run as they stand."""
    with serving("demo", "--port", "0", cwd=tmp_path, ready="stdout") as (process, _):
        assert process.stdout is not None
        shown = ""
        for line in process.stdout:
            shown += line
            if line.startswith("Press Ctrl-C"):
                break
        curl = shown[shown.index("  curl") :].split("\n\n")[0].strip()
        done = subprocess.run(["/bin/sh", "-c", curl], capture_output=True, text=True, timeout=20, check=False)
        assert len(json.loads(done.stdout)["results"]) == 3
        assert stop(process)[0] == 0
