"""SIGTERM: not ready any more, every call in flight finished, exit 0 in time."""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

HELD_BEYOND_THE_LISTENER = 4.0


@attrs.define
class Server:
    """`searchport serve --ops-only` whose `brave` is the raw vendor."""

    process: asyncio.subprocess.Process
    url: str

    async def logged(self, event: str) -> dict[str, Any]:
        """The next log line of an event."""
        assert self.process.stderr is not None
        while True:
            line = json.loads(await self.process.stderr.readline())
            if line["event"] == event:
                return line

    async def request(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and body, over a connection of its own."""
        data = b"" if body is None else json.dumps(body).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", int(self.url.rpartition(":")[2]))
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close", "Content-Type: application/json"]
        writer.write("\r\n".join([*lines, f"Content-Length: {len(data)}", "", ""]).encode() + data)
        head, _, answer = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        return int(head.split()[1]), json.loads(answer)


@pytest.fixture
async def held(vendor: Any, reply: Callable[..., bytes]) -> tuple[asyncio.Event, asyncio.Event]:
    """(asked, release): the vendor answers when it is told to."""
    asked, release = asyncio.Event(), asyncio.Event()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await vendor.read_request(reader, writer)
        asked.set()
        await release.wait()
        rows = [{"title": "Page", "url": "https://pages.example/"}]
        writer.write(reply(json.dumps({"web": {"results": rows}}).encode()))

    vendor.script = script
    return asked, release


@pytest.fixture
async def server(vendor: Any, tmp_path: Path) -> AsyncIterator[Server]:
    """Ready for calls."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SEARCHPORT_")}
    env = clean | {"SEARCHPORT_PROVIDER_BASE_URLS": json.dumps({"brave": vendor.origin})}
    command = [sys.executable, "-m", "searchport_platform", "serve", "--ops-only", "--port", "0"]
    process = await asyncio.create_subprocess_exec(*command, env=env, stderr=asyncio.subprocess.PIPE, cwd=tmp_path)
    started = Server(process, "")
    started.url = (await started.logged("listening"))["url"]
    yield started
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
    process._transport.close()  # type: ignore[attr-defined]  # else it is closed when the loop is gone


SEARCH = {"provider": "brave", "query": "tea", "auth": {"type": "header", "value": "key"}}


async def drain(server: Server, held: tuple[asyncio.Event, asyncio.Event], *, hold_seconds: float) -> None:
    """A call in flight is answered, and everything else ends in time."""
    asked, release = held
    assert (await server.request("GET", "/readyz"))[0] == 200
    call = asyncio.create_task(server.request("POST", "/ops/search", SEARCH))
    await asked.wait()
    stopped = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    assert (await server.logged("stopping"))["in_flight"] == 1
    assert await server.request("GET", "/readyz") == (503, {"ok": False, "code": "stopping"})
    assert (await server.request("GET", "/healthz"))[0] == 200
    asyncio.get_running_loop().call_later(hold_seconds, release.set)
    status, body = await call
    assert (status, body["results"][0]["title"]) == (200, "Page")
    assert await server.process.wait() == 0
    assert time.monotonic() - stopped < 25


async def test_a_call_in_flight_is_finished_and_no_other_is_invited(server: Server, held: Any) -> None:
    await drain(server, held, hold_seconds=0)


@pytest.mark.prove
async def test_a_call_in_flight_outlives_the_listener(server: Server, held: Any) -> None:
    await drain(server, held, hold_seconds=HELD_BEYOND_THE_LISTENER)


async def test_a_server_with_nothing_to_do_stops_at_once(server: Server) -> None:
    stopped = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    assert (await server.process.wait(), time.monotonic() - stopped < 3) == (0, True)


@pytest.mark.prove
async def test_a_call_that_never_ends_is_cut_off_in_time(server: Server, held: Any) -> None:
    """Its deadline ends it: 15 s, and the server follows."""
    call = asyncio.create_task(server.request("POST", "/ops/search", SEARCH))
    await held[0].wait()
    stopped = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    assert (await call)[0] == 504
    assert (await server.process.wait(), time.monotonic() - stopped < 25) == (0, True)
    held[1].set()
