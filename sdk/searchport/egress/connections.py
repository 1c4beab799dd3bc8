"""The connections of one address policy: the resolver and socket factory that guard them, the session over them."""

from __future__ import annotations

import json
import socket
import time
from importlib import metadata
from typing import TYPE_CHECKING, Final

import aiohttp
import attrs
from aiohttp.abc import AbstractResolver, ResolveResult

from searchport.errors import SearchError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable

    from .policy import AddressPolicy

__all__ = ["Connections", "Dial", "NotRepeatedError", "RefusedAddressError"]

AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[str, int] | tuple[str, int, int, int]]

_CONNECTIONS_PER_HOST: Final = 256
_DNS_CACHE_SECONDS: Final = 10
_VOUCHED_SECONDS: Final = 60.0  # longer than the DNS cache and any call together


class RefusedAddressError(OSError):
    """An address that the policy refuses; `reason` is the policy's clause. An OSError, so that aiohttp passes it on."""

    def __init__(self, reason: str) -> None:
        super().__init__(0, reason)
        self.reason = reason


class NotRepeatedError(aiohttp.ClientError):
    """A connection that ended before an answer came."""


@attrs.frozen
class Dial:
    """Where checked connections really go: for `searchport.testing.FakeWeb` alone.

    open_socket: makes the socket for an address that passed every check; its `connect` may lead elsewhere.
    tls: what such connections trust.
    """

    open_socket: Callable[[AddressInfo], socket.socket]
    tls: ssl.SSLContext


@attrs.define
class Connections:
    """One pool of connections, opened at first use in the running event loop; never shared between policies."""

    policy: AddressPolicy
    resolver: AbstractResolver | None = None
    dial: Dial | None = None
    is_closed: bool = attrs.field(default=False, init=False)
    _session: aiohttp.ClientSession | None = attrs.field(default=None, init=False)  # noqa: TID251
    _vouched: dict[tuple[str, int], float] = attrs.field(factory=dict, init=False)

    def session(self) -> aiohttp.ClientSession:  # noqa: TID251
        """The session over the pool. No cookies, no environment, no timeouts of its own, no request sent twice."""
        if self._session is None:
            self._session = aiohttp.ClientSession(  # noqa: TID251 - the one place that builds it
                connector=self._connector(),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": _user_agent()},
                json_serialize=_write_json,
                middlewares=(_send_once,),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
                trust_env=False,
            )
        return self._session

    async def close(self) -> None:
        """Closes every connection; the pool cannot be used again."""
        self.is_closed = True
        if self._session is not None:
            await self._session.close()

    def _connector(self) -> aiohttp.TCPConnector:
        return aiohttp.TCPConnector(
            resolver=_GuardedResolver(self.resolver or aiohttp.ThreadedResolver(), self.policy, self._vouch),
            socket_factory=self._open_socket,
            ssl=self.dial.tls if self.dial is not None else True,
            ttl_dns_cache=_DNS_CACHE_SECONDS,
            limit=0,
            limit_per_host=_CONNECTIONS_PER_HOST,
        )

    def _vouch(self, address: str, port: int) -> None:
        """Notes an address that is reachable only because the name it resolved from is allowed."""
        now = time.monotonic()
        self._vouched = {key: ends_at for key, ends_at in self._vouched.items() if ends_at > now}
        self._vouched[address, port] = now + _VOUCHED_SECONDS

    def _open_socket(self, info: AddressInfo) -> socket.socket:
        """The last gate, on the number that is connected to: aiohttp asks no resolver about a literal address."""
        address, port = str(info[4][0]), info[4][1]
        reason = _refusal_reason(self.policy, address, address, port)
        if reason is not None and not self._is_vouched(address, port):
            raise RefusedAddressError(reason)
        if self.dial is not None:
            return self.dial.open_socket(info)
        return socket.socket(info[0], info[1], info[2])

    def _is_vouched(self, address: str, port: int) -> bool:
        return self._vouched.get((address, port), 0.0) > time.monotonic()


class _GuardedResolver(AbstractResolver):
    """A resolver of which every answer must pass the policy, or none is dialled: mixed answers are how rebinding looks."""

    def __init__(self, inner: AbstractResolver, policy: AddressPolicy, vouch: Callable[[str, int], None]) -> None:
        self._inner = inner
        self._policy = policy
        self._vouch = vouch

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC) -> list[ResolveResult]:
        found = await self._look_up(host, port, family)
        if not found:
            raise OSError(0, "no address")
        for answer in found:
            self._check(host, answer["host"], port)
        return [{**answer, "port": port} for answer in found]

    async def close(self) -> None:
        await self._inner.close()

    async def _look_up(self, host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
        try:
            return await self._inner.resolve(host, port, family)
        except (ValueError, LookupError) as error:  # a name that the resolver cannot encode
            raise OSError(0, "no address") from error

    def _check(self, host: str, address: str, port: int) -> None:
        reason = _refusal_reason(self._policy, host, address, port)
        if reason is not None:
            raise RefusedAddressError(reason)
        if _refusal_reason(self._policy, address, address, port) is not None:
            self._vouch(address, port)


def _user_agent() -> str:
    try:
        return f"searchport/{metadata.version('searchport')}"
    except metadata.PackageNotFoundError:  # run from a source tree
        return "searchport/0"


def _write_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _refusal_reason(policy: AddressPolicy, host: str, address: str, port: int) -> str | None:
    try:
        policy.check_address(host, address, port)
    except SearchError as refusal:
        return refusal.reason
    return None


async def _send_once(
    request: aiohttp.ClientRequest, handler: Callable[[aiohttp.ClientRequest], Awaitable[aiohttp.ClientResponse]]
) -> aiohttp.ClientResponse:
    """Keeps aiohttp from silently sending a GET again after a lost connection: the vendor may have counted it."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise  # never connected, so never sent, nor repeated
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise NotRepeatedError from error
