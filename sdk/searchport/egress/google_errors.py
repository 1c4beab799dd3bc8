"""How Google's APIs say no: one error model for all of them.

Sources: https://google.aip.dev/193 (`status`, `details[].reason`); the older `errors[].reason` of
https://developers.google.com/custom-search/v1/reference/rest. A bad key is HTTP 400.
"""

from __future__ import annotations

from typing import Final

from searchport.errors import ErrorCode

from .json_body import JsonBody

__all__ = ["REFUSALS", "read_reason"]

_BAD_KEY: Final = ("API_KEY_INVALID", "keyInvalid", "keyExpired")
_QUOTA: Final = (
    "dailyLimitExceeded",
    "quotaExceeded",
    "rateLimitExceeded",
    "userRateLimitExceeded",
    "RATE_LIMIT_EXCEEDED",
    "RESOURCE_EXHAUSTED",
)
REFUSALS: Final = dict.fromkeys(_BAD_KEY, ErrorCode.PROVIDER_UNAUTHORIZED) | dict.fromkeys(
    _QUOTA, ErrorCode.PROVIDER_RATE_LIMITED
)
"""Reason or status -> what it means, where the HTTP status says something else."""


def read_reason(answer: JsonBody) -> str | None:
    """The most precise reason: of `details`, of `errors`, else `status`; None where the answer refuses nothing.

    Hosts that stream wrap the error in a list of one.
    """
    error = answer.at("error") if answer.has("error") else answer.at(0, "error")
    if error.raw is None:
        return None
    if "API key not valid" in (error.text("message") or ""):
        return "API_KEY_INVALID"
    reasons = [row.text("reason") for row in error.rows("details") + error.rows("errors")]
    return next((reason for reason in reasons if reason), error.text("status") or "error")
