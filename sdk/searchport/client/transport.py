"""The ways to a platform: over HTTP, or in this process, where the platform supplies its own."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

import attrs

from searchport.egress import AddressPolicy, Deadline, HttpClient, JsonBody, Refusals
from searchport.errors import ErrorCode, Fault, SearchError, shorten

from .failures import read_failure

if TYPE_CHECKING:
    from yarl import URL

    from searchport.egress.client import Setback

__all__ = ["DEFAULT_TIMEOUT_SECONDS", "HttpTransport", "ToolTransport", "Transport"]

DEFAULT_TIMEOUT_SECONDS: Final = 30.0
"""Longer than any organization's deadline, so that it is the platform that says what went wrong."""
_LONGEST_TIMEOUT_SECONDS: Final = 3_600

_API: Final = "api/platform/v1"
_TOOL: Final = "tools/web_search"
_AGENT_HEADER: Final = "X-Searchport-Agent"
_HEADER_VALUE = re.compile(r"[!-~]{1,4096}")
_ANY_ADDRESS = AddressPolicy(allow_private_addresses=True)


class Transport(Protocol):
    """A way to a platform."""

    async def call(self, action: str, payload: Mapping[str, object]) -> Mapping[str, object]:
        """The platform API's JSON in, its JSON out; `dryRun` asks for a plan. Raises SearchError and nothing else."""


@runtime_checkable
class ToolTransport(Transport, Protocol):
    """A way to a platform that leads to its agent tool too."""

    async def describe_tool(self, style: str, *, strict: bool) -> Mapping[str, object]:
        """The tool's declaration. Raises SearchError and nothing else."""

    async def call_tool(self, arguments: Mapping[str, object]) -> Mapping[str, object]:
        """What the tool answers a model, as the platform API's JSON; a failed search too. Raises SearchError and nothing else."""


class HttpTransport:
    """A platform behind HTTP. Nothing is ever sent twice: a search costs money, and one that failed may have been counted.

    The client's address policy allows exactly the platform's own host and port, which may be private ones; redirects, which could
    lead the token elsewhere, are not followed, and no proxy is taken from the environment.
    """

    def __init__(self, url: str, token: str, *, agent: str | None, timeout_seconds: float) -> None:
        faults = [*_find_token_fault(token), *_find_agent_fault(agent), *_find_timeout_fault(timeout_seconds)]
        base = _read_base(url)
        if isinstance(base, Fault) or faults:
            raise SearchError(ErrorCode.VALIDATION_ERROR, faults=[*([base] if isinstance(base, Fault) else []), *faults])
        self._base = base
        self._headers = {"Authorization": f"Bearer {token}"} | ({} if agent is None else {_AGENT_HEADER: agent})
        self._timeout_seconds = timeout_seconds
        self._http = HttpClient(AddressPolicy(allowed_hosts=[f"{base.host_subcomponent}:{base.port}"]))

    def __repr__(self) -> str:
        return f"HttpTransport({str(self._base.origin())!r})"

    async def call(self, action: str, payload: Mapping[str, object]) -> Mapping[str, object]:
        """One request. Raises SearchError: the platform's own, or PlatformError where the platform gave no answer."""
        return await self._send(action.replace(".", "/"), body=payload)

    async def describe_tool(self, style: str, *, strict: bool) -> Mapping[str, object]:
        """One request. Raises SearchError, as `call`."""
        return await self._send(_TOOL, params={"format": style, "strict": strict})

    async def call_tool(self, arguments: Mapping[str, object]) -> Mapping[str, object]:
        """One request. Raises SearchError, as `call`."""
        return await self._send(f"{_TOOL}/call", body=arguments)

    async def _send(
        self, path: str, *, body: Mapping[str, object] | None = None, params: Mapping[str, str | bool] | None = None
    ) -> Mapping[str, object]:
        """A POST where there is a body, else a GET."""
        exchange = _Exchange()
        view = self._http.bind(
            deadline=Deadline.after(self._timeout_seconds), refusals=Refusals(read=exchange.read), repeat=exchange.note
        )
        url = str(self._base / f"{_API}/{path}")
        try:
            if body is None:
                return _object(await view.get_json(url, params=params, headers=self._headers))
            return _object(await view.post_json(url, body=body, headers=self._headers))
        except SearchError as error:
            raise read_failure(
                error,
                status=exchange.status,
                body=exchange.body,
                was_sent=view.requests_sent > 0,
                origin=str(self._base.origin()),
            ) from None

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.close()


@attrs.define
class _Exchange:
    """What one answer was, beside the error that the HTTP client makes of it for vendors."""

    status: int | None = None
    body: JsonBody | None = None

    def read(self, body: JsonBody) -> None:
        """Keeps the answer's JSON; the client asks it for a vendor's code."""
        self.body = body

    async def note(self, setback: Setback) -> bool:
        """Keeps the answer's status; the client asks it whether to send the request again."""
        self.status = setback.status
        return False


def _object(body: JsonBody) -> Mapping[str, object]:
    if not isinstance(body.raw, Mapping):
        raise SearchError(ErrorCode.UPSTREAM_UNREACHABLE, reason="an answer that is not Searchport's")
    return body.raw


def _read_base(url: object) -> URL | Fault:
    """The platform's base URL; a path is a prefix, for a platform behind a proxy."""
    from yarl import URL

    what = f"{shorten(url)} is" if isinstance(url, str) and "@" not in url else "it is"
    fault = _ANY_ADDRESS.url_fault(url, any_port=True)
    if fault is not None or not isinstance(url, str):
        rule = "a URL that is not text" if fault is None else fault.rule
        return Fault("url", f"{what} {rule}; write the platform's address, such as 'https://search.example.com'")
    base = URL(url)
    if "?" in url or "#" in url:
        return Fault("url", "it has a query or a fragment; write scheme, host, port and, behind a proxy, the path before `/api`")
    return base


def _find_token_fault(token: object) -> list[Fault]:
    if isinstance(token, str) and _HEADER_VALUE.fullmatch(token):
        return []
    return [Fault("token", "it is no token: expected a text of visible ASCII characters without spaces")]


def _find_agent_fault(agent: object) -> list[Fault]:
    if agent is None or (isinstance(agent, str) and _HEADER_VALUE.fullmatch(agent)):
        return []
    return [Fault("agent", f"{shorten(agent)} is no agent's id; leave it out for the token's own")]


def _find_timeout_fault(seconds: object) -> list[Fault]:
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if is_number and math.isfinite(seconds) and 0 < seconds <= _LONGEST_TIMEOUT_SECONDS:  # type: ignore[arg-type,operator]  # a number
        return []
    return [Fault("timeout_seconds", f"{shorten(seconds)} is no number above 0 and up to {_LONGEST_TIMEOUT_SECONDS:,}")]
