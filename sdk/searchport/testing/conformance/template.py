"""Texts of a vendor's answer with places to fill: `{{title}}`, `{{url|quote}}`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Final, Literal, TypeAlias
from urllib.parse import quote

__all__ = ["Format", "fill", "placeholders"]

Format: TypeAlias = Literal["json", "html"]

_PLACE: Final = re.compile(r"\{\{\s*(\w+)\s*(\|\s*\w+\s*)?\}\}")


def placeholders(template: str) -> list[str]:
    """The names in a template, in order, each with its filter where it has one: `url`, `url|quote`."""
    return [_name(place) for place in _PLACE.finditer(template)]


def fill(template: str, values: Mapping[str, object], *, format_: Format, raw: frozenset[str] = frozenset()) -> str:
    """The template with every place filled.

    values: name -> text, number or None. In JSON each becomes a whole JSON value; in HTML it is escaped, None becoming
    nothing. raw: names that are put in as they are. A filter `quote` percent-encodes first.
    """

    def write(place: re.Match[str]) -> str:
        value = values[place[1]]
        if place[2] and value is not None:
            value = quote(str(value), safe="")
        if place[1] in raw:
            return "" if value is None else str(value)
        if format_ == "json":
            return json.dumps(value)
        return "" if value is None else escape(str(value))

    return _PLACE.sub(write, template)


def _name(place: re.Match[str]) -> str:
    return place[1] + (place[2] or "").replace(" ", "")
