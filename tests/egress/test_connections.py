"""The guards below the URL: resolver, socket factory, session."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from searchport.egress import AddressPolicy, HttpClient
from searchport.egress.connections import Connections, RefusedAddressError
from searchport.errors import ErrorCode, SearchError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from searchport.testing import FakeWeb

PRIVATE = "10.1.2.3"


def address_info(address: str, port: int = 443) -> tuple[int, int, int, str, tuple[str, int]]:
    return (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port))


@pytest.fixture
async def listener() -> AsyncIterator[tuple[int, list[str]]]:
    """A real loopback port that notes who connects to it."""
    connected: list[str] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.append(str(writer.get_extra_info("peername")))
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(note, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], connected


class NamesOnly(AbstractResolver):
    """A resolver of which the answer is what it is given."""

    def __init__(self, *addresses: str, port: int | None = None) -> None:
        self.addresses = addresses
        self.port = port

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=address, port=self.port or port, family=family, proto=0, flags=0)
            for address in self.addresses
        ]

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "::1", "169.254.169.254", "127.1", "localhost", ""])
def test_the_socket_factory_refuses_what_is_not_a_public_number(address: str) -> None:
    with pytest.raises(RefusedAddressError):
        Connections(AddressPolicy())._open_socket(address_info(address))


def test_the_socket_factory_opens_a_socket_to_a_public_address() -> None:
    with Connections(AddressPolicy())._open_socket(address_info("93.184.215.14")) as opened:
        assert opened.family == socket.AF_INET


async def test_an_address_is_vouched_for_only_through_its_allowed_name(web: FakeWeb) -> None:
    web.resolves("intranet.example.com", [PRIVATE])
    web.resolves("other.example.com", [PRIVATE])
    web.answer("http://intranet.example.com:8080/", json={})
    client = web.client(AddressPolicy(allowed_hosts=["intranet.example.com:8080"]))
    await client.get_json("http://intranet.example.com:8080/")
    for url in ("http://other.example.com:8080/", f"http://{PRIVATE}:8080/", "http://intranet.example.com/"):
        with pytest.raises(SearchError):
            await client.get_json(url)
    assert web.dialled == [(PRIVATE, 8080)]


async def test_an_allowed_literal_needs_no_resolver(web: FakeWeb) -> None:
    web.answer("http://127.0.0.1:9001/x", json={})
    await web.client(AddressPolicy(allowed_hosts=["127.0.0.1:9001"])).get_json("http://127.0.0.1:9001/x")
    assert web.resolver.looked_up == []


async def test_an_allowed_name_that_resolves_to_metadata_is_refused(web: FakeWeb) -> None:
    web.resolves("intranet.example.com", ["169.254.169.254"])
    policy = AddressPolicy(allowed_hosts=["intranet.example.com"], allow_private_addresses=True)
    with pytest.raises(SearchError, match="a cloud metadata address"):
        await web.client(policy).get_json("http://intranet.example.com/")


@pytest.mark.parametrize("answers", [["93.184.215.14", PRIVATE], ["::1", "93.184.215.14"]])
async def test_one_private_address_among_public_ones_refuses_all(web: FakeWeb, answers: list[str]) -> None:
    web.resolves("mixed.example.com", answers)
    with pytest.raises(SearchError, match="not on the public internet"):
        await web.client().get_json("http://mixed.example.com/")
    assert web.dialled == []


async def test_a_resolver_that_answers_with_a_name_is_refused(listener: tuple[int, list[str]]) -> None:
    async with HttpClient(AddressPolicy(), NamesOnly("localhost")) as client:
        with pytest.raises(SearchError):
            await client.get_json("http://www.example.com:8080/")


async def test_a_resolver_cannot_change_the_port(web: FakeWeb) -> None:
    web.answer("http://www.example.com/", json={})
    client = web.client()
    client._connections.resolver = NamesOnly("93.184.215.14", port=22)
    await client.get_json("http://www.example.com/")
    assert web.dialled == [("93.184.215.14", 80)]


async def test_a_resolver_that_fails_in_any_way_is_no_answer(web: FakeWeb) -> None:
    for failure in (OSError(-2, "CANARY"), UnicodeError("CANARY"), RuntimeError("CANARY")):
        web.resolves("www.example.com", failure)
        with pytest.raises(SearchError) as caught:
            await web.client().get_json("http://www.example.com/")
        assert "CANARY" not in str(caught.value)


async def test_loopback_is_not_reached_by_default_for_real(listener: tuple[int, list[str]]) -> None:
    port, connected = listener
    policy = AddressPolicy(allowed_hosts=[f"localhost:{port}"])
    async with HttpClient(policy, NamesOnly("127.0.0.1")) as client:
        for url in (f"http://127.0.0.1:{port}/", f"http://[::ffff:127.0.0.1]:{port}/", f"http://0x7f000001:{port}/"):
            with pytest.raises(SearchError):
                await client.get_json(url)
    assert connected == []


async def test_an_allowed_host_is_reached_for_real(listener: tuple[int, list[str]]) -> None:
    port, connected = listener
    async with HttpClient(AddressPolicy(allowed_hosts=[f"localhost:{port}"]), NamesOnly("127.0.0.1")) as client:
        with pytest.raises(SearchError) as caught:
            await client.get_json(f"http://localhost:{port}/")
    assert caught.value.reason == "the connection ended before an answer came"
    assert len(connected) == 1


async def test_a_lost_connection_is_not_silently_tried_again(listener: tuple[int, list[str]]) -> None:
    port, connected = listener
    async with HttpClient(AddressPolicy(allowed_hosts=[f"127.0.0.1:{port}"])) as client:
        with pytest.raises(SearchError):
            await client.get_json(f"http://127.0.0.1:{port}/")
        assert (len(connected), client.requests_sent) == (1, 1)


async def test_a_refused_connection_is_unreachable_and_counts_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    async with HttpClient(AddressPolicy(allowed_hosts=[f"127.0.0.1:{port}"])) as client:
        with pytest.raises(SearchError) as caught:
            await client.get_json(f"http://127.0.0.1:{port}/")
        assert (caught.value.code, client.requests_sent) == (ErrorCode.UPSTREAM_UNREACHABLE, 0)


async def test_the_default_resolver_asks_the_system(listener: tuple[int, list[str]]) -> None:
    port, connected = listener
    async with HttpClient(AddressPolicy(allowed_hosts=[f"localhost:{port}"])) as client:
        with pytest.raises(SearchError):
            await client.get_json(f"http://localhost:{port}/")
    assert len(connected) == 1
