"""The client with which every provider calls its vendor."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, Self, TypeAlias, TypeVar

import aiohttp
import attrs

from searchport.errors import ErrorCode, SearchError

from .answers import Answer, read_answer, read_json, read_text
from .connections import Connections, Dial
from .deadline import Deadline
from .faults import fault_of, refusal_of
from .json_body import JsonBody
from .outgoing import Fields, build_body, build_form, build_headers, build_url, parse_origin, unencodable
from .refusals import Refusals

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from aiohttp.abc import AbstractResolver
    from yarl import URL

    from .policy import AddressPolicy

__all__ = ["HttpClient", "Repeat", "Setback", "TextAnswer"]

T = TypeVar("T")

UNBOUND_TIMEOUT_SECONDS: Final = 15.0

_FORM_TYPE: Final = "application/x-www-form-urlencoded"


@attrs.frozen
class TextAnswer:
    """An answer read as text.

    status: 200 to 299; every other status raised.
    text: decoded with the charset that the answer states, else as UTF-8; bytes that do not fit became U+FFFD.
    """

    status: int
    text: str = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class Setback:
    """A request that gave nothing to use.

    status: of the answer; None where none began to arrive. seconds: how long it took.
    """

    error: SearchError
    status: int | None
    seconds: float


Repeat: TypeAlias = Callable[[Setback], Awaitable[bool]]
"""Asked after each setback; waits as long as the vendor must be given, and then tells whether to send the request again."""


async def _never(_: Setback) -> bool:
    return False


@attrs.frozen
class _Binding:
    """What one call adds to a client."""

    deadline: Deadline | None = None
    refusals: Refusals = attrs.field(factory=Refusals)
    origin: URL | None = None
    provider: str | None = None
    repeat: Repeat = _never


@attrs.define
class _Sending:
    """One sending of a request. status: of its answer; None until one begins to arrive."""

    status: int | None = None
    _started: float = attrs.field(factory=time.monotonic, init=False)

    def setback(self, error: SearchError) -> Setback:
        """Its end, where nothing came of it."""
        return Setback(error=error, status=self.status, seconds=time.monotonic() - self._started)


@attrs.frozen
class _Outgoing:
    method: str
    url: URL = attrs.field(repr=False)
    headers: dict[str, str] = attrs.field(repr=False)
    json: Mapping[str, object] | None = attrs.field(default=None, repr=False)
    data: bytes | None = attrs.field(default=None, repr=False)


class HttpClient:
    """HTTP for providers: JSON and text, under one address policy.

    The policy holds on a URL's text, on every resolved address and on the address of each connection. Redirects are not
    followed, no cookie is kept, no proxy or `.netrc` is taken from the environment, at most 4 MiB (unpacked) are
    read, every call ends by its deadline (15 s on a client that is not bound). Connections are reused and live until
    `close()`.

    Every method raises SearchError and nothing else; no error holds a URL, a header, a body or another exception.
    """

    def __init__(self, policy: AddressPolicy, resolver: AbstractResolver | None = None, *, _dial: Dial | None = None) -> None:
        self._connections = Connections(policy, resolver, _dial)
        self._binding = _Binding()
        self._requests_sent = 0
        self._is_bound = False

    @property
    def policy(self) -> AddressPolicy:
        """What this client may reach."""
        return self._connections.policy

    @property
    def requests_sent(self) -> int:
        """Requests that this client, or this bound view, sent; one that may have arrived counts, whatever came of it."""
        return self._requests_sent

    def bind(
        self,
        *,
        deadline: Deadline | None = None,
        refusals: Refusals | None = None,
        origin: str | None = None,
        provider: str | None = None,
        repeat: Repeat | None = None,
    ) -> HttpClient:
        """A view of this client for one call: the same connections, a count of its own. What is None stays as it was.

        deadline: when every call through the view ends.
        refusals: how the vendor says no.
        origin: `scheme://host[:port]` that replaces that of every URL, path and query staying; the policy must allow
            it. ValueError where it is more than an origin.
        provider: the id that errors name.
        repeat: decides after a failure whether the request is sent again; without one, nothing is.
        """
        held = self._binding
        view = copy.copy(self)
        view._binding = _Binding(
            deadline=deadline or held.deadline,
            refusals=refusals or held.refusals,
            origin=held.origin if origin is None else parse_origin(origin),
            provider=provider or held.provider,
            repeat=repeat or held.repeat,
        )
        view._requests_sent = 0
        view._is_bound = True
        return view

    async def get_json(self, url: str, *, params: Fields | None = None, headers: Mapping[str, str] | None = None) -> JsonBody:
        """The JSON that a GET is answered with; a body of null for a status without content (204, 205).

        params: appended to the URL's query, so that each value arrives exactly; None is left out, booleans are
            `true`, `false`.
        """
        return await self._exchange("GET", url, params, headers, read=self._read_json)

    async def post_json(
        self,
        url: str,
        *,
        body: Mapping[str, object],
        params: Fields | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> JsonBody:
        """The JSON that a POST of the object `body` is answered with; else as `get_json`.

        Members that are None are left out, at any depth, and so are objects that held nothing else.
        """
        return await self._exchange("POST", url, params, headers, json=build_body(body), read=self._read_json)

    async def get_text(self, url: str, *, params: Fields | None = None, headers: Mapping[str, str] | None = None) -> TextAnswer:
        """The text that a GET is answered with; parameters as in `get_json`."""
        return await self._exchange("GET", url, params, headers, read=self._read_text)

    async def post_form(self, url: str, *, form: Fields, headers: Mapping[str, str] | None = None) -> TextAnswer:
        """The text that a POST of a form is answered with; `form` is written as `params` are."""
        headers = {"Content-Type": _FORM_TYPE, **(headers or {})}
        return await self._exchange("POST", url, None, headers, data=build_form(form), read=self._read_text)

    async def post_form_json(self, url: str, *, form: Fields, headers: Mapping[str, str] | None = None) -> JsonBody:
        """The JSON that a POST of a form is answered with; else as `get_json`."""
        headers = {"Content-Type": _FORM_TYPE, **(headers or {})}
        return await self._exchange("POST", url, None, headers, data=build_form(form), read=self._read_json)

    async def close(self) -> None:
        """Closes the connections; on a bound view nothing happens, since they are not its own."""
        if not self._is_bound:
            await self._connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _exchange(
        self,
        method: str,
        url: str,
        params: Fields | None,
        headers: Mapping[str, str] | None,
        *,
        read: Callable[[Answer], T | SearchError],
        json: Mapping[str, object] | None = None,
        data: bytes | None = None,
    ) -> T:
        """What `read` makes of the answer to one request, which `repeat` may have sent again."""
        outgoing = self._prepare(method, url, params, headers, json, data)
        if isinstance(outgoing, SearchError):
            raise self._named(outgoing)
        while True:
            sending = _Sending()
            answer = await self._send(outgoing, sending)
            outcome = answer if isinstance(answer, SearchError) else read(answer)
            if not isinstance(outcome, SearchError):
                return outcome
            if not await self._binding.repeat(sending.setback(outcome)):
                raise self._named(outcome)

    def _prepare(
        self,
        method: str,
        url: str,
        params: Fields | None,
        headers: Mapping[str, str] | None,
        json: Mapping[str, object] | None,
        data: bytes | None,
    ) -> _Outgoing | SearchError:
        try:
            target = build_url(url, params, self._binding.origin, self.policy)
            return _Outgoing(method, target, build_headers(headers), json, data)
        except SearchError as refusal:
            return refusal

    async def _send(self, outgoing: _Outgoing, sending: _Sending) -> Answer | SearchError:
        """Errors are returned, so that the caller raises them outside of any handler: an exception that is being
        handled would be their context, and its text holds the URL.
        """
        if self._connections.is_closed:
            return SearchError(ErrorCode.INTERNAL_ERROR, reason="the HTTP client is closed")
        deadline = self._binding.deadline or Deadline.after(UNBOUND_TIMEOUT_SECONDS)
        if deadline.is_over:
            return SearchError(ErrorCode.UPSTREAM_TIMEOUT, reason="the deadline was over before it was asked")
        try:
            async with asyncio.timeout(deadline.remaining_seconds()):
                return await self._fetch(outgoing, sending)
        except UnicodeEncodeError:
            return unencodable()
        except SearchError as error:
            return error
        except Exception as error:  # noqa: BLE001 - the text of any other may hold the URL or a header
            return fault_of(error)

    async def _fetch(self, outgoing: _Outgoing, sending: _Sending) -> Answer:
        self._requests_sent += 1
        try:
            async with self._connections.session().request(
                outgoing.method,
                outgoing.url,
                headers=outgoing.headers,
                json=outgoing.json,
                data=outgoing.data,
                allow_redirects=False,
            ) as response:
                sending.status = response.status
                return await read_answer(response)
        except aiohttp.ClientConnectorError:
            self._requests_sent -= 1  # never connected, so never sent
            raise

    def _read_json(self, answer: Answer) -> JsonBody | SearchError:
        body, fault = read_json(answer)
        return self._refusal(answer, body) or fault or body or JsonBody(None)

    def _read_text(self, answer: Answer) -> TextAnswer | SearchError:
        body = None if answer.is_success else read_json(answer)[0]
        return self._refusal(answer, body) or TextAnswer(answer.status, read_text(answer))

    def _refusal(self, answer: Answer, body: JsonBody | None) -> SearchError | None:
        return refusal_of(answer.status, body, answer.headers, self._binding.refusals)

    def _named(self, error: SearchError) -> SearchError:
        return attrs.evolve(error, provider=error.provider or self._binding.provider)
