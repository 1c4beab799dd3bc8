"""Moments as metering counts them: one reading of the clock, its UTC day, its UTC month, and when each of them ends."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import attrs

__all__ = ["Moment"]


@attrs.frozen
class Moment:
    """An instant in UTC."""

    at: datetime

    @classmethod
    def now(cls) -> Moment:
        """The present instant."""
        return cls(datetime.now(UTC))

    @property
    def milliseconds(self) -> int:
        """Milliseconds since 1970-01-01T00:00Z."""
        return round(self.at.timestamp() * 1_000)

    @property
    def day(self) -> str:
        """The UTC day, `YYYY-MM-DD`."""
        return self.at.date().isoformat()

    @property
    def month(self) -> str:
        """The UTC month, `YYYY-MM`."""
        return self.day[:7]

    def seconds_to_next_day(self) -> float:
        """Seconds until the next UTC midnight; never 0."""
        return self._seconds_until(self.at + timedelta(days=1))

    def seconds_to_next_month(self) -> float:
        """Seconds until the first UTC midnight of the next month; never 0."""
        return self._seconds_until(self.at.replace(day=1) + timedelta(days=32), first=True)

    def _seconds_until(self, moment: datetime, *, first: bool = False) -> float:
        day = moment.date().replace(day=1) if first else moment.date()
        return (datetime.combine(day, time(), UTC) - self.at).total_seconds()
