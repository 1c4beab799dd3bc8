"""How one vendor says no: its statuses and its own codes, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from searchport.errors import ErrorCode

    from .json_body import JsonBody

__all__ = ["RefusalKey", "Refusals"]

RefusalKey = int | str | tuple[int, str]
"""An HTTP status, a vendor's code, or a vendor's code at one status."""


@attrs.frozen
class Refusals:
    """A vendor's refusals where they differ from what the status alone says.

    table: status, vendor code or (status, vendor code) -> our code. The most exact key wins: (status, code), code,
        status, then the default of the status. A vendor code that no key names is `provider_rejected` on a success
        status, and what the status says on an error status; the vendor's code is in the error either way.
    read: finds the vendor's code in an answer, None for none. It is given every JSON answer, success statuses too,
        since some vendors refuse with status 200. On an error status whatever it raises is passed over; on a success
        status that is `provider_unavailable`.
    reasons: the same keys -> a fixed clause for the error, such as the setting to change; no vendor's words.
    read_wait_seconds: finds the seconds to wait in the headers of an error, None for none, where the vendor sends no
        `Retry-After` but headers of its own; header names match in any case.
    """

    table: Mapping[RefusalKey, ErrorCode] = attrs.field(factory=dict)
    read: Callable[[JsonBody], str | None] | None = None
    reasons: Mapping[RefusalKey, str] = attrs.field(factory=dict)
    read_wait_seconds: Callable[[Mapping[str, str]], float | None] | None = None

    def code_of(self, status: int, vendor_code: str | None) -> ErrorCode | None:
        """Our code for an answer, None where the table does not name it."""
        return next((self.table[key] for key in _keys(status, vendor_code) if key in self.table), None)

    def reason_of(self, status: int, vendor_code: str | None) -> str | None:
        """The clause for an answer, None where there is none."""
        return next((self.reasons[key] for key in _keys(status, vendor_code) if key in self.reasons), None)


def _keys(status: int, vendor_code: str | None) -> list[RefusalKey]:
    """From the most exact to the least."""
    return [status] if vendor_code is None else [(status, vendor_code), vendor_code, status]
