"""Strict reading of JSON payloads into attrs classes: what every door uses to parse its wire.

cattrs' default converter turns `"5"` into 5 and `True` into 1 and drops unknown keys. This one refuses all three, and reports
every fault of a payload together, each with its path, as one `validation_error`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, TypeVar

import attrs
import cattrs
from cattrs.errors import AttributeValidationNote, BaseValidationError, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, override

from searchport.errors import ErrorCode, Fault, SearchError, shorten

__all__ = ["OPTION", "Option", "camel_case", "nearest", "same_name", "structure"]

T = TypeVar("T")

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_MOST_UNKNOWN = 20
"""Unknown fields told one by one: a body can hold thousands."""

OPTION = "searchport.option"
"""Key in an attrs field's metadata, under which its `Option` stands."""


@attrs.frozen
class Option:
    """How one field is read from any wire, and its words in every door's documentation.

    parse: the raw JSON value -> the field's value; raises SearchError with what is allowed.
    words: one sentence for `--help`, the documentation and tool schemas.
    schema: what JSON Schema (2020-12) can say of the raw value; `parse` may refuse more, never less.
    """

    parse: Callable[..., object]
    words: str
    schema: Mapping[str, object] = attrs.field(factory=dict)


def camel_case(name: str) -> str:
    """`max_results` -> `maxResults`: the platform API's spelling."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def same_name(name: str) -> str:
    """A wire that spells its fields as the class does."""
    return name


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the closest known name, else an empty text."""
    import difflib

    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def structure(payload: object, cls: type[T], *, spell: Callable[[str], str] = same_name, root: str = "$") -> T:
    """An instance of the attrs class `cls` from a decoded JSON object.

    spell: a field's name -> its name on this wire. root: the JSONPath of the payload, for the faults' paths.
    `null` means not given. Raises SearchError (`validation_error`) holding every fault.
    """
    if not isinstance(payload, Mapping):  # its value is not shown: instead of the object it may well be the query, or a key
        raise SearchError.invalid(root, f"expected a JSON object, got {'null' if payload is None else type(payload).__name__}")
    given = {key: value for key, value in payload.items() if value is not None}
    try:
        return _converter(cls, spell).structure(given, cls)
    except BaseValidationError as group:
        faults = tuple(_read_faults(group, root, cls, spell))
    raise SearchError(ErrorCode.VALIDATION_ERROR, faults=faults)


_converters: dict[tuple[type, Callable[[str], str]], cattrs.Converter] = {}


def _converter(cls: type, spell: Callable[[str], str]) -> cattrs.Converter:
    converter = _converters.get((cls, spell))
    if converter is None:
        converter = _converters[cls, spell] = _build_converter(cls, spell)
    return converter


def _build_converter(cls: type, spell: Callable[[str], str]) -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)
    for scalar in (str, bool, int, float):
        converter.register_structure_hook(scalar, _read_scalar)
    converter.register_structure_hook_func(_is_enum, _read_enum)
    overrides: dict[str, Any] = {
        field.name: override(rename=spell(field.name), struct_hook=_option_hook(field))
        for field in attrs.fields(attrs.resolve_types(cls))
    }
    converter.register_structure_hook(cls, make_dict_structure_fn(cls, converter, **overrides))
    return converter


def _is_enum(cls: object) -> bool:
    return isinstance(cls, type) and issubclass(cls, Enum)


def _option_hook(field: attrs.Attribute[object]) -> Callable[[object, object], object] | None:
    option = field.metadata.get(OPTION)
    if not isinstance(option, Option):
        return None
    parse = option.parse
    return lambda value, _type: parse(value)


def _read_scalar(value: object, cls: type[T]) -> T:
    if type(value) is cls or (cls is float and type(value) is int):
        return value  # type: ignore[return-value]  # the line above is the proof, which mypy cannot follow for `type is`
    names = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}
    raise ValueError(f"expected {names.get(cls, cls.__name__)}, got {shorten(value)}")


def _read_enum(value: object, cls: type[Enum]) -> Enum:
    allowed = {member.value: member for member in cls}
    if isinstance(value, str) and value in allowed:
        return allowed[value]
    raise ValueError(f"{shorten(value)} is not one of: {', '.join(map(str, allowed))}")


def _read_unknown(names: list[str], path: str, known: list[str]) -> Iterator[Fault]:
    for name in names[:_MOST_UNKNOWN]:
        place = f"{path}.{name}" if _PLAIN_NAME.fullmatch(name) else f"{path}[{shorten(name)}]"
        yield Fault(place, f"unknown field{nearest(name, known)} (known: {', '.join(known)})")
    if len(names) > _MOST_UNKNOWN:
        yield Fault(path, f"{len(names) - _MOST_UNKNOWN:,} more unknown fields")


def _read_faults(group: BaseValidationError, path: str, cls: type, spell: Callable[[str], str]) -> Iterator[Fault]:
    """Walks cattrs' exception groups; a note on each member names the attribute it belongs to."""
    known = [spell(field.name) for field in attrs.fields(cls)] if attrs.has(cls) else []
    for error in group.exceptions:
        if isinstance(error, ForbiddenExtraKeysError):
            yield from _read_unknown(sorted(map(str, error.extra_fields)), path, known)
            continue
        note = next((n for n in getattr(error, "__notes__", ()) if isinstance(n, AttributeValidationNote)), None)
        place = f"{path}.{spell(note.name)}" if note is not None else path
        if isinstance(error, BaseValidationError):
            yield from _read_faults(error, place, error.cl, spell)
        elif isinstance(error, SearchError):
            yield from (Fault(place, fault.message) for fault in error.faults)
        elif isinstance(error, KeyError):
            yield Fault(f"{path}.{spell(str(error.args[0]))}", "required, but not given")
        else:
            yield Fault(place, str(error))
