"""What a provider declares, as JSON: one shape for the command line, `/info` and the admin API."""

from __future__ import annotations

from typing import get_args

from searchport.request import OPTION_NAMES
from searchport.web_search import Support
from searchport.wire import camel_case
from searchport_platform.registry import AnyToolkit

__all__ = ["describe_provider", "provider_schema"]

_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_SUNSET = {
    "type": ["object", "null"],
    "description": "Its announced end.",
    "properties": {
        "ends": {"type": "string", "format": "date"},
        "reason": _TEXT,
        "source": _TEXT,
        "successors": {"type": "array", "items": _TEXT},
    },
    "required": ["ends", "reason", "source", "successors"],
}


def describe_provider(toolkit: AnyToolkit) -> dict[str, object]:
    """Its options by how they are honoured, its limits, its price in US dollars for 1,000 requests, its announced end."""
    declared, sunset = toolkit.web_search, toolkit.sunset
    end = {} if sunset is None else {"ends": sunset.ends.isoformat(), "reason": sunset.reason, "source": sunset.source}
    return {
        "id": toolkit.id,
        "name": toolkit.name,
        "keyless": toolkit.is_keyless,
        "contract": declared.contract,
        "options": {camel_case(name): declared.support(name) for name in OPTION_NAMES},
        "literal": declared.literal,
        "maxQuery": declared.max_query,
        "pageSize": declared.page_size,
        "pricePer1000": None if declared.price is None else str(declared.price.usd),
        "cacheable": declared.cacheable,
        "evidence": declared.evidence,
        "risk": toolkit.risk,
        "sunset": None if sunset is None else end | {"successors": list(sunset.successors)},
    }


def provider_schema() -> dict[str, object]:
    """The JSON Schema of what `describe_provider` gives."""
    how = {"type": "string", "enum": list(get_args(Support))}
    options = {camel_case(name): how for name in OPTION_NAMES}
    properties: dict[str, object] = {
        "id": _TEXT,
        "name": _TEXT,
        "keyless": {"type": "boolean"},
        "contract": _TEXT,
        "options": {"type": "object", "description": "How each is honoured.", "properties": options, "required": list(options)},
        "literal": {"type": "boolean", "description": "False where the vendor may read operators in a query."},
        "maxQuery": {"type": "integer", "description": "Characters of the longest query."},
        "pageSize": {"type": "integer"},
        "pricePer1000": {"type": ["string", "null"], "description": "US dollars for 1,000 requests, a decimal."},
        "cacheable": {"type": "boolean"},
        "evidence": _TEXT_OR_NULL,
        "risk": _TEXT_OR_NULL,
        "sunset": _SUNSET,
    }
    return {"type": "object", "properties": properties, "required": list(properties)}
