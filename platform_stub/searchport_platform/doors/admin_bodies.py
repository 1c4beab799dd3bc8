"""What the admin API takes: each body's options, their parsers, their words and their schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

import attrs

from searchport.errors import Fault, SearchError, shorten
from searchport.json_schema import object_schema
from searchport.request import DEFAULT_MAX_RESULTS, MAX_RESULTS
from searchport.wire import OPTION, Option, structure
from searchport_platform.doors.operations import Body, Shape
from searchport_platform.tenancy.agents import HIGHEST_CAP, parse_cap
from searchport_platform.tenancy.clock import write_instant
from searchport_platform.tenancy.credentials import LONGEST_KEY
from searchport_platform.tenancy.names import MOST_PATTERNS, MOST_WORDS, NAME, PATTERN, parse_patterns
from searchport_platform.tenancy.organizations import CONCURRENCY, HIGHEST_BUDGET_MICROUSD, HIGHEST_CONCURRENCY, HIGHEST_RATE
from searchport_platform.tenancy.selections import DEADLINE_SECONDS, LONGEST_DEADLINE_SECONDS, Choice, Selection
from searchport_platform.tenancy.tokens import Scope

__all__ = [
    "AGENT_BODY",
    "CREDENTIAL_BODY",
    "LIMITS_BODY",
    "ORGANIZATION_BODY",
    "SELECTION_BODY",
    "TOKEN_BODY",
    "AgentBody",
    "CredentialBody",
    "LimitsBody",
    "OrganizationBody",
    "SelectionBody",
    "TokenBody",
]

_LONGEST_CACHE_SECONDS = 86_400
_MOST_FALLBACKS = 8
_SCOPES = [scope for scope in Scope if scope is not Scope.OPERATOR]


def _field(parse: Callable[..., object], words: str, **schema: object) -> dict[str, Option]:
    return {OPTION: Option(parse, words, schema)}


def _parse_text(value: object) -> str:
    if not isinstance(value, str):
        raise SearchError.invalid("$", f"expected a text, got {shorten(value)}")
    return value


def _parse_whole(value: object) -> int:
    if type(value) is not int:
        raise SearchError.invalid("$", f"expected a whole number, got {shorten(value)}")
    return value


def _text(words: str) -> dict[str, Option]:
    return _field(_parse_text, words, type="string")


def _whole(words: str, least: int, most: int) -> dict[str, Option]:
    """A whole number whose range is checked where the row is written."""
    return _field(_parse_whole, words, type="integer", minimum=least, maximum=most)


def _parse_settings(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise SearchError.invalid("$.settings", f"expected an object, got {shorten(value)}")
    return dict(value)


@attrs.frozen(kw_only=True)
class FallbackBody:
    """One of a selection's fallbacks, where it is more than a provider's id."""

    provider: str = attrs.field(metadata=_text("The provider's id."))
    model: str | None = attrs.field(default=None, metadata=_text("One of its models."))
    settings: Mapping[str, object] = attrs.field(
        factory=dict, metadata=_field(_parse_settings, "The provider's settings.", type="object")
    )


def _parse_choice(value: object) -> Choice:
    if isinstance(value, str):
        return Choice(provider=value)
    try:
        body = structure(value, FallbackBody)
    except SearchError as error:  # the faults get the list's own place, so that theirs has to stand in the words
        raise attrs.evolve(error, faults=[Fault("$.fallbacks", f"in one of them, {fault}") for fault in error.faults]) from None
    return Choice(provider=body.provider, model=body.model, settings=body.settings)


def _parse_choices(value: object) -> tuple[Choice, ...]:
    if not isinstance(value, list) or len(value) > _MOST_FALLBACKS:
        message = f"expected a list of at most {_MOST_FALLBACKS} provider ids, or of objects with their settings"
        raise SearchError.invalid("$.fallbacks", message)
    return tuple(_parse_choice(item) for item in value)


_CHOICES: dict[str, object] = {
    "type": "array",
    "maxItems": _MOST_FALLBACKS,
    "items": {"anyOf": [{"type": "string"}, object_schema(FallbackBody, nulls=True)]},
}


def _parse_results(value: object) -> int:
    if type(value) is not int or not 1 <= value <= MAX_RESULTS:
        raise SearchError.invalid("$", f"expected a whole number from 1 to {MAX_RESULTS}, got {shorten(value)}")
    return value


def _parse_deadline(value: object) -> float:
    if type(value) not in (int, float) or not 1 <= float(str(value)) <= LONGEST_DEADLINE_SECONDS:
        raise SearchError.invalid("$", f"expected seconds from 1 to {LONGEST_DEADLINE_SECONDS:g}, got {shorten(value)}")
    return float(str(value))


def _parse_cache(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _LONGEST_CACHE_SECONDS:
        raise SearchError.invalid("$", f"expected whole seconds from 0 to {_LONGEST_CACHE_SECONDS:,}, got {shorten(value)}")
    return value


def _parse_scopes(value: object) -> frozenset[Scope]:
    if isinstance(value, list) and value and all(item in _SCOPES for item in value):
        return frozenset(map(Scope, value))
    raise SearchError.invalid("$.scopes", f"expected a list of one or more of: {', '.join(_SCOPES)}")


def _parse_expiry(value: object) -> str:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        if moment is not None and moment.tzinfo is not None:
            return write_instant(moment)
    except (ValueError, OverflowError):
        pass
    raise SearchError.invalid("$.expiresAt", f"{shorten(value)} is no date-time with its zone, such as 2027-01-01T00:00:00Z")


def _results(words: str) -> dict[str, Option]:
    return _field(_parse_results, words, type="integer", minimum=1, maximum=MAX_RESULTS)


@attrs.frozen(kw_only=True)
class SelectionBody:
    """What `PUT …/search/selection` takes."""

    provider: str = attrs.field(metadata=_text("The provider's id."))
    model: str | None = attrs.field(default=None, metadata=_text("One of the provider's models."))
    settings: Mapping[str, object] = attrs.field(
        factory=dict, metadata=_field(_parse_settings, "The provider's settings.", type="object")
    )
    fallbacks: tuple[Choice, ...] = attrs.field(
        default=(), metadata=_field(_parse_choices, "Whom to ask after it, in order.", **_CHOICES)
    )
    default_results: int = attrs.field(
        default=DEFAULT_MAX_RESULTS, metadata=_results("Results where a call gives no number; at most `maxResults`.")
    )
    max_results: int = attrs.field(default=MAX_RESULTS, metadata=_results("The most results a call may ask for."))
    deadline_seconds: float = attrs.field(
        default=DEADLINE_SECONDS,
        metadata=_field(_parse_deadline, "Seconds of a whole call.", type="number", minimum=1, maximum=LONGEST_DEADLINE_SECONDS),
    )
    cache_seconds: int = attrs.field(
        default=0,
        metadata=_field(
            _parse_cache, "How long an answer may be given again.", type="integer", minimum=0, maximum=_LONGEST_CACHE_SECONDS
        ),
    )

    def to_selection(self) -> Selection:
        """The selection. Raises SearchError where the default is above the maximum."""
        if self.default_results > self.max_results:
            raise SearchError.invalid("$.defaultResults", f"{self.default_results} is above maxResults, {self.max_results}")
        return Selection(
            choice=Choice(provider=self.provider, model=self.model, settings=self.settings),
            fallbacks=self.fallbacks,
            default_results=self.default_results,
            max_results=self.max_results,
            deadline_seconds=self.deadline_seconds,
            cache_seconds=self.cache_seconds,
        )


def _gate(parse: Callable[..., object], words: str) -> dict[str, Option]:
    items = {"type": "string", "pattern": f"^{PATTERN.pattern}$"}
    return _field(parse, words, type="array", maxItems=MOST_PATTERNS, items=items)


@attrs.frozen(kw_only=True)
class AgentBody:
    """What `PUT …/agents/{agent}` takes."""

    tools: list[str] = attrs.field(
        factory=list, metadata=_gate(partial(parse_patterns, path="$.tools"), "Tools that it may use, such as web.*.")
    )
    credentials: list[str] = attrs.field(
        factory=list, metadata=_gate(partial(parse_patterns, path="$.credentials"), "Credentials that it may use.")
    )
    max_searches_per_day: int | None = attrs.field(
        default=None,
        metadata=_field(
            parse_cap,
            "Searches a UTC day; 0 refuses all; left out, it stays as it is.",
            type="integer",
            minimum=0,
            maximum=HIGHEST_CAP,
        ),
    )


@attrs.frozen(kw_only=True)
class LimitsBody:
    """What `PUT …/limits` takes; what is left out has no limit, or the usual one."""

    monthly_budget_microusd: int | None = attrs.field(
        default=None, metadata=_whole("Micro-USD a UTC month; left out, no budget.", 0, HIGHEST_BUDGET_MICROUSD)
    )
    searches_per_minute: int | None = attrs.field(
        default=None, metadata=_whole("Searches in any sixty seconds; left out, as many as there are.", 1, HIGHEST_RATE)
    )
    concurrency: int = attrs.field(default=CONCURRENCY, metadata=_whole("Searches at once.", 1, HIGHEST_CONCURRENCY))


@attrs.frozen(kw_only=True)
class TokenBody:
    """What `POST …/tokens` takes."""

    name: str = attrs.field(
        metadata=_field(_parse_text, "Words that tell it from others.", type="string", minLength=1, maxLength=MOST_WORDS)
    )
    scopes: frozenset[Scope] = attrs.field(
        metadata=_field(_parse_scopes, "What it allows.", type="array", minItems=1, items={"type": "string", "enum": [*_SCOPES]})
    )
    agent: str | None = attrs.field(default=None, metadata=_text("The agent that it is bound to."))
    expires_at: str | None = attrs.field(
        default=None, metadata=_field(_parse_expiry, "When it ends, with its zone.", type="string", format="date-time")
    )


@attrs.frozen(kw_only=True)
class OrganizationBody:
    """What `POST /organizations` takes."""

    organization: str = attrs.field(metadata=_field(_parse_text, "Its id.", type="string", pattern=f"^{NAME.pattern}$"))
    name: str = attrs.field(
        default="", metadata=_field(_parse_text, "Its name; left out, its id.", type="string", maxLength=MOST_WORDS)
    )


def _parse_secret(value: object) -> object:
    return value


@attrs.frozen(kw_only=True)
class CredentialBody:
    """What `PUT …/credential` takes; the value is checked where it is sealed, and never shown."""

    value: object = attrs.field(
        repr=False,
        metadata=_field(_parse_secret, "The vendor's key.", type="string", minLength=1, maxLength=LONGEST_KEY, writeOnly=True),
    )


def _body(cls: type, **examples: object) -> Body:
    return Body(Shape(cls.__name__.removesuffix("Body") + "Request", partial(object_schema, cls, nulls=True)), examples)


SELECTION_BODY = _body(
    SelectionBody,
    plain={"provider": "fake"},
    withFallback={"provider": "fake", "fallbacks": ["local"], "defaultResults": 5, "maxResults": 20, "cacheSeconds": 60},
)
AGENT_BODY = _body(AgentBody, plain={"tools": ["web.*"], "credentials": ["search.apiKey"], "maxSearchesPerDay": 500})
LIMITS_BODY = _body(LimitsBody, plain={"monthlyBudgetMicrousd": 50_000_000, "searchesPerMinute": 60, "concurrency": 8})
TOKEN_BODY = _body(TokenBody, plain={"name": "Reading room", "scopes": ["search"], "expiresAt": "2099-01-01T00:00:00Z"})
ORGANIZATION_BODY = _body(OrganizationBody, plain={"organization": "northwind", "name": "Northwind Traders"})
CREDENTIAL_BODY = _body(CredentialBody, plain={"value": "the-key-that-the-vendor-gave-you"})
