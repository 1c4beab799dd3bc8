"""MCP between processes: `searchport mcp` on a pipe, as a host of agents starts it, and `searchport serve` that has to stop."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from searchport_platform.doors.mcp_pipe import Unanswered

COMMAND = [sys.executable, "-m", "searchport_platform"]
CANARY = "canary-9b1e"

Run = Callable[..., subprocess.CompletedProcess[str]]


def environment(**given: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("SEARCHPORT_")} | given


@pytest.fixture
async def asleep(place: Any) -> Any:
    """The platform's database with `fake` selected, so that other processes find its provider."""
    await place.select("fake", default_results=2, deadline_seconds=1.0)
    return place


@pytest.fixture
def run(place: Any, tmp_path: Path) -> Run:
    """Runs `searchport mcp` to its end; `run(*arguments, lines=…, SEARCHPORT_TOKEN=…)`."""

    def start(*arguments: str, lines: str = "", **given: str) -> subprocess.CompletedProcess[str]:
        command = [*COMMAND, "mcp", "--database", place.store.url, *arguments]
        return subprocess.run(
            command, env=environment(**given), cwd=tmp_path, input=lines, capture_output=True, text=True, timeout=30, check=False
        )

    return start


def message(method: str, identity: int | None = None, **params: object) -> str:
    numbered = {} if identity is None else {"id": identity}
    return json.dumps({"jsonrpc": "2.0", **numbered, "method": method, "params": params}) + "\n"


def ask(query: str, identity: int = 2) -> str:
    return message("tools/call", identity, name="web_search", arguments={"query": query})


HELLO = message(
    "initialize", 1, protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "pipe", "version": "1"}
) + message("notifications/initialized")


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_host_starts_it_and_calls_the_tool(asleep: Any, tmp_path: Path, era: str) -> None:
    server = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], "mcp", "--database", asleep.store.url],
        env=environment(SEARCHPORT_TOKEN=asleep.token),
        cwd=tmp_path,
    )
    with (tmp_path / "stderr").open("w+", encoding="utf-8") as stderr:
        async with Client(stdio_client(server, errlog=stderr), mode=era) as client:
            (tool,) = (await client.list_tools()).tools
            found = await client.call_tool("web_search", {"query": CANARY})
            failed = await client.call_tool("web_search", {"query": f"limited: {CANARY}"})
            refused = await client.call_tool("web_search", {"query": CANARY, "bogus": 1})
        stderr.seek(0)
        logged = stderr.read()
    assert tool.name == "web_search"
    assert [hit["title"] for hit in found.structured_content["results"]] == [f"Result {n} for {CANARY}" for n in (1, 2)]
    assert failed.content[0].text.startswith("provider_rate_limited: ")  # type: ignore[union-attr]  # the one block is text
    assert "try again in 30 s" in failed.content[0].text  # type: ignore[union-attr]  # the one block is text
    assert "$.bogus: unknown field" in refused.content[0].text  # type: ignore[union-attr]  # the one block is text
    assert '"event": "search"' in logged
    assert CANARY not in logged
    assert asleep.token not in logged


async def test_what_is_piped_in_is_answered_before_the_end(asleep: Any, run: Run, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{asleep.token}\n", encoding="utf-8")
    arguments = ("--token-file", str(tmp_path / "token"))
    done = await asyncio.to_thread(run, *arguments, lines=HELLO + ask("tea") + ask("empty: tea", 3))
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    assert (done.returncode, set(answers)) == (0, {1, 2, 3})
    assert len(answers[2]["structuredContent"]["results"]) == 2
    assert (answers[3]["isError"], answers[3]["structuredContent"]["results"]) == (False, [])


@pytest.mark.parametrize(
    "line",
    [
        CANARY,
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": ["canary-9b1e"]}',
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "web_search", "arguments": {"query":"\\ud800"}}}',
    ],
)
async def test_a_line_that_is_no_message_is_answered_without_its_words(asleep: Any, run: Run, line: str) -> None:
    done = await asyncio.to_thread(run, lines=f"{HELLO}{line}\n{ask('tea', 3)}", SEARCHPORT_TOKEN=asleep.token)
    answers = {answer.get("id"): answer for answer in map(json.loads, done.stdout.splitlines())}
    assert (done.returncode, set(answers)) == (0, {1, None, 3})
    assert answers[None]["error"]["code"] == -32700
    assert CANARY not in done.stdout + done.stderr


async def test_a_call_outlives_the_input_and_no_longer_than_its_deadline(asleep: Any, run: Run) -> None:
    done = await asyncio.to_thread(run, lines=HELLO + ask("slow: tea"), SEARCHPORT_TOKEN=asleep.token)
    answer = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, answer["id"], answer["result"]["isError"]) == (0, 2, True)
    assert answer["result"]["content"][0]["text"].startswith("upstream_timeout: ")


