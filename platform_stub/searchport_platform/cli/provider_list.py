"""`searchport providers`: the enabled providers, and what each of them honours."""

from __future__ import annotations

import json

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from searchport.request import OPTION_NAMES
from searchport_platform.provider_description import describe_provider
from searchport_platform.registry import Registry

__all__ = ["print_providers"]


def print_providers(registry: Registry, *, as_json: bool) -> None:
    """Prints the list as a table, or as one JSON array."""
    described = [describe_provider(toolkit) for toolkit in registry]
    if as_json:
        click.echo(json.dumps(described, ensure_ascii=False, indent=2))
        return
    table = Table(box=None, padding=(0, 1))
    for heading in ("Provider", "Name", "Key", *OPTION_NAMES, "Literal", "USD/1000", "Ends"):
        table.add_column(heading, no_wrap=heading in ("Provider", "Ends"), overflow="fold")
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
