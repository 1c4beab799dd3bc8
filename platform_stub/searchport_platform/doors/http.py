"""What every HTTP door shares: reading a body, headers of an answer, the access log."""

from __future__ import annotations

import asyncio
import functools
import math
import time
import traceback
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import structlog
from aiohttp import web

from searchport.egress.json_text import MalformedJsonError, loads
from searchport.errors import ErrorCode, SearchError

__all__ = [
    "BODY_LIMIT",
    "NO_STORE",
    "RECORD",
    "TARGET_LIMIT",
    "Handler",
    "answer_errors",
    "log_access",
    "read_body",
    "read_json",
    "render_error_headers",
    "tell_defect",
]

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]

BODY_LIMIT = 64 * 1024
"""Bytes of a request's body: the longest query takes 8,000, the rest is room for provider options."""

TARGET_LIMIT = 32 * 1024
"""Bytes of a request's target: on drop-in doors the longest query takes 24,000 of them, percent-encoded."""

NO_STORE = {"Cache-Control": "no-store"}
"""Headers of an answer that is for its caller alone."""

_CLIENT_LEFT = 499
"""In the access log: nobody was there to be answered. No status of HTTP's; nginx made it usual."""

RECORD = web.RequestKey("record", str)
"""Id of the search's record, set by a door that made one: it links the access log to the usage."""

_log = structlog.get_logger("searchport.access")


async def read_body(request: web.Request) -> bytes:
    """The body, its content encoding undone. Raises SearchError (`validation_error`)."""
    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise SearchError.invalid("$", f"the body is larger than {BODY_LIMIT:,} bytes") from None
    except web.RequestPayloadError:
        raise SearchError.invalid("$", "the body is not encoded as its headers say") from None


async def read_json(request: web.Request) -> object:
    """The decoded JSON body. Raises SearchError (`validation_error`), also on a repeated key, which hides one of two values."""
    try:
        return loads(await read_body(request), refuse_duplicate_keys=True)
    except MalformedJsonError as error:
        raise SearchError.invalid("$", f"expected a JSON object: {error}") from None


def render_error_headers(error: SearchError) -> dict[str, str]:
    """`Retry-After` in whole seconds where the error says when to try again, and how to authenticate where that is missing.

    Source: RFC 9110, sections 10.2.3 and 11.6.1.
    """
    headers = {} if error.retry_after is None else {"Retry-After": str(max(1, math.ceil(error.retry_after)))}
    return headers | ({"WWW-Authenticate": 'Bearer realm="searchport"'} if error.code is ErrorCode.UNAUTHORIZED else {})


def answer_errors(handler: Handler, render: Callable[[SearchError], web.Response]) -> Handler:
    """The handler, with every failure in its door's own shape; of a defect only the class is told, and logged with its place."""

    @functools.wraps(handler)
    async def answer(request: web.Request) -> web.StreamResponse:
        try:
            return await handler(request)
        except SearchError as error:
            return render(error)
        except web.HTTPException:
            raise
        except Exception as defect:  # noqa: BLE001  # the door's last line: its text may hold the query
            return render(tell_defect(defect))

    return answer


def tell_defect(defect: Exception) -> SearchError:
    """What a caller is told of a defect, after its class and its place were logged, and nothing of its text."""
    place = traceback.extract_tb(defect.__traceback__)[-1]
    _log.error("defect", exception=type(defect).__name__, file=place.filename, line=place.lineno)
    return SearchError(ErrorCode.INTERNAL_ERROR)


@web.middleware
async def log_access(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Logs method, route, status and duration. The target is left out: on drop-in doors it holds the query."""
    started = time.monotonic()
    status = 500
    try:
        response = await handler(request)
        status = response.status
    except web.HTTPException as refused:
        status = refused.status
        raise
    except asyncio.CancelledError:
        status = _CLIENT_LEFT
        raise
    finally:
        resource = request.match_info.route.resource
        route = resource.canonical if resource is not None else "unknown"
        duration_ms = round((time.monotonic() - started) * 1_000)
        record = {"record": request[RECORD]} if RECORD in request else {}
        _log.info("request", method=request.method, route=route, status=status, duration_ms=duration_ms, **record)
    return response
