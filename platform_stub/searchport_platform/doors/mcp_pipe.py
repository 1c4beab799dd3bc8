"""MCP over a pipe: a client that ends its input still gets the answers to what it asked before.

The SDK's server ends with its input, and cancels what it is doing. A script that pipes a few requests in would get nothing, and a
search that was admitted would be cut off where its record is written.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

import anyio
import attrs
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

__all__ = ["Incoming", "Outgoing", "Unanswered"]

_NO_MESSAGE = JSONRPCError(
    jsonrpc="2.0",
    id=None,
    error=ErrorData(code=PARSE_ERROR, message="a line came that is no message of the protocol; its request is not answered"),
)
"""Its line is not shown: it may hold the query. Source: JSON-RPC 2.0, sections 5 and 5.1."""


@attrs.define(eq=False)
class Unanswered:
    """The requests that came and have no answer yet."""

    _ids: set[RequestId] = attrs.field(factory=set)
    _changed: asyncio.Event = attrs.field(factory=asyncio.Event)

    def note(self, message: object) -> None:
        """Counts a message of either side. A request that its client cancels may stay without an answer."""
        match message:
            case JSONRPCRequest(id=identity):
                self._ids.add(identity)
            case JSONRPCResponse(id=identity) | JSONRPCError(id=identity):
                self._ids -= {identity}
            case JSONRPCNotification(method="notifications/cancelled", params=params):
                self._ids -= {(params or {}).get("requestId")}
        self._changed.set()

    async def wait_none(self, longest_seconds: float) -> None:
        """Returns when every request has its answer, or that many seconds later."""
        try:
            async with asyncio.timeout(longest_seconds):
                while self._ids:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return


@attrs.define(eq=False)
class Incoming:
    """What the client sends; its end is held back while something is unanswered.

    A line that is no message is answered here: the SDK's server passes over it, and a client would wait.
    """

    _stream: ReadStream[SessionMessage | Exception]
    _answers: Outgoing
    _unanswered: Unanswered
    _longest_seconds: float

    async def receive(self) -> SessionMessage | Exception:
        """The next message. Raises anyio.EndOfStream."""
        try:
            while isinstance(item := await self._stream.receive(), Exception):
                await self._answers.send(SessionMessage(_NO_MESSAGE))
        except anyio.EndOfStream:
            await self._unanswered.wait_none(self._longest_seconds)
            raise
        self._unanswered.note(item.message)
        return item

    async def aclose(self) -> None:
        """Closes it."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        await self.aclose()


@attrs.define(eq=False)
class Outgoing:
    """What the server sends."""

    _stream: WriteStream[SessionMessage]
    _unanswered: Unanswered

    async def send(self, item: SessionMessage, /) -> None:
        """Sends one message."""
        await self._stream.send(item)
        self._unanswered.note(item.message)

    async def aclose(self) -> None:
        """Closes it."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        await self.aclose()
