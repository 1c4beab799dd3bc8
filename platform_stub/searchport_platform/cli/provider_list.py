"""`searchport providers`: the enabled providers, and what each of them honours."""

from __future__ import annotations

import json

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from searchport.request import OPTION_NAMES
from searchport.wire import camel_case
from searchport_platform.registry import AnyToolkit, Registry

__all__ = ["describe_provider", "print_providers"]


def describe_provider(toolkit: AnyToolkit) -> dict[str, object]:
    """What a provider declares, as JSON: its options by how they are honoured, limits, price in US dollars, and its end."""
    declared, sunset = toolkit.web_search, toolkit.sunset
    return {
        "id": toolkit.id,
        "name": toolkit.name,
        "keyless": toolkit.is_keyless,
        "contract": declared.contract,
        "options": {camel_case(name): _describe_option(toolkit, name) for name in OPTION_NAMES},
        "literal": declared.literal,
        "maxQuery": declared.max_query,
        "pageSize": declared.page_size,
        "pricePer1000": None if declared.price_per_1000 is None else str(declared.price_per_1000),
        "cacheable": declared.cacheable,
        "risk": toolkit.risk,
        "sunset": None
        if sunset is None
        else {
            "ends": sunset.ends.isoformat(),
            "reason": sunset.reason,
            "successors": list(sunset.successors),
            "source": sunset.source,
        },
    }


def _describe_option(toolkit: AnyToolkit, name: str) -> str:
    """`native`, `honoured`, `best effort`, `ignored` or `unsupported`."""
    declared = toolkit.web_search
    for listed, words in (
        (declared.unsupported, "unsupported"),
        (declared.native, "native"),
        (declared.best_effort, "best effort"),
    ):
        if name in listed:
            return words
    if name in ("language", "country") or (name == "recency" and declared.recency is None):
        return "ignored"
    return "honoured"


def print_providers(registry: Registry, *, as_json: bool) -> None:
    """Prints the list as a table, or as one JSON array."""
    described = [describe_provider(toolkit) for toolkit in registry]
    if as_json:
        click.echo(json.dumps(described, ensure_ascii=False, indent=2))
        return
    table = Table(box=None, padding=(0, 1))
    for heading in ("Provider", "Name", "Key", *OPTION_NAMES, "Literal", "USD/1000", "Ends"):
        table.add_column(heading, no_wrap=heading == "Provider")
    for row in described:
        options, sunset = row["options"], row["sunset"]
        cells = [row["id"], row["name"], "none" if row["keyless"] else "needed"]
        cells += list(options.values()) if isinstance(options, dict) else []
        cells += [
            "yes" if row["literal"] else "no",
            row["pricePer1000"] or "",
            sunset["ends"] if isinstance(sunset, dict) else "",
        ]
        table.add_row(*(Text(str(cell)) for cell in cells))
    Console().print(table)
