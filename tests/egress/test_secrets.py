"""No key, query or URL in anything that a failed call leaves behind."""

from __future__ import annotations

import asyncio
import gzip
import logging
import socket
import traceback
from typing import TYPE_CHECKING

import pytest

from searchport.egress import AddressPolicy, Deadline, HttpClient, JsonBody, Refusals
from searchport.errors import SearchError
from searchport.testing import FakeAnswer, FakeWeb

if TYPE_CHECKING:
    from collections.abc import Callable

KEY, QUERY, PATH, BODY = "CANARYKEY", "CANARYQUERY", "CANARYPATH", "CANARYBODY"
HOST = "https://api.acme.example"
FIND = f"{HOST}/{PATH}"


def everything_of(error: BaseException | None) -> str:
    """All that a log, a traceback printer or a debugger's summary would show of an exception and those behind it."""
    seen: list[str] = []
    while error is not None:
        seen += [str(error), repr(error), repr(error.args), repr(getattr(error, "__notes__", ""))]
        seen += traceback.format_exception(error)
        error = error.__cause__ or error.__context__
    return "\n".join(seen)


def fail(_: JsonBody) -> str | None:
    raise ValueError(BODY)


SCENARIOS: dict[str, Callable[[FakeWeb], object]] = {
    "status 400": lambda web: web.answer(FIND, status=400, json={"error": BODY}),
    "status 401": lambda web: web.answer(FIND, status=401, text=BODY),
    "status 402": lambda web: web.answer(FIND, status=402, json=BODY),
    "status 403": lambda web: web.answer(FIND, status=403, json=[BODY]),
    "status 429": lambda web: web.answer(FIND, status=429, headers={"Retry-After": BODY}),
    "status 500": lambda web: web.answer(FIND, status=500, text=f"<html>{BODY}"),
    "redirect": lambda web: web.answer(FIND, status=302, headers={"Location": f"https://x.example/{BODY}"}),
    "HTML": lambda web: web.answer(FIND, text=f"<html>{BODY}"),
    "not JSON": lambda web: web.answer(FIND, text=BODY),
    "not UTF-8": lambda web: web.answer(FIND, body=BODY.encode() + b"\xff"),
    "too deep": lambda web: web.answer(FIND, text="[" * 100 + BODY),
    "too large": lambda web: web.answer(FIND, text=BODY * 500_000),
    "bad gzip": lambda web: web.answer(FIND, text=BODY, headers={"Content-Encoding": "gzip"}),
    "bomb": lambda web: web.answer(FIND, body=gzip.compress(BODY.encode() * 500_000), headers={"Content-Encoding": "gzip"}),
    "vendor code": lambda web: web.answer(FIND, json={"code": f"a vendor's words, {BODY}"}),
    "dropped": lambda web: web.drop(FIND),
    "cut short": lambda web: web.cut(FIND, body=BODY.encode()),
    "stalled": lambda web: web.stall(FIND),
    "stopped": lambda web: web.drip(FIND, body=BODY.encode()),
    "no address": lambda web: web.resolves("api.acme.example", []),
    "no such name": lambda web: web.resolves("api.acme.example", socket.gaierror(-2, f"{BODY} {FIND}")),
    "resolver fails": lambda web: web.resolves("api.acme.example", UnicodeError(BODY)),
    "refused address": lambda web: web.resolves("api.acme.example", ["10.99.98.97"]),
    "handler fails": lambda web: web.handle(FIND, crash),
}
SECRETS = [KEY, QUERY, PATH, BODY, "10.99.98.97"]


async def crash(_: object) -> FakeAnswer:
    return FakeAnswer(status=500, text=BODY)


async def failed_call(client: HttpClient, url: str = FIND, *, key: str = KEY, query: str = QUERY) -> SearchError:
    refusals = Refusals(read=lambda body: body.text("code"))
    view = client.bind(deadline=Deadline.after(0.15), provider="acme", refusals=refusals)
    with pytest.raises(SearchError) as caught:
        await view.post_json(url, body={"q": query}, params={"q": query}, headers={"X-API-KEY": key})
    return caught.value


