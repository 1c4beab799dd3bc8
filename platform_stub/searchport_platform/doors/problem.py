"""Failures of the platform API: `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import json

from aiohttp import web

from searchport.errors import SearchError
from searchport_platform.doors.http import render_error_headers

__all__ = ["not_found", "render_problem"]

_HEADERS = {"Cache-Control": "no-store"}


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
    return _problem(body, error.code.status, _HEADERS | render_error_headers(error))


def not_found(what: str) -> web.Response:
    """404 for a thing of the caller's own organization that is not there."""
    body: dict[str, object] = {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": f"there is no such {what}",
        "faults": [],
    }
    return _problem(body, 404, _HEADERS)


def _problem(body: dict[str, object], status: int, headers: dict[str, str]) -> web.Response:
    return web.Response(text=json.dumps(body), status=status, headers=headers, content_type="application/problem+json")
