"""When a spent rate limit begins anew, by the headers of vendors that send several windows at once."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["seconds_until_reset"]


def seconds_until_reset(headers: Mapping[str, str]) -> float | None:
    """Seconds until every spent window has begun anew; None where the headers name none.

    Reads `X-RateLimit-Limit`, `-Remaining` and `-Reset`: one whole number a window, in the same order, by comma; a reset counts
    seconds from now. A window whose limit is 0 is unlimited, and says nothing. Not for vendors whose reset is an instant.
    Source: https://api.search.brave.com/app/documentation/web-search/response-headers (read 2026-09).
    """
    limits, remaining, resets = (
        _read_numbers(headers.get(f"X-RateLimit-{name}", "")) for name in ("Limit", "Remaining", "Reset")
    )
    windows = zip(limits, remaining, resets, strict=False)
    return max((float(reset) for limit, left, reset in windows if limit > 0 and left == 0), default=None)


def _read_numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    return [int(part) for part in parts] if all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts) else []
