"""Name look-ups as a table."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Final

from aiohttp.abc import AbstractResolver, ResolveResult

__all__ = ["PUBLIC_ADDRESS", "FakeDns"]

PUBLIC_ADDRESS: Final = "93.184.215.14"
"""What every name resolves to unless told otherwise."""


class FakeDns(AbstractResolver):
    """A resolver that answers from `answers` and touches no network.

    answers: host -> one answer a look-up, the last repeating: addresses (none: no such name), or an exception to raise.
    looked_up: every name asked for, in order.
    """

    def __init__(self) -> None:
        self.answers: dict[str, list[Sequence[str] | Exception]] = {}
        self.looked_up: list[str] = []

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002  # aiohttp's interface
    ) -> list[ResolveResult]:
        """The next answer for a host, as aiohttp wants it."""
        host = host.removesuffix(".").lower()
        self.looked_up.append(host)
        waiting = self.answers.get(host, [[PUBLIC_ADDRESS]])
        found = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if isinstance(found, Exception):
            raise found
        return [_result(host, address, port) for address in found]

    async def close(self) -> None:
        """Nothing to close."""


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(
        hostname=host, host=address, port=port, family=family, proto=socket.IPPROTO_TCP, flags=socket.AI_NUMERICHOST
    )
