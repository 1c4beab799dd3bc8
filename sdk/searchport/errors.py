"""The typed catalogue of everything that can go wrong with a search.

| code | status | who must act | worth a retry |
| --- | --- | --- | --- |
| `validation_error` | 400 | caller | no |
| `unsupported_option` | 400 | caller | no |
| `unauthorized` | 401 | caller | no |
| `forbidden` | 403 | admin | no |
| `provider_not_configured` | 409 | admin | no |
| `daily_cap_reached` | 429 | admin | no |
| `budget_exceeded` | 429 | admin | no |
| `rate_limited` | 429 | caller | yes |
| `provider_unauthorized` | 502 | admin | no |
| `provider_rejected` | 502 | admin | no |
| `provider_rate_limited` | 503 | vendor | yes |
| `provider_unavailable` | 503 | vendor | yes |
| `upstream_unreachable` | 502 | vendor | yes |
| `upstream_timeout` | 504 | vendor | yes |
| `storage_unavailable` | 503 | operator | yes |
| `internal_error` | 500 | operator | no |

An error is an object with fields; its text is made once, by `str(error)`, from those fields alone. No field may hold a key, a
query, a full vendor URL or a vendor's own words. Status numbers: RFC 9110, section 15, and RFC 6585, section 4.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any

import attrs

__all__ = ["Actor", "ErrorCode", "Fault", "SearchError", "name_tuple", "shorten"]

_SEEN_LIMIT = 80
_VENDOR_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,63}")


class Actor(StrEnum):
    """Who can make the error go away."""

    CALLER = "caller"
    ADMIN = "admin"
    OPERATOR = "operator"
    VENDOR = "vendor"


class ErrorCode(StrEnum):
    """One code of the catalogue; `status`, `actor` and `is_retryable` are the rows of the table above."""

    VALIDATION_ERROR = "validation_error"
    UNSUPPORTED_OPTION = "unsupported_option"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    PROVIDER_NOT_CONFIGURED = "provider_not_configured"
    DAILY_CAP_REACHED = "daily_cap_reached"
    BUDGET_EXCEEDED = "budget_exceeded"
    RATE_LIMITED = "rate_limited"
    PROVIDER_UNAUTHORIZED = "provider_unauthorized"
    PROVIDER_REJECTED = "provider_rejected"
    PROVIDER_RATE_LIMITED = "provider_rate_limited"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    UPSTREAM_UNREACHABLE = "upstream_unreachable"
    UPSTREAM_TIMEOUT = "upstream_timeout"
    STORAGE_UNAVAILABLE = "storage_unavailable"
    INTERNAL_ERROR = "internal_error"

    @property
    def status(self) -> int:
        """The HTTP status of this code on every door that has no shape of its own."""
        return _CATALOGUE[self].status

    @property
    def actor(self) -> Actor:
        """Who can make it go away."""
        return _CATALOGUE[self].actor

    @property
    def is_retryable(self) -> bool:
        """True where the same call may succeed later with nothing changed."""
        return _CATALOGUE[self].is_retryable

    @property
    def meaning(self) -> str:
        """What happened, one clause with no full stop."""
        return _CATALOGUE[self].meaning

    @property
    def next_step(self) -> str:
        """What the reader can do, one clause with no full stop."""
        return _CATALOGUE[self].next_step


@attrs.frozen
class _Entry:
    status: int
    actor: Actor
    is_retryable: bool
    meaning: str
    next_step: str


_CATALOGUE: dict[ErrorCode, _Entry] = {
    ErrorCode.VALIDATION_ERROR: _Entry(
        400,
        Actor.CALLER,
        False,
        "the request was refused and nothing was spent",
        "correct what is named and send it again",
    ),
    ErrorCode.UNSUPPORTED_OPTION: _Entry(
        400, Actor.CALLER, False, "the provider cannot honour an option, so nothing was sent", "remove the option"
    ),
    ErrorCode.UNAUTHORIZED: _Entry(
        401, Actor.CALLER, False, "no valid token came with the request", "send `Authorization: Bearer TOKEN`"
    ),
    ErrorCode.FORBIDDEN: _Entry(403, Actor.ADMIN, False, "the call is not allowed", "ask an admin to allow it"),
    ErrorCode.PROVIDER_NOT_CONFIGURED: _Entry(
        409,
        Actor.ADMIN,
        False,
        "the provider cannot be used as it is set up",
        "ask an admin to finish its configuration",
    ),
    ErrorCode.DAILY_CAP_REACHED: _Entry(
        429,
        Actor.ADMIN,
        False,
        "the agent's searches of this UTC day are used up",
        "wait for the next UTC day, or raise the cap",
    ),
    ErrorCode.BUDGET_EXCEEDED: _Entry(
        429, Actor.ADMIN, False, "the organization's budget of this month is used up", "raise the budget"
    ),
    ErrorCode.RATE_LIMITED: _Entry(429, Actor.CALLER, True, "too many searches at once", "try again later"),
    ErrorCode.PROVIDER_UNAUTHORIZED: _Entry(
        502,
        Actor.ADMIN,
        False,
        "the vendor refused the key",
        "check that the key is valid, active and allowed to use this API",
    ),
    ErrorCode.PROVIDER_REJECTED: _Entry(
        502,
        Actor.ADMIN,
        False,
        "the vendor refused the request",
        "check the provider's settings and the vendor's account",
    ),
    ErrorCode.PROVIDER_RATE_LIMITED: _Entry(
        503,
        Actor.VENDOR,
        True,
        "the vendor's rate limit or quota is used up",
        "try again later, or raise the vendor's plan",
    ),
    ErrorCode.PROVIDER_UNAVAILABLE: _Entry(
        503, Actor.VENDOR, True, "the vendor answered, but with no usable answer", "try again later"
    ),
    ErrorCode.UPSTREAM_UNREACHABLE: _Entry(502, Actor.VENDOR, True, "no answer came from the vendor", "try again later"),
    ErrorCode.UPSTREAM_TIMEOUT: _Entry(
        504, Actor.VENDOR, True, "the vendor did not answer before the deadline", "try again later"
    ),
    ErrorCode.STORAGE_UNAVAILABLE: _Entry(503, Actor.OPERATOR, True, "the database did not answer", "try again later"),
    ErrorCode.INTERNAL_ERROR: _Entry(
        500, Actor.OPERATOR, False, "a defect in Searchport or in a toolkit", "report it with the request id"
    ),
}


@attrs.frozen
class Fault:
    """One thing wrong with a request.

    path: where, as a JSONPath from the request's root (RFC 9535): `$.freshness`.
    message: what was refused, the value seen (through `shorten`), what is allowed; never the query itself.
    """

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def shorten(value: object) -> str:
    """`repr(value)`, cut to 80 characters: how a refused value is shown to the caller who sent it."""
    if isinstance(value, str) and len(value) > _SEEN_LIMIT:
        value = value[:_SEEN_LIMIT]
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    seen = repr(value) if isinstance(value, str | int | float) else type(value).__name__
    return seen if len(seen) <= _SEEN_LIMIT else f"{seen[:_SEEN_LIMIT]}…"


def _safe_vendor_code(code: str | int | None) -> str | None:
    text = None if code is None else str(code)
    return text if text is not None and _VENDOR_CODE.fullmatch(text) else None


def _fault_tuple(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    return tuple(faults)


def name_tuple(names: Iterable[str]) -> tuple[str, ...]:
    """Names as a tuple. Raises TypeError for a text, whose letters are no names."""
    if isinstance(names, str):
        raise TypeError(f"expected several names, got the one text {names[:40]!r}")
    return tuple(names)


@attrs.frozen(eq=False, kw_only=True)
class SearchError(Exception):
    """A search, or a part of it, that did not happen.

    code: the catalogue's code, which decides status and retrying.
    reason: a fixed clause that narrows the code ("the answer is not JSON"); no vendor's words, no user's.
    faults: what is wrong with the request, all of it, each with its path.
    retry_after: seconds until a retry can succeed, as the vendor or our own limit says; None: not said.
    provider: id of the provider concerned.
    gate: the scope, tool or credential that stopped the call.
    alternatives: ids of providers that could take the call instead.
    vendor_code: the vendor's own code, where it looks like a code: at most 64 letters, digits and `_.:/-`; else None.
    """

    code: ErrorCode = attrs.field(kw_only=False)
    reason: str | None = None
    faults: tuple[Fault, ...] = attrs.field(default=(), converter=_fault_tuple)
    retry_after: float | None = None
    provider: str | None = None
    gate: str | None = None
    alternatives: tuple[str, ...] = attrs.field(default=(), converter=name_tuple)
    vendor_code: str | None = attrs.field(default=None, converter=_safe_vendor_code)

    def __reduce__(self) -> tuple[Callable[[dict[str, object]], SearchError], tuple[dict[str, object]]]:
        """An exception is copied from its arguments in order; this one's have names."""
        return _rebuild, ({field.name: getattr(self, field.name) for field in attrs.fields(SearchError)},)

    @property
    def is_retryable(self) -> bool:
        """True where the same call may succeed later with nothing changed."""
        return self.code.is_retryable

    def __str__(self) -> str:
        """What happened, where, what to do next: one line, the same on every door."""
        return f"{self._what()}{self._where()}; {self._next()}"

    def _what(self) -> str:
        if self.faults:
            return "; ".join(str(fault) for fault in self.faults)
        return f"{self.code.meaning}: {self.reason}" if self.reason else self.code.meaning

    def _where(self) -> str:
        parts = [f"provider {self.provider!r}"] if self.provider else []
        parts += [f"vendor code {self.vendor_code!r}"] if self.vendor_code else []
        parts += [f"gate {self.gate!r}"] if self.gate else []
        return f" ({', '.join(parts)})" if parts else ""

    def _next(self) -> str:
        steps = [self.code.next_step]
        if self.retry_after is not None:
            steps = [f"try again in {max(1, math.ceil(self.retry_after))} s"]
        if self.alternatives:
            steps.append(f"choose one of: {', '.join(self.alternatives)}")
        return ", or ".join(steps)

    @classmethod
    def invalid(cls, path: str, message: str) -> SearchError:
        """A `validation_error` with a single fault."""
        return cls(ErrorCode.VALIDATION_ERROR, faults=(Fault(path, message),))


def _rebuild(fields: dict[str, Any]) -> SearchError:
    return SearchError(**fields)
