"""From whatever goes wrong outside to the catalogue of `searchport.errors`; nothing of an aiohttp exception passes.

| outside | code |
| --- | --- |
| no address, no connection, TLS, reset, a body cut short, a refused address | `upstream_unreachable` |
| a timeout | `upstream_timeout` |
| an answer that is not HTTP, or whose compression is broken | `provider_unavailable` |
| status 3xx | `provider_rejected` (never followed: the key's header would go to the new host) |
| status 401, 403 | `provider_unauthorized` |
| status 402, 429 | `provider_rate_limited` |
| status 408, 5xx | `provider_unavailable` |
| any other 4xx | `provider_rejected` |

A vendor's own table (`Refusals`) goes first. Statuses: RFC 9110, section 15. `Retry-After`: section 10.2.3 there.
"""

from __future__ import annotations

import math
import ssl
import time
from email.utils import mktime_tz, parsedate_tz
from typing import TYPE_CHECKING, Final

import aiohttp
import attrs
from aiohttp.http_exceptions import ContentEncodingError

from searchport.errors import ErrorCode, SearchError

from .connections import RefusedAddressError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .json_body import JsonBody
    from .refusals import Refusals

__all__ = ["fault_of", "refusal_of", "retry_after_seconds", "status_code_of"]

_LONGEST_WAIT_SECONDS: Final = 31 * 86_400.0  # quotas of a month begin anew within one
_MAX_SECONDS_DIGITS: Final = 10

_UNREACHABLE, _UNAVAILABLE = ErrorCode.UPSTREAM_UNREACHABLE, ErrorCode.PROVIDER_UNAVAILABLE

# The first class that fits counts: SSL errors are connector errors, those are connection errors, those OSErrors.
_BY_CLASS: Final[tuple[tuple[type[BaseException], ErrorCode, str], ...]] = (
    (RefusedAddressError, _UNREACHABLE, "the address policy refuses its address"),
    (aiohttp.ClientConnectorDNSError, _UNREACHABLE, "its host name did not resolve"),
    (aiohttp.ClientConnectorCertificateError, _UNREACHABLE, "its TLS certificate was not accepted"),
    (aiohttp.ServerFingerprintMismatch, _UNREACHABLE, "its TLS certificate was not accepted"),
    (aiohttp.ClientSSLError, _UNREACHABLE, "TLS could not be agreed"),
    (ssl.SSLError, _UNREACHABLE, "TLS could not be agreed"),
    (aiohttp.ServerTimeoutError, ErrorCode.UPSTREAM_TIMEOUT, "it took too long"),
    (aiohttp.ClientConnectorError, _UNREACHABLE, "no connection"),
    (aiohttp.ClientConnectionError, _UNREACHABLE, "the connection ended before an answer came"),
    (aiohttp.ClientPayloadError, _UNREACHABLE, "the answer was cut short"),
    (aiohttp.ContentTypeError, _UNAVAILABLE, "an answer of the wrong type"),
    (aiohttp.ClientHttpProxyError, _UNREACHABLE, "no connection"),
    (aiohttp.TooManyRedirects, ErrorCode.PROVIDER_REJECTED, "a redirect, which is never followed"),
    (aiohttp.RedirectClientError, ErrorCode.PROVIDER_REJECTED, "a redirect, which is never followed"),
    (aiohttp.ClientResponseError, _UNAVAILABLE, "an answer that is not HTTP"),
    (aiohttp.InvalidURL, _UNREACHABLE, "a URL that is not valid"),
    (aiohttp.NonHttpUrlClientError, _UNREACHABLE, "a URL that is not http or https"),
    (aiohttp.ClientError, _UNREACHABLE, "the connection ended before an answer came"),
    (TimeoutError, ErrorCode.UPSTREAM_TIMEOUT, "it took too long"),
    (OSError, _UNREACHABLE, "the connection failed"),
)

_BY_STATUS: Final = {
    401: ErrorCode.PROVIDER_UNAUTHORIZED,
    402: ErrorCode.PROVIDER_RATE_LIMITED,
    403: ErrorCode.PROVIDER_UNAUTHORIZED,
    408: ErrorCode.PROVIDER_UNAVAILABLE,
    429: ErrorCode.PROVIDER_RATE_LIMITED,
}
_SAYS_MORE: Final = {402: ": its credit or quota is spent"}
_MAY_WAIT: Final = frozenset({ErrorCode.PROVIDER_RATE_LIMITED, ErrorCode.PROVIDER_UNAVAILABLE})


