"""Failures of the platform API: `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import json

from aiohttp import web

from searchport.errors import ErrorCode, Fault, SearchError
from searchport.json_schema import answer_schema
from searchport_platform.doors.http import NO_STORE, Handler, render_error_headers
from searchport_platform.doors.operations import Failures, Shape

__all__ = ["PROBLEMS", "answer_unknown_routes", "not_found", "render_problem", "render_should_retry"]

_LONGEST_HEEDED_SECONDS = 60.0
"""Client libraries of the OpenAI kind heed no longer `Retry-After`, and come back within seconds instead."""


def problem_schema() -> dict[str, object]:
    """The JSON Schema of every failure of the platform API; where there is no such route or thing, it has no `code`."""
    text = {"type": "string"}
    properties: dict[str, object] = {
        "type": {"type": "string", "format": "uri-reference"},
        "title": text,
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "description": "What happened, where, what to do next; never the query."},
        "code": {"type": "string", "enum": [*map(str, ErrorCode)]},
        "retryable": {"type": "boolean", "description": "True where the same call may succeed later with nothing changed."},
        "faults": {"type": "array", "description": "All that is wrong with the request.", "items": answer_schema(Fault)},
        "reason": {"type": "string", "description": "A fixed clause that narrows the code."},
        "provider": text,
        "gate": {"type": "string", "description": "The scope, tool or credential that stopped the call."},
        "vendorCode": text,
        "alternatives": {"type": "array", "description": "Providers that could take the call.", "items": text},
        "retryAfter": {"type": "number", "description": "Seconds."},
    }
    return {"type": "object", "properties": properties, "required": ["type", "title", "status", "detail", "faults"]}


def _render_body(error: SearchError) -> dict[str, object]:
    """The error with its `code`, its `faults` and whether the same call is worth a retry; what is not known is left out."""
    extra = {
        "reason": error.reason,
        "provider": error.provider,
        "gate": error.gate,
        "vendorCode": error.vendor_code,
        "alternatives": list(error.alternatives),
        "retryAfter": error.retry_after,
    }
    return {
        "type": f"/docs/reference/errors#{error.code}",
        "title": error.code.meaning,
        "status": error.code.status,
        "detail": str(error),
        "code": str(error.code),
        "retryable": error.is_retryable,
        "faults": [{"path": fault.path, "message": fault.message} for fault in error.faults],
        **{name: value for name, value in extra.items() if value},
    }


def render_problem(error: SearchError) -> web.Response:
    """The error as the platform API tells it."""
    headers = NO_STORE | render_error_headers(error) | render_should_retry(error)
    return _problem(_render_body(error), error.code.status, headers)


def _example() -> object:
    return _render_body(SearchError.invalid("$.freshness", "'P1M' has no fixed length; write 'P30D'"))


PROBLEMS = Failures(Shape("Problem", problem_schema, example=_example))


def render_should_retry(error: SearchError) -> dict[str, str]:
    """`x-should-retry: false` where a client library, which tries 409, 429 and 5xx again by itself, would spend for nothing."""
    waits_long = error.retry_after is not None and error.retry_after > _LONGEST_HEEDED_SECONDS
    return {} if error.is_retryable and not waits_long else {"x-should-retry": "false"}


def not_found(what: str) -> web.Response:
    """404 for a thing of the caller's own organization that is not there."""
    return _render_status(404, "Not Found", f"there is no such {what}", {})


@web.middleware
async def answer_unknown_routes(request: web.Request, handler: Handler) -> web.StreamResponse:
    """404 and 405 of the server itself, for the platform API in its own shape."""
    try:
        return await handler(request)
    except web.HTTPException as refused:
        if not request.path.startswith("/api/") or refused.status < 400:
            raise
        allow = {"Allow": refused.headers["Allow"]} if "Allow" in refused.headers else {}
        return _render_status(
            refused.status, refused.reason, "the platform API has no such route, or not with this method", allow
        )


def _render_status(status: int, title: str, detail: str, headers: dict[str, str]) -> web.Response:
    body: dict[str, object] = {"type": "about:blank", "title": title, "status": status, "detail": detail, "faults": []}
    return _problem(body, status, NO_STORE | headers)


def _problem(body: dict[str, object], status: int, headers: dict[str, str]) -> web.Response:
    return web.Response(text=json.dumps(body), status=status, headers=headers, content_type="application/problem+json")
