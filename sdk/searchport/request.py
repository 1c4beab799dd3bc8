"""The search request: every option, written down once and parsed strictly.

An option's parser, its words and its default stand on its field; doors, tool schemas and the documentation read them there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TypeVar

import attrs

from searchport import locale
from searchport.errors import SearchError, shorten
from searchport.freshness import FRESHNESS_LENGTH, FRESHNESS_PATTERN, Freshness
from searchport.site import Site
from searchport.wire import OPTION, Option, camel_case, structure

__all__ = [
    "DEFAULT_MAX_RESULTS",
    "MAX_QUERY",
    "MAX_RESULTS",
    "OPTION_NAMES",
    "Recency",
    "Safe",
    "SearchRequest",
    "parse_request",
    "safe_table",
]

MAX_QUERY = 2_000
MAX_RESULTS = 50
DEFAULT_MAX_RESULTS = 10

_SURROGATE = re.compile("[\ud800-\udfff]")

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")


class Recency(StrEnum):
    """The vendor's own window; best effort."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


class Safe(StrEnum):
    """Safe search; honoured or refused, never ignored."""

    OFF = "off"
    MODERATE = "moderate"
    STRICT = "strict"


def safe_table(off: T, moderate: T, strict: T) -> dict[Safe | None, T | None]:
    """A vendor's words for `safe`, None for None: `SAFE = safe_table("0", "1", "1")`, then `SAFE[request.safe]`."""
    return {None: None, Safe.OFF: off, Safe.MODERATE: moderate, Safe.STRICT: strict}


def _parse_query(value: object) -> str:
    if not isinstance(value, str):
        raise SearchError.invalid("$.query", f"expected a text, got {type(value).__name__}")
    if not value.strip():
        raise SearchError.invalid("$.query", "expected a text that is not blank")
    if len(value) > MAX_QUERY:
        raise SearchError.invalid("$.query", f"{len(value):,} characters; at most {MAX_QUERY:,} are allowed")
    if _SURROGATE.search(value):
        raise SearchError.invalid("$.query", "holds a lone surrogate, which is no character (RFC 3629, section 3)")
    return value


def _parse_max_results(value: object) -> int:
    if type(value) is not int:
        raise SearchError.invalid("$.maxResults", f"expected a whole number from 1 to {MAX_RESULTS}, got {shorten(value)}")
    if not 1 <= value <= MAX_RESULTS:
        raise SearchError.invalid("$.maxResults", f"{shorten(value)} is not from 1 to {MAX_RESULTS}")
    return value


def _parse_member(value: object, cls: type[E], path: str) -> E:
    if isinstance(value, str) and value in set(cls):
        return cls(value)
    raise SearchError.invalid(path, f"{shorten(value)} is not one of: {', '.join(cls)}")


def _parse_recency(value: Recency | str | None) -> Recency | None:
    return None if value is None else _parse_member(value, Recency, "$.recency")


def _parse_safe(value: Safe | str | None) -> Safe | None:
    return None if value is None else _parse_member(value, Safe, "$.safe")


def _parse_freshness(value: Freshness | str | None) -> Freshness | None:
    return value if value is None or isinstance(value, Freshness) else Freshness.parse(value)


def _parse_site(value: Site | str | None) -> Site | None:
    return value if value is None or isinstance(value, Site) else Site.parse(value)


def _parse_language(value: str | None) -> str | None:
    return None if value is None else locale.parse_language(value)


def _parse_country(value: str | None) -> str | None:
    return None if value is None else locale.parse_country(value)


def _parse_provider_options(value: Mapping[str, object]) -> Mapping[str, object]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise SearchError.invalid("$.providerOptions", f"expected an object, got {shorten(value)}")
    return dict(value)


def _option(parse: Callable[..., object], words: str, **schema: object) -> dict[str, Option]:
    return {OPTION: Option(parse, words, schema)}


