"""The names that tenants are given: organizations, agents, and the globs of their gates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from searchport.egress import AddressPolicy
from searchport.errors import SearchError, shorten

__all__ = [
    "MOST_PATTERNS",
    "MOST_WORDS",
    "NAME",
    "PATTERN",
    "check_hosts",
    "is_allowed",
    "parse_name",
    "parse_patterns",
    "parse_words",
]

NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
PATTERN = re.compile(r"[A-Za-z0-9_.*-]{1,64}")
MOST_PATTERNS = 64
MOST_WORDS = 200


def parse_name(value: object, path: str) -> str:
    """A name of lower-case letters, digits and inner hyphens, at most 64 characters. Raises SearchError at `path`."""
    if isinstance(value, str) and NAME.fullmatch(value):
        return value
    raise SearchError.invalid(path, f"{shorten(value)} is no name; use lower-case letters, digits and inner hyphens, at most 64")


def parse_patterns(value: object, path: str) -> list[str]:
    """Gate patterns such as `web.search` or `web.*`. Raises SearchError at `path`."""
    if (
        isinstance(value, list)
        and len(value) <= MOST_PATTERNS
        and all(isinstance(p, str) and PATTERN.fullmatch(p) for p in value)
    ):
        return list(value)
    raise SearchError.invalid(path, f"expected a list of at most {MOST_PATTERNS} names or globs, such as ['web.*']")


def parse_words(value: object, path: str) -> str:
    """Words to show to people: printable, not blank, at most 200 characters. Raises SearchError at `path`."""
    if isinstance(value, str) and value.strip() and len(value) <= MOST_WORDS and value.isprintable():
        return value.strip()
    raise SearchError.invalid(path, f"expected printable words, not blank, at most {MOST_WORDS} characters")


def check_hosts(hosts: Sequence[str], path: str) -> Sequence[str]:
    """The entries of an allow list. Raises SearchError at `path` for one that is not `host` or `host:port`."""
    try:
        AddressPolicy(allowed_hosts=hosts)
    except ValueError as error:
        raise SearchError.invalid(path, str(error)) from None
    return hosts


def is_allowed(name: str, patterns: Iterable[str]) -> bool:
    """True where a pattern names it; no pattern allows nothing."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)
