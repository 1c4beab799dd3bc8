"""The way to a platform over HTTP: its failures come back whole, and whatever else answers is told apart."""

import asyncio
import copy
import logging
import os
import pickle
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import trustme
from aiohttp import web
from aiohttp.test_utils import TestServer

from searchport import ErrorCode, Fault, SearchError
from searchport.client import AsyncClient, PlatformError
from searchport_platform.doors.http import answer_errors
from searchport_platform.doors.problem import render_problem

from .conftest import ANSWER, SEARCH, Bench

Serve = Callable[..., Awaitable[str]]

TOKEN = "canary-token"


async def failure(url: str, *, token: str = TOKEN, timeout_seconds: float = 10) -> SearchError:
    """What a search at this URL fails with."""
    async with AsyncClient(url, token, timeout_seconds=timeout_seconds) as client:
        with pytest.raises(SearchError) as caught:
            await client.search("canary query")
    for text in (str(caught.value), repr(caught.value)):
        assert "canary" not in text
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return caught.value


def fields(error: SearchError) -> dict[str, object]:
    names = ("code", "reason", "faults", "retry_after", "provider", "gate", "alternatives", "vendor_code")
    return {name: getattr(error, name) for name in names}


# The platform's own failures


@pytest.mark.parametrize("code", ErrorCode)
async def test_every_error_of_the_platform_comes_back_with_all_its_fields(code: ErrorCode, serve: Serve) -> None:
    told = SearchError(
        code,
        reason="a fixed clause",
        retry_after=12.5,
        provider="acme",
        gate="tool:web.search",
        alternatives=["brave", "exa"],
        vendor_code="E_17",
    )

    async def refuse(_: web.Request) -> web.StreamResponse:
        raise told

    error = await failure(await serve(answer_errors(refuse, render_problem)))
    assert type(error) is SearchError
    assert fields(error) == fields(told)
    assert str(error) == str(told)


async def test_faults_come_back_with_their_paths(serve: Serve) -> None:
    told = SearchError(ErrorCode.VALIDATION_ERROR, faults=[Fault("$.site", "is a URL"), Fault("$.query", "is blank")])

    async def refuse(_: web.Request) -> web.StreamResponse:
        raise told

    error = await failure(await serve(answer_errors(refuse, render_problem)))
    assert (error.faults, str(error)) == (told.faults, str(told))


async def test_a_wrong_token_is_unauthorized(bench: Bench) -> None:
    error = await failure(bench.url)
    assert (type(error), error.code) == (SearchError, ErrorCode.UNAUTHORIZED)


async def test_a_token_without_the_scope_is_forbidden(bench: Bench) -> None:
    error = await failure(bench.url, token=await bench.issue("admin"))
    assert (error.code, error.gate) == (ErrorCode.FORBIDDEN, "scope:search")


async def test_the_agent_is_the_one_named(bench: Bench) -> None:
    """A new agent has passed no gate; one that is not there is refused too."""
    token = await bench.issue("search", "agents")
    async with AsyncClient(bench.url, token) as client, AsyncClient(bench.url, token, agent="nobody") as other:
        assert len(await client.search("tea")) == 3
        with pytest.raises(SearchError, match="nobody") as caught:
            await other.search("tea")
    assert caught.value.code is ErrorCode.FORBIDDEN


async def test_a_body_that_is_too_large_is_refused_in_the_platforms_words(bench: Bench) -> None:
    async with AsyncClient(bench.url, bench.token) as client:
        with pytest.raises(SearchError) as caught:
            await client.search("tea", provider_options={"x": "y" * 70_000})
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    assert "larger than 65,536 bytes" in str(caught.value)


# Whatever else answers


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (301, ErrorCode.VALIDATION_ERROR),
        (307, ErrorCode.VALIDATION_ERROR),
        (400, ErrorCode.VALIDATION_ERROR),
        (401, ErrorCode.UNAUTHORIZED),
        (403, ErrorCode.FORBIDDEN),
        (404, ErrorCode.VALIDATION_ERROR),
        (405, ErrorCode.VALIDATION_ERROR),
        (408, ErrorCode.UPSTREAM_TIMEOUT),
        (413, ErrorCode.VALIDATION_ERROR),
        (429, ErrorCode.RATE_LIMITED),
        (500, ErrorCode.UPSTREAM_UNREACHABLE),
        (502, ErrorCode.UPSTREAM_UNREACHABLE),
        (503, ErrorCode.UPSTREAM_UNREACHABLE),
        (504, ErrorCode.UPSTREAM_TIMEOUT),
    ],
)
@pytest.mark.parametrize("body", ["<html><h1>canary</h1></html>", '{"code": "canary"}', "[]"])
async def test_another_servers_refusal_blames_no_vendor(status: int, code: ErrorCode, body: str, serve: Serve) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=body, content_type="text/html", headers={"Location": "/canary"})

    url = await serve(answer)
    error = await failure(url)
    assert isinstance(error, PlatformError)
    assert (error.code, error.provider, error.may_have_counted) == (code, None, status >= 500 or status == 408)
    assert str(error).startswith(f"a server at {url} answered HTTP status {status}, ")
    assert "vendor" not in str(error)


