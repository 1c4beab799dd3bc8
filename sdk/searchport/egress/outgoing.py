"""What a request is made of: its URL, headers and form, each checked before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlencode

from yarl import URL

from searchport.errors import ErrorCode, SearchError, shorten

from .policy import AddressPolicy

__all__ = ["Fields", "build_body", "build_form", "build_headers", "build_url", "parse_origin", "unencodable"]

Fields = Mapping[str, str | int | bool | None]
"""Names to values: None is left out, True and False are written `true` and `false`."""

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"(?:[!-~](?:[ \t!-~]*[!-~])?)?")


def build_url(url: str, params: Fields | None, origin: URL | None, policy: AddressPolicy) -> URL:
    """The URL to send, its parameters appended so that each arrives exactly; SearchError where the policy refuses it.

    origin: replaces scheme, host and port; the path and the query stay.
    """
    if origin is None:
        policy.check_url(url)
        target = URL(url)
    else:
        target = _moved(url, origin, policy)
    pairs = _pairs(params)
    return target.extend_query(pairs) if pairs else target


def _moved(url: str, origin: URL, policy: AddressPolicy) -> URL:
    fault = policy.url_fault(url, any_port=True)
    if fault is not None and fault.is_malformed:
        policy.check_url(url, any_port=True)
    target = URL(f"{str(origin).rstrip('/')}{URL(url).raw_path_qs}", encoded=True)
    policy.check_url(str(target))
    return target


def parse_origin(text: str) -> URL:
    """`scheme://host[:port]` as a URL; ValueError for anything more or less."""
    fault = AddressPolicy(allow_private_addresses=True).url_fault(text, any_port=True)
    url = URL(text) if fault is None else None
    if url is None or url.raw_path not in {"", "/"} or "?" in text or "#" in text:
        raise ValueError(f"{shorten(text)} is not an origin; write `http://host:port`, with no path")
    return url.origin()


def build_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    """The headers to send; SearchError (`provider_not_configured`) for one that HTTP cannot carry, mostly a pasted key.

    A value is visible ASCII with spaces and tabs inside (RFC 9110, section 5.5).
    """
    for name, value in (headers or {}).items():
        if not (_is_text(_HEADER_NAME, name) and _is_text(_HEADER_VALUE, value)):
            raise SearchError(
                ErrorCode.PROVIDER_NOT_CONFIGURED, reason="a header value holds characters that HTTP does not allow"
            )
    return dict(headers or {})


def _is_text(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def build_form(form: Fields) -> bytes:
    """A form's body, `application/x-www-form-urlencoded` in UTF-8."""
    return urlencode(_pairs(form)).encode("ascii")


def build_body(body: Mapping[str, object]) -> dict[str, object]:
    """A JSON object without its members that are None, at any depth, nor objects that held nothing else."""
    found: dict[str, object] = {}
    for name, value in body.items():
        kept = build_body(value) if isinstance(value, Mapping) else value
        if kept is not None and (kept != {} or not value):
            found[name] = kept
    return found


def _pairs(fields: Fields | None) -> list[tuple[str, str]]:
    if fields is not None and not isinstance(fields, Mapping):
        raise SearchError(ErrorCode.INTERNAL_ERROR, reason=f"parameters are {type(fields).__name__}, not a mapping")
    pairs = [(name, _written(name, value)) for name, value in (fields or {}).items() if value is not None]
    for name, value in pairs:
        if not (is_encodable(name) and is_encodable(value)):
            raise unencodable()
    return pairs


def _written(name: str, value: object) -> str:
    """A toolkit that passes anything else has a defect, which must not become a request for `['a', 'b']`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(name, str) or not isinstance(value, str | int):
        reason = f"parameter {str(name)[:64]!r} is {type(value).__name__}, not a text, a whole number or a boolean"
        raise SearchError(ErrorCode.INTERNAL_ERROR, reason=reason)
    return str(value)


def is_encodable(text: str) -> bool:
    """False for text with a lone surrogate, which UTF-8 cannot carry."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def unencodable() -> SearchError:
    """The error for such text: nothing was sent."""
    return SearchError.invalid("$", "text holds a lone surrogate, which no request can carry")
