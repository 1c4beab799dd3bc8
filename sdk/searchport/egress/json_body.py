"""A vendor's decoded JSON, read without surprises."""

from __future__ import annotations

import math
from typing import Final

import attrs

from searchport.errors import ErrorCode, SearchError

__all__ = ["JsonBody"]

_MISSING: Final = object()
_MOST_ROWS: Final = 1_000


@attrs.frozen
class JsonBody:
    """A read-only view of a decoded JSON value; `raw` is the value itself.

    Every reader takes a path: keys of objects (str) and indexes of lists (int, from 0). Nothing is converted. A step
    that leads nowhere gives None, False or an empty list; only `rows` tells a missing list from something else in its
    place.
    """

    raw: object = attrs.field(repr=False)

    def at(self, *path: str | int) -> JsonBody:
        """The value at a path; a body of null where there is none. Never raises."""
        found = self._find(path)
        return JsonBody(None if found is _MISSING else found)

    def has(self, *path: str | int) -> bool:
        """True where the path leads to something other than null."""
        found = self._find(path)
        return found is not _MISSING and found is not None

    def text(self, *path: str | int) -> str | None:
        """The text at a path, None for anything else."""
        found = self._find(path)
        return found if isinstance(found, str) else None

    def number(self, *path: str | int) -> int | float | None:
        """The finite number at a path, None for anything else, `true` and `"10"` included."""
        found = self._find(path)
        if isinstance(found, bool) or not isinstance(found, int | float):
            return None
        return None if isinstance(found, float) and not math.isfinite(found) else found

    def flag(self, *path: str | int) -> bool | None:
        """True or False at a path, None for anything else."""
        found = self._find(path)
        return found if isinstance(found, bool) else None

    def keys(self, *path: str | int) -> list[str]:
        """The keys of the object at a path, in the vendor's order; an empty list for anything else."""
        found = self._find(path)
        return list(found) if isinstance(found, dict) else []

    def texts(self, *path: str | int) -> list[str]:
        """The texts in the list at a path, whatever else it holds left out; an empty list for anything else."""
        found = self._find(path)
        return [item for item in found[:_MOST_ROWS] if isinstance(item, str)] if isinstance(found, list) else []

    def rows(self, *path: str | int, required: bool = False) -> list[JsonBody]:
        """The items of the list at a path, at most the first 1,000, each a JsonBody whatever it is.

        A key that is missing or null, anywhere on the path, is an empty list; where it is `required`, as with a vendor that
        writes an empty list for "nothing found", the wrong shape. A body of null, or anything else that is not an object (or
        a list, for an index) on the way, or a list at the end, raises SearchError (`provider_unavailable`).
        """
        here = self.raw
        if here is None:
            raise _wrong_shape()
        for step in path:
            if here is None:
                break
            if not isinstance(here, dict if isinstance(step, str) else list):
                raise _wrong_shape()
            found = _step(here, step)
            here = None if found is _MISSING else found
        if here is None and not required:
            return []
        if not isinstance(here, list):
            raise _wrong_shape()
        return [JsonBody(item) for item in here[:_MOST_ROWS]]

    def _find(self, path: tuple[str | int, ...]) -> object:
        here = self.raw
        for step in path:
            here = _step(here, step)
            if here is _MISSING:
                return _MISSING
        return here


def _step(here: object, step: str | int) -> object:
    if isinstance(here, dict) and isinstance(step, str):
        return here.get(step, _MISSING)
    if isinstance(here, list) and isinstance(step, int) and 0 <= step < len(here):
        return here[step]
    return _MISSING


def _wrong_shape() -> SearchError:
    return SearchError(ErrorCode.PROVIDER_UNAVAILABLE, reason="an answer of the wrong shape")
