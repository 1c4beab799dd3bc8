"""The HTTP clients of the process: one for each address policy, since pooled connections skip its checks."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

import attrs
from yarl import URL

from searchport.egress import AddressPolicy, HttpClient

__all__ = ["HttpClients"]


@attrs.define
class HttpClients:
    """Opens HTTP clients by policy and closes them all; an async context manager.

    build: makes the client of a policy; a test puts its own here.
    """

    build: Callable[[AddressPolicy], HttpClient] = HttpClient
    _clients: dict[AddressPolicy, HttpClient] = attrs.field(factory=dict, init=False)

    def open(self, policy: AddressPolicy, *, origin: str | None = None) -> HttpClient:
        """The client under this policy, which may also dial an operator's `origin`."""
        if origin is not None:
            policy = attrs.evolve(policy, allowed_hosts=(*policy.allowed_hosts, _authority(origin)))
        client = self._clients.get(policy)
        if client is None:
            client = self._clients[policy] = self.build(policy)
        return client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for client in self._clients.values():
            await client.close()
        self._clients.clear()


def _authority(origin: str) -> str:
    """`http://127.0.0.1:9001` -> `127.0.0.1:9001`: the exact entry of an allow list."""
    url = URL(origin)
    host = f"[{url.host}]" if ":" in (url.host or "") else url.host
    return f"{host}:{url.port}"
