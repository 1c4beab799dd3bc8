"""A Custom Search call in the contract's words, by the one table that the drop-in door has too, and what is lost on the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

import attrs

from searchport.errors import ErrorCode, SearchError
from searchport.request import SearchRequest
from searchport_platform.doors.compat.google_cse import LARGEST_PAGE, PARAMETERS, GoogleRequest, read_page
from searchport_platform.doors.compat.parameters import Treatment
from searchport_platform.doors.compat.slices import Sliced
from searchport_platform.migration.calls import GoogleCall
from searchport_platform.tenancy.selections import Choice, Selection

__all__ = ["Becomes", "Change", "Translation", "name_refused", "translate"]

UNKNOWN = "(unknown)"
"""Stands for every parameter that Google does not know: its name may be a piece of a query that was not encoded."""

_AS_GOOGLE = Selection(choice=Choice(provider=""), default_results=LARGEST_PAGE)
"""Google's own number of results where a call names none."""

# support.google.com/websearch/answer/2466433, and the operators that Google has documented elsewhere
_OPERATORS = re.compile(
    r'"[^"]+"|(?:^|\s)-\w|(?:^|\s)OR\s|\||'
    r"\b(?:site|filetype|ext|intitle|allintitle|inurl|allinurl|intext|allintext|link|related|cache|before|after|define):\S"
)


class Becomes(StrEnum):
    """What becomes of a parameter. differs: it is honoured, and means something else."""

    REFUSED = "refused"
    IGNORED = "ignored"
    DIFFERS = "differs"


class Change(NamedTuple):
    """One thing that would change for a call. parameter: in Google's spelling. why: nothing of the call's values."""

    parameter: str
    becomes: Becomes
    why: str


@attrs.frozen(kw_only=True)
class Translation:
    """A call, and the request that it becomes; None where it would be refused, and then `changes` holds why."""

    call: GoogleCall
    page: Sliced[GoogleRequest] | None = attrs.field(default=None, repr=False)
    request: SearchRequest | None = attrs.field(default=None, repr=False)
    changes: tuple[Change, ...] = ()


def translate(call: GoogleCall) -> Translation:
    """The call in the contract's words. Never raises: what cannot be said in them is among the changes."""
    try:
        page = read_page(PARAMETERS.read(call.given))
        request = page(_AS_GOOGLE)
    except SearchError as error:
        return Translation(call=call, changes=tuple(dict.fromkeys(_explain_faults(error))))
    return Translation(call=call, page=page, request=request, changes=tuple(_find_differences(request)))


def _find_differences(request: SearchRequest) -> Iterator[Change]:
    if _OPERATORS.search(request.query):
        yield Change("q", Becomes.DIFFERS, "Google obeys the operators in it; the contract takes a query as literal text")
    if request.freshness is not None:
        why = "it becomes `freshness`, which drops results that nothing proves to be so new"
        yield Change("dateRestrict", Becomes.DIFFERS, why)


def _explain_faults(error: SearchError) -> Iterator[Change]:
    words = {name: (row.treatment, row.words) for row in PARAMETERS.rows() for name in row.names}
    for fault in error.faults:
        name = fault.path.removeprefix("$.")
        if name not in words:
            yield Change(UNKNOWN, Becomes.REFUSED, "Google has no such parameter")
            continue
        treatment, told = words[name]
        why = told if treatment is Treatment.REFUSED else f"a value that is not served; allowed: {told.rstrip('.')}"
        yield Change(name, Becomes.REFUSED, why)


def name_refused(error: SearchError, translation: Translation) -> tuple[Change, ...]:
    """What a provider or a platform refuses of a call, by the names that the call gives."""
    paths = [fault.path.removeprefix("$.") for fault in PARAMETERS.on_this_wire(error).faults]
    why = _REFUSALS.get(error.code, error.code.meaning)
    return tuple(Change(name, Becomes.REFUSED, _LIMITS.get(name, why)) for name in name_as_given(paths, translation))


_REFUSALS = {ErrorCode.UNSUPPORTED_OPTION: "the provider cannot honour it"}
_LIMITS = {
    "q": "it is longer than the provider takes",
    "num": "more results than the organization allows",
    "start": "it ends beyond what the organization allows a search to return",
}


def name_as_given(names: Iterable[str], translation: Translation) -> tuple[str, ...]:
    """Names in Google's spelling, of several that give one option the one that counts in this call."""
    given = translation.call.given
    swaps = {"lr": "hl"} if "lr" not in given else {}
    swaps |= {"num": "start"} if translation.page is not None and translation.page.offset else {}
    return tuple(dict.fromkeys(swaps.get(name, name) for name in names))
