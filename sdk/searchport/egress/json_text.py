"""Strict, bounded JSON decoding (RFC 8259): for what vendors answer and for what callers send."""

from __future__ import annotations

import json
import re
from typing import Final

__all__ = ["MAX_DEPTH", "MalformedJsonError", "loads"]

MAX_DEPTH: Final = 64
_MAX_INTEGER_DIGITS: Final = 1_000
_MOST_PARTS: Final = 200_000
"""Commas and colons: 4 MiB of small numbers would hold the event loop for seconds, here and in whoever reads them."""

# A string that the text ends within runs to the end, so that no quote is ever scanned twice.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NOT_BRACKET = re.compile(r"[^][{}]+")
_ROUND_UP = str.maketrans("{}", "[]")


class MalformedJsonError(ValueError):
    """Text that is not the JSON we take; `reason` is a fixed clause that holds nothing of the text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def loads(data: bytes | str, *, refuse_duplicate_keys: bool = False) -> object:
    """The value that JSON text stands for; MalformedJsonError where it stands for none.

    data: bytes are UTF-8, nothing else; a byte order mark is passed over (RFC 8259, section 8.1).
    refuse_duplicate_keys: else the last of equal keys counts.
    Refused: more than 64 levels or 200,000 commas and colons, integers of more than 1,000 digits, numbers outside of
    binary64, NaN and Infinity.
    """
    value, reason = _decode(data, refuse_duplicate_keys)
    if reason is not None:  # raised here, outside of every handler: the decoder's exceptions hold the whole text
        raise MalformedJsonError(reason)
    return value


def _decode(data: bytes | str, refuse_duplicate_keys: bool) -> tuple[object, str | None]:
    """(value, None) or (None, reason)."""
    try:
        text = (data.decode("utf-8") if isinstance(data, bytes) else data).removeprefix("\ufeff")
        if not text.strip(" \t\r\n"):
            return None, "it is empty"
        if text.count(",") + text.count(":") > _MOST_PARTS:
            return None, f"it has more than {_MOST_PARTS:,} parts"
        if _is_too_deep(text):
            return None, f"it is nested more than {MAX_DEPTH} levels deep"
        return _loads(text, refuse_duplicate_keys), None
    except UnicodeDecodeError:
        return None, "it is not UTF-8"
    except MalformedJsonError as error:
        return None, error.reason
    except ValueError:
        return None, "it is not JSON"


def _loads(text: str, refuse_duplicate_keys: bool) -> object:
    value: object = json.loads(
        text,
        parse_int=_integer,
        parse_float=_float,
        parse_constant=_refuse_constant,
        object_pairs_hook=_object_of_unique_keys if refuse_duplicate_keys else None,
    )
    return value


def _is_too_deep(text: str) -> bool:
    """Counts levels without recursion: the brackets alone, of which each round takes away the innermost pairs."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    brackets = _NOT_BRACKET.sub("", _STRING.sub("", text)).translate(_ROUND_UP)
    for _ in range(MAX_DEPTH):
        shorter = brackets.replace("[]", "")
        if not shorter:
            return False
        if len(shorter) == len(brackets):
            return len(brackets) > MAX_DEPTH  # unbalanced: not JSON, and only its length bounds how deep it is
        brackets = shorter
    return True


def _integer(digits: str) -> int:
    if len(digits) > _MAX_INTEGER_DIGITS:
        raise MalformedJsonError(f"it holds an integer of more than {_MAX_INTEGER_DIGITS:,} digits")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise MalformedJsonError("it holds a number that is too large")
    return number


def _refuse_constant(_: str) -> object:
    raise MalformedJsonError("it holds NaN or Infinity")


def _object_of_unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise MalformedJsonError("it gives a key twice")
    return found
