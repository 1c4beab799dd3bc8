"""How a vendor says no that puts its failure into a member `error` or `detail`, as most JSON APIs do."""

from __future__ import annotations

from .json_body import JsonBody

__all__ = ["read_error"]


def read_error(answer: JsonBody) -> str | None:
    """The vendor's code in an answer that holds `error` or `detail`; None in one that holds neither. A `read_refusal`.

    The code is the text `error.code`, else the text `error`, else the word `error`. A sentence in its place is no code: it
    names nothing in `refusals`, and `SearchError.vendor_code` leaves it out.
    """
    if not (answer.has("error") or answer.has("detail")):
        return None
    return answer.text("error", "code") or answer.text("error") or "error"
