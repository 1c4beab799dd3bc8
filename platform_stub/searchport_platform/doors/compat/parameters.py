"""What becomes of each parameter of a vendor's wire: it is honoured, it is ignored because it cannot change which results come
back, or it is refused by name. Nothing that would change the results is ever dropped silently.

The three classes are data: the door reads requests by them, and the documentation prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

import attrs

from searchport.errors import ErrorCode, Fault, SearchError, shorten
from searchport.request import Recency, SearchRequest
from searchport.wire import OPTION, Option, camel_case, same_name, structure
from searchport_platform.doors.options import contract_option

__all__ = ["Ignored", "Parameters", "Row", "Treatment", "anything", "at_most_one", "choose", "only", "option"]

T = TypeVar("T", bound=attrs.AttrsInstance)
V = TypeVar("V")

_OPTIONS = "searchport.stands_for"
"""Key in a wire field's metadata, under which the names of the contract's options stand that it gives."""


class Treatment(StrEnum):
    """What becomes of a parameter."""

    HONOURED = "honoured"
    IGNORED = "ignored"
    REFUSED = "refused"


class Row(NamedTuple):
    """One line of a door's table: the parameters that are treated alike, for one reason."""

    names: tuple[str, ...]
    treatment: Treatment
    words: str


def option(
    *names: str, parse: Callable[..., object] | None = None, words: str | None = None, **schema: object
) -> dict[object, object]:
    """Metadata of a wire field that gives an option of the contract, whose parser and words hold unless others are given.

    names: more than one where the value's type tells which: a `Recency` is `recency`, anything else the last of them.
    """
    contract = contract_option(names[-1])
    own = Option(parse or contract.parse, words or contract.words, schema or contract.schema)
    return {OPTION: own, _OPTIONS: names}


def choose(table: Mapping[str, V]) -> Callable[[object], V]:
    """A parser of a closed list of words."""

    def parse(value: object) -> V:
        if isinstance(value, str) and value in table:
            return table[value]
        raise SearchError.invalid("$", f"{shorten(value)} is not one of: {', '.join(table)}")

    return parse


def at_most_one(parse: Callable[..., V], what: str) -> Callable[[object], V | None]:
    """A parser of a list of at most one of what no option of the contract takes several of."""

    def read(value: object) -> V | None:
        if not isinstance(value, list) or len(value) > 1:
            seen = f"{len(value):,}" if isinstance(value, list) else shorten(value)
            raise SearchError.invalid("$", f"expected a list of at most one {what}, got {seen}")
        return parse(value[0]) if value else None

    return read


def anything(_: object) -> bool:
    """Whatever the value is, it changes nothing."""
    return True


def only(*values: object) -> Callable[[object], bool]:
    """Some values change nothing; any other is refused. `false` is not 0."""
    return lambda value: any(type(value) is type(known) and value == known for known in values)


@attrs.frozen
class Ignored:
    """words: what may be given, or why it changes nothing. is_harmless: False for a value that would change the results."""

    words: str
    is_harmless: Callable[[object], bool] = anything


@attrs.frozen(kw_only=True)
class Parameters(Generic[T]):
    """The parameters of one wire.

    honoured: an attrs class with a field a parameter, its `Option` in the field's metadata. ignored, refused: wire name ->
    why. spell: a field's name -> its name on the wire.
    """

    honoured: type[T]
    ignored: Mapping[str, Ignored]
    refused: Mapping[str, str]
    spell: Callable[[str], str] = same_name

    def read(self, given: object) -> T:
        """The honoured parameters, parsed. Raises SearchError holding every fault, what is unknown or refused by name."""
        if not isinstance(given, Mapping):
            return structure(given, self.honoured)
        faults = list(self._find_refused(given))
        apart = {*self.ignored, *self.refused}
        try:
            asked = structure({name: given[name] for name in given if name not in apart}, self.honoured, spell=self.spell)
        except SearchError as error:
            faults += error.faults
        if faults:
            raise SearchError(ErrorCode.VALIDATION_ERROR, faults=faults)
        return asked

    def _find_refused(self, given: Mapping[object, object]) -> Iterator[Fault]:
        for key, value in given.items():
            name = str(key)
            if value is None:
                continue
            if name in self.refused:
                yield Fault(f"$.{name}", f"not served here: {self.refused[name]}")
            ignored = self.ignored.get(name)
            if ignored is not None and not ignored.is_harmless(value):
                yield Fault(f"$.{name}", f"{shorten(value)} is not served here; allowed: {ignored.words}")

    def to_contract(self, asked: T, *, max_results: int) -> SearchRequest:
        """The same search in the contract's words; of two parameters that give one option, the first field's."""
        options: dict[str, object] = {}
        for field in attrs.fields(self.honoured):
            names, value = field.metadata.get(_OPTIONS, ()), getattr(asked, field.name)
            if names and value is not None:
                options.setdefault("recency" if isinstance(value, Recency) else names[-1], value)
        return SearchRequest(**(options | {"max_results": max_results}))  # type: ignore[arg-type]  # the class checks each value

    def on_this_wire(self, error: SearchError) -> SearchError:
        """The same error, its faults at the places where this wire has the options."""
        return attrs.evolve(error, faults=[Fault(self._place(fault.path), fault.message) for fault in error.faults])

    def names_of(self, options: Iterable[str]) -> list[str]:
        """The contract's options, as the platform API spells them, by their names on this wire."""
        return [self._place(f"$.{name}").removeprefix("$.") for name in options]

    def _place(self, path: str) -> str:
        for field in attrs.fields(self.honoured):
            if path in [f"$.{camel_case(name)}" for name in field.metadata.get(_OPTIONS, ())]:
                return f"$.{self.spell(field.name)}"
        return path

    def rows(self) -> list[Row]:
        """The table of this wire, for its documentation."""
        told = [
            (self.spell(field.name), Treatment.HONOURED, field.metadata[OPTION].words) for field in attrs.fields(self.honoured)
        ]
        told += [(name, Treatment.IGNORED, given.words) for name, given in self.ignored.items()]
        told += [(name, Treatment.REFUSED, why) for name, why in self.refused.items()]
        alike: dict[tuple[Treatment, str], list[str]] = {}
        for name, treatment, words in told:
            alike.setdefault((treatment, words), []).append(name)
        return [Row(tuple(names), *key) for key, names in alike.items()]
