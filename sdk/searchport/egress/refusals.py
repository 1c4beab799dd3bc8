"""How one vendor says no: its statuses and its own codes, as a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

import attrs

from searchport.errors import ErrorCode, SearchError

from .json_body import JsonBody

__all__ = ["Refusal", "RefusalKey", "RefusalTable", "Refusals"]

RefusalKey: TypeAlias = int | str | tuple[int, str]
"""An HTTP status, a vendor's code, or a vendor's code at one status."""

Refusal: TypeAlias = ErrorCode | SearchError
"""What it means: our code, or an error whose `reason` says more, such as the setting to change."""

RefusalTable: TypeAlias = (
    Mapping[RefusalKey, Refusal] | Mapping[str, Refusal] | Mapping[int, Refusal] | Mapping[int | str, Refusal]
    | Mapping[tuple[int, str], Refusal] | Mapping[str, SearchError] | Mapping[int, SearchError]
    | Mapping[str, ErrorCode] | Mapping[int, ErrorCode] | Mapping[tuple[int, str], ErrorCode]
    | Mapping[int | str, ErrorCode] | Mapping[RefusalKey, ErrorCode]
)  # fmt: skip
"""A mapping's keys are invariant, so each kind of key that a table can have is named."""


@attrs.frozen
class Refusals:
    """A vendor's refusals where they differ from what the status alone says.

    table: status, vendor code or (status, vendor code) -> what it means. The most exact key wins: (status, code), code,
        status, then the default of the status. A vendor code that no key names is `provider_rejected` on a success
        status, and what the status says on an error status; the vendor's code is in the error either way.
    read: finds the vendor's code in an answer, or says what the answer means, None for no refusal. It is given every JSON
        answer, success statuses too, since some vendors refuse with status 200. On an error status whatever it raises is
        passed over; on a success status that is `provider_unavailable`.
    read_wait_seconds: finds the seconds to wait in the headers of an error, None for none, where the vendor sends no
        `Retry-After` but headers of its own; header names match in any case.
    nothing_found: vendor codes with which it says that nothing was found, and so refuses nothing, whatever the status.
    """

    table: Mapping[RefusalKey, Refusal] = attrs.field(factory=dict)
    read: Callable[[JsonBody], str | SearchError | None] | None = None
    read_wait_seconds: Callable[[Mapping[str, str]], float | None] | None = None
    nothing_found: Collection[str] = frozenset()

    def find(self, status: int, vendor_code: str | None) -> Refusal | None:
        """What an answer means, None where the table does not name it."""
        keys: list[RefusalKey] = [status] if vendor_code is None else [(status, vendor_code), vendor_code, status]
        return next((self.table[key] for key in keys if key in self.table), None)
