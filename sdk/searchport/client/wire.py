"""The platform's JSON, read into attrs classes. Fields that are not known are passed over: the platform may be newer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

import attrs
from cattrs import BaseValidationError, Converter
from cattrs.gen import make_dict_structure_fn, override

from searchport.errors import ErrorCode, shorten
from searchport.wire import camel_case

from .failures import PlatformError

__all__ = ["read"]

T = TypeVar("T")


def read(payload: object, cls: type[T]) -> T:
    """An instance of the attrs class from the platform's JSON object. Raises PlatformError where it is none of that shape."""
    try:
        if isinstance(payload, Mapping):
            return _converter().structure(payload, cls)
    except BaseValidationError:
        pass  # its text holds the whole answer
    raise PlatformError(
        ErrorCode.UPSTREAM_UNREACHABLE,
        reason="what answered is no Searchport platform, or another version of it: an answer of the wrong shape",
        next_step="check the client's `url`, and that both sides have compatible versions",
        may_have_counted=True,
    )


@cache
def _converter() -> Converter:
    converter = Converter()
    for scalar in (str, bool, int, float):
        converter.register_structure_hook(scalar, _read_scalar)
    converter.register_structure_hook(ErrorCode, lambda value, kind: kind(value))
    converter.register_structure_hook_func(lambda kind: kind is object, lambda value, _: value)  # JSON that stays as it is
    converter.register_structure_hook_func(_is_list, lambda value, kind: _read_list(value, kind, converter))
    converter.register_structure_hook_factory(attrs.has, lambda kind: _build_reader(kind, converter))
    return converter


def _build_reader(cls: type, converter: Converter) -> Callable[..., object]:
    names: dict[str, Any] = {
        field.name: override(rename=camel_case(field.name)) for field in attrs.fields(attrs.resolve_types(cls))
    }
    read_fields: Callable[..., object] = make_dict_structure_fn(cls, converter, **names)

    def read_object(value: object, kind: Any) -> object:
        if not isinstance(value, Mapping):
            raise ValueError(f"expected an object, got {shorten(value)}")  # noqa: TRY004 - cattrs gathers it as a fault of the value
        return read_fields(value, kind)

    return read_object


def _read_scalar(value: object, cls: type[T]) -> T:
    if type(value) is cls or (cls is float and type(value) is int):
        return value  # type: ignore[return-value]  # the line above is the proof, which mypy cannot follow for `type is`
    raise ValueError(f"expected {cls.__name__}, got {shorten(value)}")


def _is_list(kind: object) -> bool:
    return getattr(kind, "__origin__", None) is tuple


def _read_list(value: object, kind: type, converter: Converter) -> tuple[object, ...]:
    """`tuple[X, ...]`: a text is no list, though it can be walked through."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"expected a list, got {shorten(value)}")  # noqa: TRY004 - cattrs gathers it as a fault of the value
    (item, _) = kind.__args__  # type: ignore[attr-defined]  # of a generic alias
    return tuple(converter.structure(member, item) for member in value)