async def test_a_request_that_is_cancelled_is_not_answered(asleep: Any, run: Run) -> None:
    await asleep.select("fake", deadline_seconds=15.0)
    cancel = message("notifications/cancelled", requestId=2)
    done = await asyncio.to_thread(run, lines=HELLO + ask("slow: tea") + cancel, SEARCHPORT_TOKEN=asleep.token)
    assert (done.returncode, [json.loads(line)["id"] for line in done.stdout.splitlines()]) == (0, [1])


async def test_only_what_is_unanswered_is_waited_for() -> None:
    unanswered = Unanswered()
    unanswered.note(JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/list"))
    unanswered.note(JSONRPCRequest(jsonrpc="2.0", id="two", method="tools/call"))
    waiting = asyncio.create_task(unanswered.wait_none(30))
    unanswered.note(JSONRPCResponse(jsonrpc="2.0", id=1, result={}))
    cancelled = {"requestId": "two"}
    unanswered.note(JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=cancelled))
    await asyncio.wait_for(waiting, 5)


async def test_an_answer_that_never_comes_is_not_waited_for_longer_than_that() -> None:
    unanswered = Unanswered()
    unanswered.note(JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/list"))
    await asyncio.wait_for(unanswered.wait_none(0.01), 5)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_while_it_waits_for_input(asleep: Any, tmp_path: Path, number: signal.Signals) -> None:
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "mcp", "--database", asleep.store.url,
        env=environment(SEARCHPORT_TOKEN=asleep.token), cwd=tmp_path,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(HELLO.encode())
    assert json.loads(await process.stdout.readline())["id"] == 1
    process.send_signal(number)
    assert await process.wait() == 0
    process.stdin.close()
    process._transport.close()  # type: ignore[attr-defined]  # else it is closed when the loop is gone


@pytest.mark.parametrize(
    ("token", "words"),
    [
        (None, "put a search token in SEARCHPORT_TOKEN, or in a file that --token-file names"),
        ("spt_wrong", "this database knows no such token"),
        ("admin", "forbidden: "),
    ],
)
async def test_a_token_that_cannot_search_is_one_line_at_the_start(place: Any, run: Run, token: str | None, words: str) -> None:
    text = place.tokens["acme", "admin"] if token == "admin" else token
    done = await asyncio.to_thread(run, **({} if text is None else {"SEARCHPORT_TOKEN": text}))
    last = done.stderr.splitlines()[-1]
    assert (done.returncode, done.stdout) == (1, "")
    assert last.startswith("searchport: ")
    assert words in last
    assert text is None or text not in done.stderr


def test_without_the_extra_the_command_says_how_to_get_it(run: Run, tmp_path: Path) -> None:
    """The package is hidden from whoever looks for it."""
    hide = (
        "import importlib.util as u\nfind = u.find_spec\nu.find_spec = lambda name, *_: None if name == 'mcp' else find(name)\n"
    )
    (tmp_path / "sitecustomize.py").write_text(hide, encoding="utf-8")
    done = run(PYTHONPATH=str(tmp_path), SEARCHPORT_TOKEN="t")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].endswith("pip install 'searchport[mcp]'")


@pytest.fixture
async def served(asleep: Any, tmp_path: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """`searchport serve` on the same database, and its port."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "serve", "--port", "0", "--database", asleep.store.url,
        env=environment(), cwd=tmp_path, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    while (line := json.loads(await process.stderr.readline()))["event"] != "listening":
        pass
    yield process, int(line["url"].rpartition(":")[2])
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
    process._transport.close()  # type: ignore[attr-defined]  # else it is closed when the loop is gone


def write_request(token: str, method: str, body: str = "", **headers: str) -> bytes:
    lines = [
        f"{method} /mcp HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body.encode()


async def test_a_server_with_clients_that_stay_stops_in_time(asleep: Any, served: tuple[asyncio.subprocess.Process, int]) -> None:
    """Connections stay open that asked for a stream; a call is in flight and is answered."""
    process, port = served
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    listen = message("subscriptions/listen", 1, notifications={}, _meta=meta)
    modern = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "subscriptions/listen"}
    sent = [
        (write_request(asleep.token, "GET", MCP_Protocol_Version="2025-11-25"), b" 405 "),
        (write_request(asleep.token, "POST", listen, **modern), b" 404 "),
    ]
    writers = []
    for request, status in sent:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        assert status in await reader.readline()
        writers.append(writer)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writers.append(writer)
    writer.write(write_request(asleep.token, "POST", ask(f"slow: {CANARY}"), MCP_Protocol_Version="2025-11-25"))
    while not asleep.store.sql("SELECT id FROM records"):  # noqa: ASYNC110  # the database tells nobody
        await asyncio.sleep(0)
    stopped = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert b" 200 " in await reader.readline()
    assert process.stderr is not None
    logged = (await process.stderr.read()).decode()
    assert (await process.wait(), time.monotonic() - stopped < 15) == (0, True)
    assert CANARY not in logged
    for writer in writers:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
