"""The `searchport` command, run as its user runs it."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from searchport_platform.cli import main

COMMAND = [sys.executable, "-m", "searchport_platform"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs the command in an environment of its own."""

    def start(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SEARCHPORT_")}
        env = clean | {"COLUMNS": "120", "NO_COLOR": "1"} | environment
        return subprocess.run([*COMMAND, *arguments], env=env, capture_output=True, text=True, timeout=30, check=False)

    return start


def test_a_search_prints_results_as_a_table(run: Run) -> None:
    done = run("search", "red pandas", "--provider", "fake")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Result 1 for red pandas" in done.stdout
    assert "https://example.com/red%20pandas/1" in done.stdout
    assert "3 results from fake" in done.stdout


def test_a_search_prints_the_whole_envelope_as_json(run: Run) -> None:
    done = run("search", "red pandas", "--provider", "fake", "--max-results", "2", "--site", "example.org", "--json")
    envelope = json.loads(done.stdout)
    assert envelope.keys() == {
        "query", "provider", "vendor", "model", "results", "untrusted", "untrustedNote", "ignored", "notices",
        "filterReport", "cached", "attempts", "requestId",
    }  # fmt: skip
    assert [result["rank"] for result in envelope["results"]] == [1, 2]
    assert envelope["results"][0]["url"] == "https://example.org/red%20pandas/1"
    assert envelope["untrusted"] is True
    assert envelope["filterReport"]["overCount"] == 1
    assert envelope["attempts"] == [{"provider": "fake", "outcome": "ok", "vendorRequests": 0}]


def test_words_of_a_page_are_shown_not_obeyed(run: Run) -> None:
    """Square brackets are markup to the table's library."""
    assert "Result 1 for [bold red]x[/]" in run("search", "[bold red]x[/]", "--provider", "fake").stdout


def test_no_results_is_a_success(run: Run) -> None:
    done = run("search", "empty: x", "--provider", "fake")
    assert (done.returncode, "No results." in done.stdout) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("limited: q", "--provider", "fake"), 1, "provider_rate_limited: "),
        (("challenge: q", "--provider", "fake"), 1, "provider_unavailable: "),
        (("slow: q", "--provider", "fake", "--deadline", "0.1"), 1, "upstream_timeout: "),
        (("q", "--provider", "bravo"), 1, "provider_not_configured: "),
        (("q", "--provider", "brave"), 1, "SEARCHPORT_API_KEY"),
        (("q", "--provider", "fake", "--freshness", "P1M"), 2, "validation_error: $.freshness: "),
        (("q", "--provider", "fake", "--max-results", "99"), 2, "validation_error: $.maxResults: "),
        ((" ", "--provider", "fake"), 2, "validation_error: $.query: "),
        (("q", "--provider", "google-cse", "--setting", "cx"), 2, "NAME=VALUE"),
    ],
)
def test_a_failure_is_one_clear_line(run: Run, arguments: tuple[str, ...], code: int, words: str) -> None:
    done = run("search", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("searchport: ")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def test_a_missing_setting_is_named(run: Run) -> None:
    done = run("search", "q", "--provider", "google-cse", SEARCHPORT_API_KEY="canary", SEARCHPORT_KEEP="google-cse")
    assert (done.returncode, "settings.cx" in done.stderr, "canary" in done.stderr) == (1, True, False)


def test_an_unknown_setting_of_the_environment_stops_every_command(run: Run) -> None:
    done = run("providers", SEARCHPORT_TOOLKIT="x")
    assert done.returncode == 1
    assert done.stderr.startswith("searchport: SEARCHPORT_TOOLKIT: no such setting; did you mean 'TOOLKITS'?")


def test_the_provider_list_says_what_each_honours(run: Run) -> None:
    listed = {provider["id"]: provider for provider in json.loads(run("providers", "--json").stdout)}
    assert listed["google-cse"]["options"] == {
        "recency": "honoured",
        "freshness": "native",
        "site": "native",
        "language": "best effort",
        "country": "best effort",
        "safe": "native",
    }
    assert (listed["google-cse"]["literal"], listed["brave"]["literal"]) == (False, True)
    assert (listed["google-cse"]["evidence"], listed["kagi"]["evidence"], listed["fake"]["evidence"]) == (
        "recorded",
        "documentation",
        None,
    )
    assert (listed["fake"]["keyless"], listed["brave"]["keyless"]) == (True, False)
    assert listed["google-cse"]["sunset"]["ends"] == "2027-01-01"


def test_the_provider_list_is_a_table_too(run: Run) -> None:
    done = run("providers", COLUMNS="200")
    assert (done.returncode, done.stderr) == (0, "")
    assert "google-cse" in done.stdout


def test_a_toolkit_of_ones_own_is_one_file_and_an_entry_point(run: Run, tmp_path: Path) -> None:
    (tmp_path / "acme.py").write_text(
        "from searchport import SearchResponse, SearchResult, define_toolkit, define_web_search\n"
        "toolkit = define_toolkit(id='acme', name='Acme', credential_ref=None)\n"
        "@define_web_search(toolkit, recency=None)\n"
        "async def search(request, context):\n"
        "    return SearchResponse([SearchResult('Mine', 'https://acme.example/')], vendor='acme')\n",
        encoding="utf-8",
    )
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[searchport.toolkits]\nacme = acme:toolkit\n", encoding="utf-8")
    arguments = ("search", "q", "--provider", "acme", "--json")
    refused = run(*arguments, PYTHONPATH=str(tmp_path))
    assert (refused.returncode, "no enabled toolkit" in refused.stderr) == (1, True)
    found = run(*arguments, PYTHONPATH=str(tmp_path), SEARCHPORT_TOOLKITS="acme")
    assert json.loads(found.stdout)["results"][0]["title"] == "Mine"


def test_help_explains_every_command_and_option(run: Run) -> None:
    assert all(name in run("--help").stdout for name in ("search", "providers", "serve"))
    assert "ISO 8601" in run("search", "--help").stdout
    assert run("--version").stdout.startswith("searchport ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("search", "q"), "Missing option '--provider'"),
        (("nonsense",), "No such command 'nonsense'"),
        (("search", "q", "--provider", "fake", "--max-results", "ten"), "'ten' is not a valid integer"),
        (("serve", "--port", "99999"), "99999 is not in the range"),
    ],
)
def test_wrong_usage_is_one_line_and_exits_with_two(run: Run, arguments: tuple[str, ...], words: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert words in done.stderr


def test_a_key_file_that_is_no_text_is_one_clear_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"\xff\xfe")
    done = run("search", "q", "--provider", "brave", "--key-file", str(tmp_path / "key"))
    assert (done.returncode, done.stderr) == (1, "searchport: --key-file: the file cannot be read as UTF-8 text\n")


