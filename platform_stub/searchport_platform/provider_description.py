"""What a provider declares, as JSON: one shape for the command line, `/info` and the admin API."""

from __future__ import annotations

from searchport.request import OPTION_NAMES
from searchport.wire import camel_case
from searchport_platform.registry import AnyToolkit

__all__ = ["describe_provider"]


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
        "pricePer1000": None if declared.price_per_1000 is None else str(declared.price_per_1000),
        "cacheable": declared.cacheable,
        "evidence": declared.evidence,
        "risk": toolkit.risk,
        "sunset": None if sunset is None else end | {"successors": list(sunset.successors)},
    }
