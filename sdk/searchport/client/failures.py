"""Failures of a call: the platform's own, read back from its answer, and those of reaching it.

| what came back | code |
| --- | --- |
| `application/problem+json` with a code of the catalogue | that code, with all its fields |
| no connection, no name, no TLS, an answer cut short, anything that is not Searchport's | `upstream_unreachable` |
| nothing within the client's `timeout_seconds`; 408 or 504 of a proxy | `upstream_timeout` |
| 401, 403, 429 of a proxy | `unauthorized`, `forbidden`, `rate_limited` |
| a redirect, any other 4xx that is not Searchport's | `validation_error`: `url` leads elsewhere |

All rows but the first are a `PlatformError`, which says that no vendor is to blame. Source of the first row: RFC 9457.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs

from searchport.egress.json_body import JsonBody
from searchport.errors import ErrorCode, Fault, SearchError

__all__ = ["PlatformError", "read_failure", "read_problem"]


@attrs.frozen(eq=False, kw_only=True)
class PlatformError(SearchError):
    """The platform itself gave no answer, or something else answered in its place; no vendor is to blame.

    next_step: what the caller can do; "" for the code's own.
    may_have_counted: True where the request may have reached the platform: the search may have been counted and paid for.
    """

    next_step: str = ""
    may_have_counted: bool = False

    def __reduce__(self) -> tuple[Callable[[dict[str, object]], SearchError], tuple[dict[str, object]]]:
        return _rebuild, ({field.name: getattr(self, field.name) for field in attrs.fields(PlatformError)},)

    def _what(self) -> str:
        return self.reason or super()._what()

    def _next(self) -> str:
        steps = super()._next() if not self.next_step or self.retry_after is not None else self.next_step
        return f"the search may have been counted; {steps}" if self.may_have_counted else steps


def _rebuild(fields: dict[str, object]) -> PlatformError:
    return PlatformError(**fields)  # type: ignore[arg-type]  # the fields of one, as `__reduce__` gave them


def read_problem(body: JsonBody) -> SearchError | None:
    """The error that a problem document tells; None where it is not one of the catalogue's."""
    code = body.text("code")
    if code is None or code not in set(ErrorCode):
        return None
    faults = body.at("faults").raw
    wait = body.number("retryAfter")
    return SearchError(
        ErrorCode(code),
        reason=body.text("reason"),
        faults=[_read_fault(JsonBody(fault)) for fault in (faults if isinstance(faults, list) else [])],
        retry_after=None if wait is None else float(wait),
        provider=body.text("provider"),
        gate=body.text("gate"),
        alternatives=body.texts("alternatives"),
        vendor_code=body.text("vendorCode"),
    )


def _read_fault(fault: JsonBody) -> Fault:
    return Fault(fault.text("path") or "$", fault.text("message") or "")


_ANOTHER_SERVER: Final = "check the client's `url`"
_BY_STATUS: Final = {
    401: (ErrorCode.UNAUTHORIZED, "check the credentials that it asks for, and the client's `url`"),
    403: (ErrorCode.FORBIDDEN, "ask who runs it to let this client through, and check the client's `url`"),
    408: (ErrorCode.UPSTREAM_TIMEOUT, ""),
    429: (ErrorCode.RATE_LIMITED, ""),
    504: (ErrorCode.UPSTREAM_TIMEOUT, ""),
}


def read_failure(error: SearchError, *, status: int | None, body: JsonBody | None, was_sent: bool, origin: str) -> SearchError:
    """What a failed call means.

    error: the HTTP client's. status: of the answer, None where none began to arrive. body: the answer's JSON, None where it
    has none. origin: of the platform, for the text.
    """
    problem = None if body is None or status is None or status < 400 else read_problem(body)
    if problem is not None:
        return problem
    if status is not None and status >= 300:
        return _of_another_server(error, status, origin)
    if error.code in (ErrorCode.INTERNAL_ERROR, ErrorCode.VALIDATION_ERROR):
        return error
    is_late = error.code is ErrorCode.UPSTREAM_TIMEOUT
    return PlatformError(
        ErrorCode.UPSTREAM_TIMEOUT if is_late else ErrorCode.UPSTREAM_UNREACHABLE,
        reason=f"no answer came from the platform at {origin}: {error.reason}",
        next_step="try again later" if was_sent else "check that it is running and that the client's `url` is right",
        may_have_counted=was_sent,
    )


def _of_another_server(error: SearchError, status: int, origin: str) -> PlatformError:
    """Of a proxy, or of whatever else stands at the client's `url`."""
    code, next_step = _BY_STATUS.get(status, (ErrorCode.UPSTREAM_UNREACHABLE, ""))
    if status not in _BY_STATUS and status < 500:
        code, next_step = ErrorCode.VALIDATION_ERROR, _ANOTHER_SERVER
    what = "a redirect, which is never followed" if status < 400 else "not in Searchport's words"
    return PlatformError(
        code,
        reason=f"a server at {origin} answered HTTP status {status}, {what}",
        next_step=next_step,
        retry_after=error.retry_after,
        may_have_counted=status >= 500 or status == 408,
    )