def assert_nothing_leaked(error: SearchError, caplog: pytest.LogCaptureFixture, secrets: list[str] = SECRETS) -> None:
    logged = [f"{record.getMessage()} {record.args!r} {record.exc_info!r} {record.exc_text}" for record in caplog.records]
    text = everything_of(error) + "\n".join(logged)
    assert [secret for secret in secrets if secret in text] == []
    assert (error.__cause__, error.__context__) == (None, None)


@pytest.fixture(autouse=True)
def all_logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_failed_call_leaves_no_secret_behind(web: FakeWeb, caplog: pytest.LogCaptureFixture, scenario: str) -> None:
    asyncio.get_running_loop().set_debug(True)
    SCENARIOS[scenario](web)
    assert_nothing_leaked(await failed_call(web.client()), caplog)


@pytest.mark.parametrize(
    "url",
    [f"http://127.0.0.1/{PATH}", f"http://user:{PATH}@a.example/", f"http://{PATH}/", f"ftp://a.example/{PATH}",
     f"https://a.example:70000/{PATH}", f"https://a.example/{PATH}\n", f"http://[{PATH}]/", f"http://a..b/{PATH}"],
)  # fmt: skip
async def test_a_refused_url_is_not_shown(client: HttpClient, caplog: pytest.LogCaptureFixture, url: str) -> None:
    assert_nothing_leaked(await failed_call(client, url), caplog, [*SECRETS, PATH.lower()])


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY}é"])
async def test_a_key_that_cannot_be_sent_is_not_shown(client: HttpClient, caplog: pytest.LogCaptureFixture, key: str) -> None:
    assert_nothing_leaked(await failed_call(client, key=key), caplog)


async def test_a_query_that_cannot_be_sent_is_not_shown(client: HttpClient, caplog: pytest.LogCaptureFixture) -> None:
    assert_nothing_leaked(await failed_call(client, query=f"{QUERY}\ud800"), caplog)
    with pytest.raises(SearchError) as caught:
        await client.post_json(FIND, body={"q": f"{QUERY}\ud800"})
    assert_nothing_leaked(caught.value, caplog)


async def test_a_certificate_that_is_not_trusted_leaves_no_secret_behind(web: FakeWeb, caplog: pytest.LogCaptureFixture) -> None:
    client = HttpClient(AddressPolicy(allowed_hosts=["127.0.0.1"]))
    error = await failed_call(client, f"https://127.0.0.1:{web.port}/{PATH}")
    await client.close()
    assert error.reason == "its TLS certificate was not accepted"
    assert_nothing_leaked(error, caplog)


async def test_plain_http_where_tls_is_asked_leaves_no_secret_behind(caplog: pytest.LogCaptureFixture) -> None:
    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with HttpClient(AddressPolicy(allowed_hosts=["127.0.0.1"])) as client:
            error = await failed_call(client, f"https://127.0.0.1:{port}/{PATH}")
    assert error.reason == "TLS could not be agreed"
    assert_nothing_leaked(error, caplog)


@pytest.mark.parametrize(
    "head",
    [b"CANARYBODY\r\n\r\n", b"HTTP/1.1 200 OK\r\nCANARYBODY\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"CANARYBODY" * 2000],
)
async def test_an_answer_that_is_not_http_leaves_no_secret_behind(caplog: pytest.LogCaptureFixture, head: bytes) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with HttpClient(AddressPolicy(allowed_hosts=["127.0.0.1"])) as client:
            error = await failed_call(client, f"http://127.0.0.1:{port}/{PATH}")
    assert error.reason == "an answer that is not HTTP"
    assert_nothing_leaked(error, caplog)


async def test_what_the_client_holds_does_not_show_in_its_parts(web: FakeWeb, client: HttpClient) -> None:
    web.answer(FIND, text=BODY)
    answer = await client.get_text(FIND)
    assert BODY not in repr(answer)
    assert KEY not in repr(client)
