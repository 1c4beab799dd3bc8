"""Instants as the database keeps them: ISO 8601 in UTC, whole seconds, so that their order is their text's."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["Instant", "now", "write_instant"]

Instant = str


def now() -> Instant:
    """The present instant."""
    return write_instant(datetime.now(UTC))


def write_instant(moment: datetime) -> Instant:
    """An aware instant as text."""
    utc = moment.astimezone(UTC).replace(microsecond=0, tzinfo=None)
    return f"{utc.isoformat()}Z"  # strftime's %Y has fewer than four digits before the year 1000