@attrs.frozen(kw_only=True)
class SearchRequest:
    """One web search, every option checked.

    Options may be given parsed or as text: `SearchRequest("red pandas", freshness="P7D", site="example.com")`.
    Raises SearchError (`validation_error`) on the first value that is not allowed; `parse_request` tells all of them.
    """

    query: str = attrs.field(
        kw_only=False,
        converter=_parse_query,
        metadata=_option(
            _parse_query,
            f"What to look for, as literal text; not blank, at most {MAX_QUERY:,} characters.",
            type="string",
            minLength=1,
            maxLength=MAX_QUERY,
        ),
    )
    max_results: int = attrs.field(
        default=DEFAULT_MAX_RESULTS,
        converter=_parse_max_results,
        metadata=_option(
            _parse_max_results,
            f"The most results to return, 1 to {MAX_RESULTS}; fewer is normal.",
            type="integer",
            minimum=1,
            maximum=MAX_RESULTS,
        ),
    )
    recency: Recency | None = attrs.field(
        default=None,
        converter=_parse_recency,
        metadata=_option(
            _parse_recency,
            "The vendor's own window: day, week, month or year; best effort.",
            type="string",
            enum=[*Recency],
        ),
    )
    freshness: Freshness | None = attrs.field(
        default=None,
        converter=_parse_freshness,
        metadata=_option(
            _parse_freshness,
            "Guarantee: only results proven to be no older than this ISO 8601 duration of weeks, days, hours, minutes or "
            "seconds, such as P7D.",
            type="string",
            maxLength=FRESHNESS_LENGTH,
            pattern=FRESHNESS_PATTERN,
        ),
    )
    site: Site | None = attrs.field(
        default=None,
        converter=_parse_site,
        metadata=_option(
            _parse_site,
            "Guarantee: only results of this hostname or under it, such as example.com.",
            type="string",
            minLength=1,
            maxLength=254,
        ),
    )
    language: str | None = attrs.field(
        default=None,
        converter=_parse_language,
        metadata=_option(
            _parse_language,
            "Preferred language, a BCP 47 tag such as pt-BR; best effort.",
            type="string",
            pattern="^[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*$",
        ),
    )
    country: str | None = attrs.field(
        default=None,
        converter=_parse_country,
        metadata=_option(
            _parse_country,
            "Preferred country, ISO 3166-1 alpha-2, such as BR; best effort.",
            type="string",
            pattern="^[A-Za-z]{2}$",
        ),
    )
    safe: Safe | None = attrs.field(
        default=None,
        converter=_parse_safe,
        metadata=_option(_parse_safe, "Safe search: off, moderate or strict.", type="string", enum=[*Safe]),
    )
    provider_options: Mapping[str, object] = attrs.field(
        factory=dict,
        hash=False,
        converter=_parse_provider_options,
        metadata=_option(_parse_provider_options, "Settings of the selected provider, for this call only.", type="object"),
    )

    @property
    def hosts(self) -> list[str] | None:
        """The site, for vendors that take a list of hosts; None where there is none."""
        return None if self.site is None else [self.site.host]

    def given(self) -> frozenset[str]:
        """Names of the options that this request sets, `query`, `max_results` and `provider_options` left out."""
        return frozenset(name for name in OPTION_NAMES if getattr(self, name) is not None)


OPTION_NAMES = ("recency", "freshness", "site", "language", "country", "safe")
"""The options that a provider can declare: as native, best effort or unsupported."""


def parse_request(payload: object, *, default_max_results: int = DEFAULT_MAX_RESULTS) -> SearchRequest:
    """A request from the platform API's JSON object (`maxResults`, `providerOptions`, …); `null` means not given.

    Raises SearchError (`validation_error`) with every fault, unknown fields by name with the nearest known one.
    """
    request = structure(payload, SearchRequest, spell=camel_case)
    is_given = isinstance(payload, Mapping) and payload.get("maxResults") is not None
    return request if is_given else attrs.evolve(request, max_results=default_max_results)
