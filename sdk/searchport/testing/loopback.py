"""A loopback server for http and https on one port, for any host name, and the socket that leads to it."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Final

import trustme
from aiohttp import web

__all__ = ["LoopbackServer", "Redirected"]

_TLS_HANDSHAKE: Final = 0x16  # the first byte of a TLS connection: a handshake record (RFC 8446, section 5.1)


class Redirected(socket.socket):
    """A socket that connects to another address than it is told to.

    family: of the address that the caller means to connect to, since asyncio checks the one against the other.
    """

    def __init__(self, family: int, target: tuple[str, int]) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self._claimed_family = socket.AddressFamily(family)
        self._target = target

    @property
    def family(self) -> socket.AddressFamily:
        """The family of the address that the caller means."""
        return self._claimed_family

    def connect(self, _: object) -> None:
        """Connects to the target."""
        super().connect(self._target)


class LoopbackServer:
    """Serves `handler` on a free port of 127.0.0.1; TLS where a connection begins with it."""

    def __init__(self, handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> None:
        self.address: tuple[str, int] = ("", 0)
        self._handler = handler
        self._authority = trustme.CA()
        self._certificates: dict[str, ssl.SSLContext] = {}
        self._literals = {"127.0.0.1"}
        self._greetings: set[asyncio.Task[None]] = set()

    def client_tls(self) -> ssl.SSLContext:
        """What a client needs to trust this server, and nothing else."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._authority.configure_trust(context)
        return context

    def certify(self, address: str) -> None:
        """Makes the server answer for a literal address, which no client names in its handshake."""
        if address not in self._literals:
            self._literals.add(address)
            self._certificates.pop("", None)

    async def start(self) -> None:
        """Begins to accept connections."""
        self._server = web.Server(self._handler, access_log=None)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self.address = self._listener.getsockname()
        self._tls = self._server_context()
        self._tls.sni_callback = self._choose_certificate
        self._accepting = asyncio.create_task(self._accept())

    async def stop(self) -> None:
        """Ends every connection and frees the port."""
        tasks = [self._accepting, *self._greetings]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._listener.close()
        await self._server.shutdown(timeout=0.1)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(self._listener)
            task = asyncio.create_task(self._greet(connection))
            self._greetings.add(task)
            task.add_done_callback(self._greetings.discard)

    async def _greet(self, connection: socket.socket) -> None:
        """Looks at the first byte without taking it, and hands the connection to the HTTP server."""
        try:
            await _readable(connection)
            first = connection.recv(1, socket.MSG_PEEK)
            tls = self._tls if first and first[0] == _TLS_HANDSHAKE else None
            await asyncio.get_running_loop().connect_accepted_socket(self._server, connection, ssl=tls)
        except (OSError, asyncio.CancelledError):
            connection.close()

    def _choose_certificate(self, connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        connection.context = self._context_for(name or "")

    def _context_for(self, name: str) -> ssl.SSLContext:
        if name not in self._certificates:
            context = self._server_context()
            identities = [_certifiable(name)] if name else sorted(self._literals)
            self._authority.issue_cert(*identities).configure_cert(context)
            self._certificates[name] = context
        return self._certificates[name]

    def _server_context(self) -> ssl.SSLContext:
        return ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)


def _certifiable(name: str) -> str:
    """A wildcard for a name with an underscore, which no certificate may hold."""
    first, _, rest = name.partition(".")
    return f"*.{rest}" if "_" in first else name


async def _readable(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(connection, ready.set_result, None)
    try:
        await ready
    finally:
        loop.remove_reader(connection)
