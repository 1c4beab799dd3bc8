"""Wires whose values arrive as text, in a query string or a form."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qsl

from aiohttp import web

from searchport.errors import SearchError, shorten
from searchport_platform.doors.http import read_body

__all__ = ["FORM", "is_number", "parse_number", "parse_pairs", "read_form", "read_query"]

FORM = "application/x-www-form-urlencoded"

_NUMBER = re.compile(r"[0-9]{1,9}")
_MOST_FIELDS = 200


def read_query(request: web.Request) -> dict[str, str]:
    """The parameters of the URL. Raises SearchError for a repeated one, which hides one of two values, and for no UTF-8."""
    return parse_pairs(request.rel_url.raw_query_string)


async def read_form(request: web.Request) -> dict[str, str]:
    """The parameters of a form (`application/x-www-form-urlencoded`) and of the URL together. Raises SearchError."""
    body = await read_body(request)
    if body and request.content_type != FORM:
        raise SearchError.invalid("$", f"expected a body of type {FORM}")
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise SearchError.invalid("$", "the form is not UTF-8") from None
    return parse_pairs("&".join(part for part in (request.rel_url.raw_query_string, text) if part))


def parse_pairs(text: str) -> dict[str, str]:
    """The parameters of a query string. Raises SearchError for a repeated one and for no UTF-8."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise SearchError.invalid("$", f"expected at most {_MOST_FIELDS} parameters, percent-encoded as UTF-8") from None
    given: dict[str, str] = {}
    for name, value in pairs:
        if name in given:
            raise SearchError.invalid("$", f"parameter {shorten(name)} is given more than once")
        given[name] = value
    return given


def is_number(text: str) -> bool:
    """True for ASCII digits alone, of a number that no parameter exceeds."""
    return _NUMBER.fullmatch(text) is not None


def parse_number(least: int, most: int) -> Callable[[object], int]:
    """A parser of a whole number that arrives as text, in ASCII digits alone."""

    def parse(value: object) -> int:
        if isinstance(value, str) and is_number(value) and least <= int(value) <= most:
            return int(value)
        raise SearchError.invalid("$", f"expected a whole number from {least} to {most:,}, got {shorten(value)}")

    return parse