def test_a_setting_that_a_provider_does_not_have_is_refused(run: Run) -> None:
    done = run("search", "q", "--provider", "brave", "--setting", "cx=1", SEARCHPORT_API_KEY="k")
    assert (done.returncode, "settings.cx: unknown field" in done.stderr) == (1, True)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "click", None)
    for name in [name for name in sys.modules if name.startswith("searchport_platform.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(SystemExit, match=r"pip install 'searchport\[platform\]'"):
        main()


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def server(port: int) -> Iterator[subprocess.Popen[str]]:
    """`searchport serve --ops-only`, ready for requests."""
    command = [*COMMAND, "serve", "--ops-only", "--port", str(port)]
    env = {name: value for name, value in os.environ.items() if not name.startswith("SEARCHPORT_")}
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if json.loads(line)["event"] == "listening":
                break
        yield process
        process.kill()


def ask(port: int, query: str) -> tuple[int, dict[str, object]]:
    body = json.dumps({"provider": "fake", "query": query})
    with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("POST", "/ops/search", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def test_serve_answers_and_logs_no_query(server: subprocess.Popen[str], port: int) -> None:
    assert ask(port, "canary query")[0] == 200
    assert ask(port, "limited: canary query")[0] == 503
    server.send_signal(signal.SIGTERM)
    _, logged = server.communicate(timeout=20)
    events = [json.loads(line) for line in logged.splitlines()]
    assert server.returncode == 0
    assert "canary" not in logged
    assert [(e["provider"], e["outcome"]) for e in events if e["event"] == "search"] == [
        ("fake", "ok"),
        ("fake", "provider_rate_limited"),
    ]
    assert [(e["route"], e["status"]) for e in events if e["event"] == "request"] == [
        ("/ops/search", 200),
        ("/ops/search", 503),
    ]


def test_a_taken_port_is_one_clear_line(server: subprocess.Popen[str], port: int, run: Run) -> None:
    done = run("serve", "--ops-only", "--port", str(port))
    assert done.returncode == 1
    assert "searchport: " in done.stderr.splitlines()[-1]
    assert "Address already in use" in done.stderr.splitlines()[-1]
