"""Offsets: a later page is served by asking for everything up to its end, and handing out its part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

import attrs

from searchport.errors import SearchError
from searchport.request import MAX_RESULTS, SearchRequest
from searchport.result import Envelope, RankedResult
from searchport.site import Site
from searchport_platform.doors.compat.parameters import Parameters, T
from searchport_platform.tenancy.selections import Selection

__all__ = ["Sliced"]


@attrs.define(kw_only=True)
class Sliced(Generic[T]):
    """Reads the request of one page; `Platform.search` calls it with the organization's selection, which bounds the page.

    count: results a page; None: the organization's default. site: where no parameter of the wire gives it.
    find_offset: results a page -> results before this page. pages_by: the wire's name of what pages. adapt: what was asked ->
    what is passed on to this organization's provider.
    """

    parameters: Parameters[T]
    asked: T
    count: int | None
    site: Site | None = None
    find_offset: Callable[[int], int] = attrs.field(default=lambda _: 0)
    pages_by: str = ""
    adapt: Callable[[T, Selection], T] = attrs.field(default=lambda asked, _: asked)
    offset: int = attrs.field(default=0, init=False)
    size: int = attrs.field(default=0, init=False)
    limit: int = attrs.field(default=MAX_RESULTS, init=False)

    def __call__(self, selection: Selection) -> SearchRequest:
        """The request. Raises SearchError where the page ends beyond what the organization allows a search to return."""
        self.size = selection.default_results if self.count is None else self.count
        self.offset = self.find_offset(self.size)
        self.limit = min(MAX_RESULTS, selection.max_results)
        if self.offset and self.end > self.limit:
            message = f"this page ends at result {self.end:,}; a search of this organization gives at most {self.limit}"
            raise SearchError.invalid(f"$.{self.pages_by}", message)
        request = self.parameters.to_contract(self.adapt(self.asked, selection), max_results=self.end)
        return request if self.site is None else attrs.evolve(request, site=self.site)

    @property
    def end(self) -> int:
        """Results up to the end of this page."""
        return self.offset + self.size

    def take(self, envelope: Envelope) -> tuple[RankedResult, ...]:
        """The results of this page."""
        return envelope.results[self.offset : self.end]

    def has_next(self, envelope: Envelope) -> bool:
        """True where this page is full and the next one would be served."""
        return len(envelope.results) == self.end and self.end + self.size <= self.limit
