"""Failures of the platform API: `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import json

from aiohttp import web

from searchport.errors import SearchError
from searchport_platform.doors.http import Handler, render_error_headers

__all__ = ["answer_unknown_routes", "not_found", "render_problem"]

_HEADERS = {"Cache-Control": "no-store"}
_LONGEST_HEEDED_SECONDS = 60.0
"""Client libraries of the OpenAI kind heed no longer `Retry-After`, and come back within seconds instead."""


def render_problem(error: SearchError) -> web.Response:
    """The error with its `code`, its `faults` and whether the same call is worth a retry; what is not known is left out."""
    extra = {
        "provider": error.provider,
        "gate": error.gate,
        "vendorCode": error.vendor_code,
        "alternatives": list(error.alternatives),
        "retryAfter": error.retry_after,
    }
    body: dict[str, object] = {
        "type": f"/docs/reference/errors#{error.code}",
        "title": error.code.meaning,
        "status": error.code.status,
        "detail": str(error),
        "code": str(error.code),
        "retryable": error.is_retryable,
        "faults": [{"path": fault.path, "message": fault.message} for fault in error.faults],
        **{name: value for name, value in extra.items() if value},
    }
    return _problem(body, error.code.status, _HEADERS | render_error_headers(error) | _render_should_retry(error))


def _render_should_retry(error: SearchError) -> dict[str, str]:
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
    return _problem(body, status, _HEADERS | headers)


def _problem(body: dict[str, object], status: int, headers: dict[str, str]) -> web.Response:
    return web.Response(text=json.dumps(body), status=status, headers=headers, content_type="application/problem+json")
