"""Custom Search calls as they stand in a file: a URL a line, or a line of an access log.

Sources: the Common Log Format, whose request stands between quotation marks after the time in brackets (`mod_log_config` of
Apache, `log_format combined` of nginx); both write a byte that they do not print as `\\xHH`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import IO
from urllib.parse import urlsplit

import attrs

from searchport.errors import SearchError
from searchport_platform.doors.compat import texts
from searchport_platform.doors.compat.google_cse import OWN_PATH, PARAMETERS

__all__ = ["CallFile", "GoogleCall", "UnreadLine", "read_calls"]

LONGEST_LINE = 32_768
"""Bytes; longer than any request that a server takes."""
MOST_TOLD = 100
"""Lines that could not be read, told one by one."""

_LOGGED = re.compile(r'\[[^\]]*\] "(?:([A-Z]+) (\S+)(?: HTTP/[0-9.]+)?")?')
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_ESCAPED = re.compile(r"\\x([0-9A-Fa-f]{2})")
_PATHS = (OWN_PATH, f"{OWN_PATH}/siterestrict")

_CREDENTIALS = ("access_token", "oauth_token")
"""Told as refused by their names; `key` is not told, since every call has one."""

_NO_REQUEST = "it is neither a URL nor a line of an access log"
_NO_QUERY = "it has no `q`; a log does not hold what was sent as a form"
_UNREADABLE = "its parameters cannot be read: one is repeated, or they are not UTF-8"


@attrs.frozen
class GoogleCall:
    """One distinct call. line: where it first stands, from 1. times: lines that hold it. given: its parameters, without keys."""

    line: int
    times: int
    given: Mapping[str, str] = attrs.field(repr=False)


@attrs.frozen
class UnreadLine:
    """A line that was skipped. why: a fixed clause, nothing of the line."""

    number: int
    why: str


@attrs.frozen(kw_only=True)
class CallFile:
    """What a file holds. calls: the most frequent first. unread: the first of `skipped`. others: requests that are no search."""

    calls: tuple[GoogleCall, ...]
    unread: tuple[UnreadLine, ...]
    skipped: int
    others: int

    @property
    def total(self) -> int:
        """Lines that hold a call."""
        return sum(call.times for call in self.calls)


class _UnreadableError(ValueError):
    """Its text is why."""


def read_calls(file: IO[bytes]) -> CallFile:
    """The distinct calls of a file. Blank lines, and those that begin with `#`, say nothing."""
    found: dict[object, GoogleCall] = {}
    unread: list[UnreadLine] = []
    skipped = others = 0
    for number, line in enumerate(_read_lines(file), start=1):
        if line is not None and (not line.strip() or line.startswith(b"#")):
            continue
        try:
            given = _read_line(line)
        except _UnreadableError as error:
            skipped += 1
            if len(unread) < MOST_TOLD:
                unread.append(UnreadLine(number, str(error)))
            continue
        if given is None:
            others += 1
            continue
        identity = _identity(given)
        seen = found.get(identity) or GoogleCall(number, 0, given)
        found[identity] = attrs.evolve(seen, times=seen.times + 1)
    calls = sorted(found.values(), key=lambda call: (-call.times, call.line))
    return CallFile(calls=tuple(calls), unread=tuple(unread), skipped=skipped, others=others)


def _read_lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """Each line without its end; None for one that is too long."""
    while line := file.readline(LONGEST_LINE):
        if line.endswith(b"\n") or len(line) < LONGEST_LINE:
            yield line.rstrip(b"\r\n")
            continue
        while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


def _read_line(line: bytes | None) -> dict[str, str] | None:
    """The parameters of the call that a line holds; None where it holds another request. Raises _UnreadableError."""
    if line is None:
        raise _UnreadableError(f"it is longer than {LONGEST_LINE:,} bytes")
    try:
        target = _find_target(line.decode("utf-8-sig").strip())
        parts = urlsplit(target)
    except UnicodeDecodeError:
        raise _UnreadableError("it is not UTF-8") from None
    except ValueError:
        raise _UnreadableError(_NO_REQUEST) from None
    if not parts.path.removesuffix("/").endswith(_PATHS):
        return None
    return _read_parameters(parts.query)


def _find_target(text: str) -> str:
    """The URL, or what was requested of a server; an empty text where a server logged something that is no request for a page."""
    logged = _LOGGED.search(text)
    if logged is not None:
        return _ESCAPED.sub(r"%\1", logged[2]) if logged[1] in ("GET", "POST") else ""
    if _URL.fullmatch(text) is None:
        raise _UnreadableError(_NO_REQUEST)
    return text


def _read_parameters(query: str) -> dict[str, str]:
    try:
        given = texts.parse_pairs(query)
    except SearchError:
        raise _UnreadableError(_UNREADABLE) from None
    if not given.get("q", "").strip():
        raise _UnreadableError(_NO_QUERY)
    given.pop("key", None)
    return given | dict.fromkeys(given.keys() & set(_CREDENTIALS), "")


def _identity(given: Mapping[str, str]) -> object:
    """What two calls must have in common to be the same: what can change the results."""
    noise = [name for name, ignored in PARAMETERS.ignored.items() if name in given and ignored.is_harmless(given[name])]
    return frozenset((name, value) for name, value in given.items() if name not in noise)