def fault_of(error: BaseException) -> SearchError:
    """What an exception of aiohttp, asyncio, ssl or the socket layer means; `internal_error` naming the class for any other."""
    cause = getattr(error, "os_error", None)
    if isinstance(cause, RefusedAddressError):
        return SearchError(_UNREACHABLE, reason=cause.reason)
    if isinstance(error, aiohttp.ClientPayloadError) and isinstance(error.__cause__, ContentEncodingError):
        return SearchError(_UNAVAILABLE, reason="an answer whose compression cannot be read")
    for kind, code, reason in _BY_CLASS:
        if isinstance(error, kind):
            return SearchError(code, reason=reason)
    return SearchError(ErrorCode.INTERNAL_ERROR, reason=f"the HTTP client failed with {type(error).__name__}")


def status_code_of(status: int) -> ErrorCode:
    """What an HTTP status of 300 or more means where the vendor's table says nothing."""
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return ErrorCode.PROVIDER_REJECTED if 300 <= status < 500 else ErrorCode.PROVIDER_UNAVAILABLE


def refusal_of(status: int, body: JsonBody | None, headers: Mapping[str, str], refusals: Refusals) -> SearchError | None:
    """The error that an answer means; None where it is one to use.

    body: the answer's JSON; None where it has none.
    headers: as they came; names match in any case.
    """
    is_success = 200 <= status < 300
    found, is_readable = _read_refusal(body, refusals)
    if is_success and not is_readable:
        return SearchError(_UNAVAILABLE, reason="an answer of the wrong shape")
    vendor_code = found if isinstance(found, str) else None
    if vendor_code in refusals.nothing_found:
        return None
    meaning = found if isinstance(found, SearchError) else refusals.find(status, vendor_code)
    if meaning is None:
        if is_success and vendor_code is None:
            return None
        meaning = ErrorCode.PROVIDER_REJECTED if is_success else status_code_of(status)
    error = meaning if isinstance(meaning, SearchError) else SearchError(meaning)
    return attrs.evolve(
        error,
        reason=error.reason or _status_reason(status),
        retry_after=_wait_seconds(headers, refusals, error.retry_after) if error.code in _MAY_WAIT else None,
        vendor_code=error.vendor_code or vendor_code,
    )


def _status_reason(status: int) -> str:
    is_redirect = 300 <= status < 400
    words = ", a redirect, which is never followed" if is_redirect else _SAYS_MORE.get(status, "")
    return f"HTTP status {status}{words}"


def _read_refusal(body: JsonBody | None, refusals: Refusals) -> tuple[str | SearchError | None, bool]:
    """(the vendor's code, what the answer means, or None; False where `read` failed on the answer)."""
    if body is None or refusals.read is None:
        return None, True
    try:
        found: object = refusals.read(body)
    except Exception:  # noqa: BLE001 - a toolkit's function, on an answer of any shape
        return None, False
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found), True
    return (found or None, True) if isinstance(found, str | SearchError) else (None, found is None)


def _wait_seconds(headers: Mapping[str, str], refusals: Refusals, otherwise: float | None) -> float | None:
    """What the headers ask to wait; where they say nothing, what the table does."""
    stated = retry_after_seconds(headers.get("Retry-After"))
    if stated is not None or refusals.read_wait_seconds is None:
        return otherwise if stated is None else stated
    try:
        found = refusals.read_wait_seconds(headers)
        return otherwise if found is None else _bounded(float(found))
    except Exception:  # noqa: BLE001 - a toolkit's function, on headers of any shape
        return otherwise


def _bounded(seconds: float) -> float | None:
    return None if math.isnan(seconds) else min(max(seconds, 0.0), _LONGEST_WAIT_SECONDS)


def retry_after_seconds(text: str | None) -> float | None:
    """Seconds that a `Retry-After` header asks to wait: at least 0, at most 31 days; None where it says nothing
    readable.

    Source: RFC 9110, section 10.2.3: digits, or an HTTP-date in any of the three forms of section 5.6.7.
    """
    text = (text or "").strip()
    if text.isascii() and text.isdigit():
        return _bounded(float(text) if len(text) <= _MAX_SECONDS_DIGITS else _LONGEST_WAIT_SECONDS)
    moment = _http_date(text)
    return None if moment is None else _bounded(moment - time.time())


def _http_date(text: str) -> float | None:
    if ":" not in text:
        return None
    try:
        parsed = parsedate_tz(text)
        return None if parsed is None else float(mktime_tz(parsed))
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
