"""Fields of a toolkit's settings class whose values decide where a request goes, each checked before it is stored."""

from __future__ import annotations

import re
from typing import cast
from urllib.parse import urlsplit

import attrs

from searchport.errors import shorten
from searchport.toolkit import OPERATOR_ONLY
from searchport.wire import OPTION, Option

__all__ = ["base_url", "one_of", "url_part"]

_URL_PART = re.compile(r"[a-z0-9_-]{1,100}")
_URL = re.compile(r"https?://[!-~]+", re.IGNORECASE)


def base_url() -> str:
    """The address of a service that the operator runs, `https://search.example` or with a path, `https://example.com/search`.

    Required, for operators alone, and kept without a slash at its end: write `f"{settings.base_url}/find"`. A query, a fragment
    and a user are refused. What may be reached is the address policy's to say.
    """
    metadata = {OPERATOR_ONLY: True, OPTION: Option(_parse_base_url, "Address of the service, a path included.")}
    field: object = attrs.field(metadata=metadata)
    return cast("str", field)


def url_part() -> str:
    """An id that stands in a vendor's URL: 1 to 100 lower-case letters, digits, `_` and `-`. Required; anyone may set it."""
    field: object = attrs.field(metadata={OPTION: Option(_parse_url_part, "An id of the vendor's.")})
    return cast("str", field)


def one_of(*allowed: str) -> str:
    """One of these words; the first where none is given. Anyone may set it."""

    def parse(value: object) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        raise ValueError(f"{shorten(value)} is not one of: {', '.join(allowed)}")

    field: object = attrs.field(default=allowed[0], metadata={OPTION: Option(parse, f"One of: {', '.join(allowed)}.")})
    return cast("str", field)


def _parse_base_url(value: object) -> str:
    expected = "expected an address like 'https://search.example', with a path where there is one, and nothing behind it"
    if not isinstance(value, str) or not _URL.fullmatch(value):
        raise ValueError(f"{expected}; got {type(value).__name__}")
    try:
        parts = urlsplit(value)
        is_plain = bool(parts.hostname) and "@" not in parts.netloc and "?" not in value and "#" not in value
    except ValueError:
        is_plain = False
    if not is_plain:
        raise ValueError(expected)  # the value is not shown: what stands behind may be a secret
    return value.rstrip("/")


def _parse_url_part(value: object) -> str:
    if isinstance(value, str) and _URL_PART.fullmatch(value):
        return value
    raise ValueError(f"expected 1 to 100 of a-z, 0-9, '_' and '-', got {shorten(value)}")
