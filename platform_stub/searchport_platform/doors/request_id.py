"""Which request a log line is about: `X-Request-Id` and W3C Trace Context.

Every answer of the server bears `X-Request-Id`: the caller's own where it is well formed, else a new one. It names the HTTP
request. A search's record has an id of its own, the envelope's `requestId`: a request that is refused makes no record, and a
record may come from no request (a notebook). Every line logged meanwhile holds the request's id and the trace id of
`traceparent`; the access log's holds the record's too. Nothing of this is sent to a vendor.
"""

from __future__ import annotations

import re
import uuid

import structlog
from aiohttp import web

from searchport_platform.doors.http import Handler

__all__ = ["HEADER", "identify", "parse_traceparent", "read_request_id", "sign"]

HEADER = "X-Request-Id"
_OWN = re.compile(r"[A-Za-z0-9._-]{1,64}")
_REQUEST_ID = web.RequestKey("request_id", str)

_TRACE = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")
_LONGEST_TRACE = 512


def parse_traceparent(text: str) -> str:
    """The trace id of a `traceparent`, 32 hexadecimal digits. Raises ValueError.

    A later version than 00 may hold more, behind another hyphen. Source: W3C Trace Context (2021-11-23), sections 3.2.2 and 4.3.
    """
    told = _TRACE.fullmatch(text) if len(text) <= _LONGEST_TRACE else None
    if told is None or told[1] == "ff" or (told[1] == "00" and told[4]) or not int(told[2], 16) or not int(told[3], 16):
        raise ValueError("it is no traceparent of W3C Trace Context")
    return told[2]


def read_request_id(request: web.Request) -> str:
    """The id of a request: the same for the whole of it."""
    if _REQUEST_ID not in request:
        request[_REQUEST_ID] = _choose_id(request)
    return request[_REQUEST_ID]


def _choose_id(request: web.Request) -> str:
    given = request.headers.getall(HEADER, [])
    return given[0] if len(given) == 1 and _OWN.fullmatch(given[0]) else uuid.uuid4().hex


def _find_trace(request: web.Request) -> dict[str, str]:
    given = request.headers.getall("traceparent", [])
    try:
        return {"trace_id": parse_traceparent(given[0])} if len(given) == 1 else {}
    except ValueError:
        return {}


@web.middleware
async def identify(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Names the request, for its answer and for every line that is logged while it is handled; the outermost middleware."""
    with structlog.contextvars.bound_contextvars(request_id=read_request_id(request), **_find_trace(request)):
        return await handler(request)


async def sign(request: web.Request, response: web.StreamResponse) -> None:
    """Puts the id on an answer before it is sent, whoever made it; for the application's `on_response_prepare`."""
    response.headers[HEADER] = read_request_id(request)
