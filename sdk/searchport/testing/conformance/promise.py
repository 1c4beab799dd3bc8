"""A promise of the contract that can be looked at, and what is said where it is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import attrs

if TYPE_CHECKING:
    from .bench import Bench

__all__ = ["Check", "Finding", "Look", "NotApplicable", "Unmet", "Violation", "check"]


@attrs.frozen
class Violation:
    """A broken promise, in three sentences: what was promised, what happened, what to change."""

    promised: str
    happened: str
    change: str

    def __str__(self) -> str:
        """The three sentences, a line each."""
        return f"promised: {self.promised}\nhappened: {self.happened}\nchange:   {self.change}"


@attrs.frozen
class Finding:
    """What a check saw, and what to change."""

    happened: str
    change: str


class NotApplicable(Exception):  # noqa: N818  # a check that does not concern this toolkit is no error
    """Raised by a check that does not concern a toolkit as it is declared; its text is the reason."""


class Unmet(Exception):  # noqa: N818  # the end of a check, not of a program
    """Raised where a check cannot go on, because what it builds on failed."""

    def __init__(self, happened: str, change: str) -> None:
        super().__init__(happened)
        self.finding = Finding(happened, change)


Look: TypeAlias = Callable[["Bench"], Iterator[Finding]]


@attrs.frozen
class Check:
    """name: short, kebab-case. promise: one sentence. look: asks the toolkit and yields what is wrong."""

    name: str
    promise: str
    look: Look = attrs.field(repr=False)

    def __str__(self) -> str:
        """The name."""
        return self.name


def check(name: str, promise: str) -> Callable[[Look], Check]:
    """Makes a check of a generator function of the bench."""

    def make(look: Look) -> Check:
        return Check(name, promise, look)

    return make
