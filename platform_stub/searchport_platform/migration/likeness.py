"""How alike two pages of results are: whether two addresses lead to the same page, and how many of ten do."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from yarl import URL

__all__ = ["TOP", "find_overlap", "find_percentile", "normalize_url"]

TOP = 10
"""Results that are compared, from the first."""

_TRACKING = frozenset({"gclid", "fbclid", "msclkid", "srsltid", "igshid", "mc_cid", "mc_eid"})


def normalize_url(url: str) -> str | None:
    """What two addresses of one page have in common; None where the text is no http(s) URL.

    Left out: the scheme, `www.`, a port that is the scheme's own, the fragment, a slash at the end, parameters that only track
    who came whence. The order of the other parameters and the spelling of percent-encoding count for nothing.
    """
    try:
        parts = URL(url)
        host, port = parts.host, "" if parts.is_default_port() else f":{parts.port}"
        kept = sorted((name, value) for name, value in parts.query.items() if not _is_tracking(name))
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    path = parts.path.rstrip("/") or "/"
    return str(URL.build(path=f"/{host.lower().removeprefix('www.').removesuffix('.')}{port}{path}", query=kept))


def _is_tracking(name: str) -> bool:
    return name in _TRACKING or name.startswith("utm_")


def find_overlap(before: Sequence[str], after: Collection[str]) -> float | None:
    """The share of the first ten addresses that the other page has among its first ten; None where there are none."""
    old = {normalize_url(url) or url for url in before[:TOP]}
    new = {normalize_url(url) or url for url in list(after)[:TOP]}
    return len(old & new) / len(old) if old else None


def find_percentile(values: Collection[float], share: float) -> float | None:
    """The smallest value that so large a share of them does not exceed (nearest rank); None where there are none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None
