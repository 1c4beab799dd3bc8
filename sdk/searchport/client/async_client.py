"""Calling a platform from asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Self, overload

import attrs
from typing_extensions import Unpack

from searchport.errors import ErrorCode, Fault, SearchError, shorten

from .answer import SearchAnswer
from .failures import PlatformError
from .options import SearchOptions, build_payload, with_options
from .plan import SearchPlan
from .progress import show_progress
from .tool import ToolResult, parse_arguments, render_failure
from .transport import DEFAULT_TIMEOUT_SECONDS, HttpTransport, ToolTransport, Transport
from .wire import read

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["ACTION", "DEFAULT_CONCURRENCY", "AsyncClient"]

ACTION = "action.search.web"
DEFAULT_CONCURRENCY = 4
MOST_CONCURRENCY = 64


class AsyncClient:
    """Searches on a platform, for the organization of a token.

    Over HTTP: `AsyncClient("https://search.example.com", token)`; close it, or use it with `async with`. In the platform's own
    process: `AsyncClient(transport=...)`, with a transport that the platform supplies, which the client does not close.
    Nothing is retried: a failure tells in `retry_after` and `is_retryable` whether the caller should.
    """

    @overload
    def __init__(
        self, url: str, token: str, *, agent: str | None = None, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    ) -> None: ...

    @overload
    def __init__(self, *, transport: Transport) -> None: ...

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        agent: str | None = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        transport: Transport | None = None,
    ) -> None:
        """url: the platform's address; `http` only where the network is your own, since the token travels in the request.

        agent: for a token whose scope lets it name one. timeout_seconds: how long one search may take in all.
        Raises SearchError (`validation_error`) with every fault; no fault holds the token.
        """
        if transport is not None and (url is not None or token is not None or agent is not None):
            raise SearchError.invalid("transport", "give either a URL and a token, or a transport")
        self._http: HttpTransport | None = None
        if transport is None:
            self._http = transport = HttpTransport(url or "", token or "", agent=agent, timeout_seconds=timeout_seconds)
        self._transport = transport
        self._is_closed = False

    def __repr__(self) -> str:
        return f"AsyncClient({self._transport!r})"

    @with_options
    async def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchAnswer:
        """One search. Options that are not given are the organization's.

        Raises SearchError; `validation_error` with every fault, before anything is sent.
        """
        return read(await self._call(build_payload(query, options)), SearchAnswer)

    @with_options
    async def plan(self, query: str, **options: Unpack[SearchOptions]) -> SearchPlan:
        """What `search` would do and what it can cost; nothing is sent to a vendor, nothing is counted. Raises SearchError."""
        try:
            return read(await self._call({**build_payload(query, options), "dryRun": True}), SearchPlan)
        except PlatformError as error:
            raise attrs.evolve(error, may_have_counted=False) from None

    @with_options
    async def search_many(
        self,
        queries: Iterable[str],
        *,
        concurrency: int = DEFAULT_CONCURRENCY,
        progress: bool = False,
        **options: Unpack[SearchOptions],
    ) -> list[SearchAnswer | SearchError]:
        """Many searches with the same options: for each query, in order, its answer or the SearchError that it ended with.

        concurrency: how many at a time, 1 to 64; the organization has a limit too. progress: shows a bar in the notebook or,
        where rich is installed, on the terminal. Raises SearchError (`validation_error`) for an option, before anything is sent.
        """
        wanted = _read_queries(queries, concurrency, options)
        found: dict[int, SearchAnswer | SearchError] = {}
        waiting = iter(enumerate(wanted))

        async def work() -> None:
            for place, query in waiting:
                found[place] = await self._try(query, options)
                advance()

        with show_progress(len(wanted), wanted=progress) as advance:
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(concurrency, len(wanted))):
                    workers.create_task(work())
        return [found[place] for place in range(len(wanted))]

    async def describe_tool(self, style: str = "platform", *, strict: bool = False) -> dict[str, object]:
        """The declaration of the tool `web_search`, as the platform gives it; nothing is counted. Raises SearchError.

        style: whose shape: `platform`, `openai-responses`, `openai-chat`, `anthropic` or `mcp`. strict: for strict mode.
        """
        try:
            return dict(await self._tool_transport().describe_tool(style, strict=strict))
        except PlatformError as error:
            raise attrs.evolve(error, may_have_counted=False) from None

    async def call_tool(self, arguments: Mapping[str, object] | str) -> ToolResult:
        """One search for a model, with the arguments as it wrote them: an object, or its JSON text.

        Never raises SearchError: what fails is told to the model, by the platform or, where it gave no answer, by this client.
        """
        try:
            given = parse_arguments(arguments)
            return read(await self._tool_transport().call_tool(given), ToolResult)
        except SearchError as error:
            return render_failure(error)

    async def close(self) -> None:
        """Closes the connections to the platform; a second call does nothing."""
        self._is_closed = True
        if self._http is not None:
            await self._http.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _try(self, query: str, options: SearchOptions) -> SearchAnswer | SearchError:
        try:
            return await self.search(query, **options)
        except SearchError as error:
            return error

    async def _call(self, payload: Mapping[str, object]) -> Mapping[str, object]:
        self._check_open()
        return await self._transport.call(ACTION, payload)

    def _tool_transport(self) -> ToolTransport:
        self._check_open()
        if not isinstance(self._transport, ToolTransport):
            raise SearchError(ErrorCode.INTERNAL_ERROR, reason="the client's transport does not lead to the agent tool")
        return self._transport

    def _check_open(self) -> None:
        if self._is_closed:
            raise SearchError(ErrorCode.INTERNAL_ERROR, reason="the client is closed")


def _read_queries(queries: Iterable[str], concurrency: object, options: SearchOptions) -> list[str]:
    """The queries, each still unchecked. Raises SearchError with what is wrong with everything else."""
    faults = []
    if isinstance(queries, str) or not isinstance(queries, Iterable):
        faults.append(Fault("$.queries", "expected several texts, such as a list; for a single one there is `search`"))
    if type(concurrency) is not int or not 1 <= concurrency <= MOST_CONCURRENCY:
        faults.append(Fault("$.concurrency", f"{shorten(concurrency)} is no whole number from 1 to {MOST_CONCURRENCY}"))
    try:
        build_payload("any", options)
    except SearchError as refusal:
        faults += refusal.faults
    if faults:
        raise SearchError(ErrorCode.VALIDATION_ERROR, faults=faults)
    return list(queries)
