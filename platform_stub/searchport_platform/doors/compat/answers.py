"""How a drop-in door asks the platform, and the headers of its answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aiohttp import web

from searchport.errors import SearchError
from searchport.result import Envelope
from searchport_platform.doors.compat.parameters import Parameters, T
from searchport_platform.doors.compat.slices import Sliced
from searchport_platform.doors.http import NO_STORE, RECORD, render_error_headers
from searchport_platform.doors.problem import render_should_retry
from searchport_platform.platform import Caller, Platform

__all__ = ["LONGEST_SECONDS", "find", "render_answer", "render_failure", "score"]

LONGEST_SECONDS = 9.0
"""Less than the ten seconds after which the least patient of these clients gives up."""


async def find(platform: Platform, request: web.Request, caller: Caller, page: Sliced[T]) -> Envelope:
    """One search, its faults named as the wire names its parameters. Raises SearchError."""
    try:
        envelope = await platform.search(caller, page, longest_seconds=LONGEST_SECONDS)
    except SearchError as error:
        raise page.parameters.on_this_wire(error) from None
    request[RECORD] = envelope.request_id
    return envelope


def render_answer(body: object, envelope: Envelope, parameters: Parameters[T], *, ignored: Iterable[str] = ()) -> web.Response:
    """An answer in the vendor's shape; what a provider did not honour is told in `X-Ignored-Parameters`.

    ignored: the wire's own names of what was not passed on.
    """
    names = dict.fromkeys([*parameters.names_of(envelope.ignored), *ignored])
    headers = NO_STORE | {"X-Provider": envelope.provider}
    return web.json_response(body, headers=headers | ({"X-Ignored-Parameters": ", ".join(names)} if names else {}))


def render_failure(
    error: SearchError, body: object, *, status: int | None = None, headers: Mapping[str, str] | None = None
) -> web.Response:
    """A failure in the vendor's shape, with our code in `X-Error-Code`. status: None for the catalogue's own."""
    status = error.code.status if status is None else status
    own = render_error_headers(error) | render_should_retry(error)
    if status != web.HTTPUnauthorized.status_code:
        own.pop("WWW-Authenticate", None)
    return web.json_response(
        body, status=status, headers=NO_STORE | own | {"X-Error-Code": str(error.code)} | dict(headers or {})
    )


def score(rank: int) -> float:
    """Strictly falling with the rank, so that clients that sort by it keep our order; it means nothing else."""
    return round(1 / rank, 4)
