"""What the admin API answers: each shape and how it is rendered, side by side."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

import attrs

from searchport.context import SearchModel
from searchport.json_schema import answer_schema, properties_of
from searchport.wire import camel_case
from searchport_platform.doors.operations import Shape
from searchport_platform.provider_description import provider_schema
from searchport_platform.tenancy.agents import Agent
from searchport_platform.tenancy.audit import Change
from searchport_platform.tenancy.credentials import Credential
from searchport_platform.tenancy.organizations import Organization
from searchport_platform.tenancy.selections import Choice, Selection
from searchport_platform.tenancy.tokens import Token

__all__ = [
    "AGENT",
    "AGENTS",
    "CHANGES",
    "CREDENTIAL",
    "ISSUED_TOKEN",
    "MODELS",
    "ORGANIZATION",
    "ORGANIZATIONS",
    "PROVIDERS",
    "SELECTION",
    "TOKENS",
    "render_agent",
    "render_credential",
    "render_organization",
    "render_selection",
    "render_token",
]

_LIMITS = ("default_results", "max_results", "deadline_seconds", "cache_seconds")


def _shape(cls: type) -> Shape:
    return Shape(cls.__name__, partial(answer_schema, cls))


def _extend(schema: Mapping[str, object], more: Mapping[str, object], without: Collection[str] = ()) -> dict[str, object]:
    """The schema of an object, without some properties, with others that are always there."""
    kept = {name: value for name, value in properties_of(schema).items() if name not in without}
    properties = {**kept, **more}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list_of(name: str, item: Shape) -> Shape:
    """`{name: [item, …]}`."""
    array = {"type": "array", "items": item.ref}
    properties = {name: array}
    return Shape(f"{item.name}List", lambda: {"type": "object", "properties": properties, "required": [name]}, (item,))


ORGANIZATION = _shape(Organization)
AGENT = _shape(Agent)
TOKEN = _shape(Token)
CREDENTIAL = Shape("Credential", lambda: _extend(answer_schema(Credential), {}, without={"generation"}))
SELECTION = Shape(
    "Selection",
    lambda: _extend(answer_schema(Choice), {"fallbacks": {"type": "array", "items": answer_schema(Choice)}} | _limits_schema()),
)
PROVIDER = Shape(
    "Provider",
    lambda: _extend(
        provider_schema(),
        {
            "allowed": {"type": "boolean", "description": "False where the operator does not allow it to this organization."},
            "switchedOff": {"type": ["string", "null"], "description": "Why the operator has turned it off."},
            "selected": {"type": "boolean"},
            "credential": {"anyOf": [CREDENTIAL.ref, {"type": "null"}]},
        },
    ),
    (CREDENTIAL,),
)
ISSUED_TOKEN = Shape(
    "IssuedToken",
    lambda: _extend(answer_schema(Token), {"token": {"type": "string", "description": "Its text, in this answer alone."}}),
)
ORGANIZATIONS = _list_of("organizations", ORGANIZATION)
AGENTS = _list_of("agents", AGENT)
TOKENS = _list_of("tokens", TOKEN)
PROVIDERS = _list_of("providers", PROVIDER)
MODELS = _list_of("models", Shape("Model", partial(answer_schema, SearchModel)))
CHANGES = _list_of("changes", _shape(Change))


def _limits_schema() -> dict[str, object]:
    told = properties_of(answer_schema(Selection))
    return {camel_case(name): told[camel_case(name)] for name in _LIMITS}


def _render(fields: Mapping[str, object]) -> dict[str, object]:
    return {camel_case(name): value for name, value in fields.items()}


def render_organization(organization: Organization) -> dict[str, object]:
    """The organization and its bounds."""
    return _render(attrs.asdict(organization))


def render_agent(agent: Agent) -> dict[str, object]:
    """The agent and its gates."""
    return _render(attrs.asdict(agent))


def render_credential(credential: Credential) -> dict[str, object]:
    """What may be told of a key."""
    return {"provider": credential.provider, "lastFour": credential.last_four, "storedAt": credential.stored_at}


def render_selection(selection: Selection) -> dict[str, object]:
    """The selection with its fallbacks and limits."""
    limits = {name: getattr(selection, name) for name in _LIMITS}
    fallbacks = [attrs.asdict(fallback) for fallback in selection.fallbacks]
    return attrs.asdict(selection.choice) | {"fallbacks": fallbacks} | _render(limits)


def render_token(token: Token) -> dict[str, object]:
    """The token without its secret."""
    return _render(attrs.asdict(token) | {"scopes": sorted(token.scopes)})
