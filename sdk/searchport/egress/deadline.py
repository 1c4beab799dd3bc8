"""The instant by which a call must have ended."""

from __future__ import annotations

import time

import attrs

__all__ = ["Deadline"]


@attrs.frozen
class Deadline:
    """An instant on this process's monotonic clock; it means nothing in another process.

    ends_at: seconds, as `time.monotonic` counts them.
    """

    ends_at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """The deadline that lies `seconds` from now."""
        return cls(time.monotonic() + seconds)

    def remaining_seconds(self) -> float:
        """Seconds left; 0.0 once it is over, never negative."""
        return max(0.0, self.ends_at - time.monotonic())

    @property
    def is_over(self) -> bool:
        """True from the instant itself on."""
        return time.monotonic() >= self.ends_at