@pytest.mark.parametrize("status", [429, 503])
async def test_a_proxys_wait_is_in_the_error(status: int, serve: Serve) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text="slow down", headers={"Retry-After": "7"})

    error = await failure(await serve(answer))
    assert (error.retry_after, error.is_retryable) == (7, True)
    assert str(error).endswith("try again in 7 s")


@pytest.mark.parametrize(
    "body", ["<!DOCTYPE html><title>Sign in</title>", "", "null", "[]", "{}", '{"results": []}', '{"query": 1}', "{", '"canary"']
)
async def test_a_page_instead_of_an_answer_is_never_an_empty_one(body: str, serve: Serve) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(text=body, content_type="application/json")

    error = await failure(await serve(answer))
    assert isinstance(error, PlatformError)
    assert (error.code, error.may_have_counted) == (ErrorCode.UPSTREAM_UNREACHABLE, True)
    assert "vendor" not in str(error)


async def test_a_status_without_content_is_no_answer(serve: Serve) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=204)

    assert (await failure(await serve(answer))).code is ErrorCode.UPSTREAM_UNREACHABLE


async def test_the_token_follows_no_redirect(serve: Serve) -> None:
    asked: list[str] = []

    async def keep(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        return web.json_response(ANSWER)

    elsewhere = await serve(keep)

    async def redirect(_: web.Request) -> web.StreamResponse:
        raise web.HTTPTemporaryRedirect(elsewhere + SEARCH)

    error = await failure(await serve(redirect))
    assert "a redirect, which is never followed; check the client's `url`" in str(error)
    assert asked == []


# No answer


async def test_a_platform_that_is_away_is_said_to_be(unused_port: int) -> None:
    error = await failure(f"http://127.0.0.1:{unused_port}")
    assert isinstance(error, PlatformError)
    assert (error.code, error.is_retryable, error.may_have_counted) == (ErrorCode.UPSTREAM_UNREACHABLE, True, False)
    assert str(error) == (
        f"no answer came from the platform at http://127.0.0.1:{unused_port}: no connection; "
        "check that it is running and that the client's `url` is right"
    )


async def test_a_name_that_does_not_exist_is_said_to_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    error = await failure("http://searchport.invalid:8080")
    assert (error.code, error.reason) == (
        ErrorCode.UPSTREAM_UNREACHABLE,
        "no answer came from the platform at http://searchport.invalid:8080: its host name did not resolve",
    )


async def test_an_answer_that_is_lost_may_have_counted_and_is_not_asked_for_again(serve: Serve) -> None:
    asked: list[str] = []

    async def drop(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    error = await failure(await serve(drop))
    assert isinstance(error, PlatformError)
    assert (error.code, error.may_have_counted) == (ErrorCode.UPSTREAM_UNREACHABLE, True)
    assert str(error).endswith("the search may have been counted; try again later")
    assert asked == [SEARCH]


async def test_an_answer_that_does_not_come_in_time_is_a_timeout(serve: Serve) -> None:
    async def stall(_: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    error = await failure(await serve(stall), timeout_seconds=0.1)
    assert isinstance(error, PlatformError)
    assert (error.code, error.may_have_counted) == (ErrorCode.UPSTREAM_TIMEOUT, True)


async def test_a_server_that_does_not_speak_http_is_no_platform() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"220 mail.example ESMTP\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        error = await failure(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert (type(error), error.code) == (PlatformError, ErrorCode.UPSTREAM_UNREACHABLE)


# What is sent


async def test_the_request_is_one_post_of_json_with_the_token_and_the_agent(serve: Serve) -> None:
    seen: list[tuple[str, str, str | None, str | None, object]] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        headers = request.headers
        sent = await request.json()
        seen.append((request.method, request.path, headers.get("Authorization"), headers.get("X-Searchport-Agent"), sent))
        return web.json_response(ANSWER)

    url = await serve(answer, "/{path:.*}")
    async with AsyncClient(f"{url}/prefix/", TOKEN, agent="writer") as client:
        await client.search("tea", max_results=3)
    assert seen == [("POST", f"/prefix{SEARCH}", f"Bearer {TOKEN}", "writer", {"query": "tea", "maxResults": 3})]


async def test_no_proxy_is_taken_from_the_environment(bench: Bench, monkeypatch: pytest.MonkeyPatch, unused_port: int) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{unused_port}")
    async with AsyncClient(bench.url, bench.token) as client:
        assert len(await client.search("tea")) == 3


async def test_a_host_name_that_resolves_to_a_private_address_is_the_platforms_own(serve: Serve) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response(ANSWER)

    url = (await serve(answer)).replace("127.0.0.1", "localhost")
    async with AsyncClient(url, TOKEN) as client:
        assert len(await client.search("tea")) == 2


async def test_an_ipv6_address_is_taken() -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response(ANSWER)

    app = web.Application()
    app.router.add_post(SEARCH, answer)
    async with TestServer(app, host="::1") as server, AsyncClient(f"http://[::1]:{server.port}", TOKEN) as client:
        assert len(await client.search("tea")) == 2


async def test_neither_token_nor_query_reaches_a_log_or_a_repr(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with AsyncClient(bench.url, bench.token, agent=None) as client:
        answer = await client.search("canary query")
        await client.search_many(["canary query", "limited: canary"])
        shown = repr(client) + str(client) + repr(answer) + str(answer) + repr(answer[0]) + caplog.text
    assert bench.token not in shown
    assert "canary" not in shown
    assert bench.url in repr(client)


# HTTPS


@pytest.fixture
async def https(tmp_path: Path) -> AsyncIterator[tuple[str, Path]]:
    """The URL of a server with a certificate of an authority of its own, and that authority's file."""

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response(ANSWER)

    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    app = web.Application()
    app.router.add_post(SEARCH, answer)
    server = TestServer(app, host="127.0.0.1", scheme="https")
    await server.start_server(ssl=context)
    yield f"https://127.0.0.1:{server.port}", tmp_path / "authority.pem"
    await server.close()


async def test_a_certificate_of_an_unknown_authority_is_refused(https: tuple[str, Path]) -> None:
    error = await failure(https[0])
    assert isinstance(error, PlatformError)
    assert (error.code, error.may_have_counted) == (ErrorCode.UPSTREAM_UNREACHABLE, False)
    assert "its TLS certificate was not accepted" in str(error)


async def test_an_authority_of_ones_own_is_named_by_the_environment(https: tuple[str, Path]) -> None:
    code = "import sys; from searchport.client import Client; print(len(Client(sys.argv[1], 'token').search('tea')))"
    environment = {**os.environ, "SSL_CERT_FILE": str(https[1])}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, https[0], env=environment, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await asyncio.wait_for(process.communicate(), 30)
    assert (process.returncode, out) == (0, b"2\n")


# What is refused before


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "not http or https"),
        ("search.example.com", "not http or https"),
        ("ftp://search.example.com", "not http or https"),
        ("https://", "no host"),
        ("http://169.254.169.254", "a cloud metadata address"),
        ("https://me:canary@search.example.com", "with credentials"),
        ("https://search.example.com?key=1", "a query or a fragment"),
        ("https://search.example.com/#x", "a query or a fragment"),
        ("http://search.example.com:99999", "not a number from 1 to 65535"),
        ("http://exa mple.com", "not valid"),
        (b"http://x", "not text"),
    ],
)
def test_what_is_no_platforms_address_is_refused(url: str, words: str) -> None:
    with pytest.raises(SearchError, match=words) as caught:
        AsyncClient(url, TOKEN)
    assert [fault.path for fault in caught.value.faults] == ["url"]
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("token", ["", "canary token", "canary\n", "canarÿ", None, b"canary", "canary\r\nX: y"])
def test_what_is_no_token_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(SearchError, match="token: ") as caught:
        AsyncClient("https://search.example.com", token)
    assert "canar" not in str(caught.value)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), True, "10", None, 3_601])
def test_what_is_no_time_is_refused(seconds: float) -> None:
    with pytest.raises(SearchError, match="timeout_seconds: "):
        AsyncClient("https://search.example.com", TOKEN, timeout_seconds=seconds)


def test_what_is_wrong_with_a_client_is_told_together() -> None:
    with pytest.raises(SearchError) as caught:
        AsyncClient("example", "", agent="a b", timeout_seconds=0)
    assert [fault.path for fault in caught.value.faults] == ["url", "token", "agent", "timeout_seconds"]


def test_a_platform_error_survives_copying() -> None:
    error = PlatformError(ErrorCode.RATE_LIMITED, reason="r", next_step="n", may_have_counted=True, retry_after=3)
    for copied in (copy.copy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301  # our own bytes
        assert type(copied) is PlatformError
        assert (fields(copied), str(copied)) == (fields(error), str(error))
        assert (copied.next_step, copied.may_have_counted) == ("n", True)


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
