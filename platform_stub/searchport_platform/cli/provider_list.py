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

_HEADINGS = {"freshness": "fresh", "language": "lang"}
_WORDS = {"native": "native", "honoured": "yes", "best effort": "best", "ignored": "-", "unsupported": "no"}
_LEGEND = """
native: the vendor has a parameter for it; yes: honoured; best: best effort; -: ignored, and named; no: such a call is refused.
Lit.: whether quotes and operators in a query are characters to look for. From: what the vendor's wire was learned from,
recorded answers (rec) or its documentation alone (doc). Names, limits and prices: --json."""
_EVIDENCE = {"recorded": "rec", "documentation": "doc"}


def print_providers(registry: Registry, *, as_json: bool) -> None:
    """Prints the list as a table, or as one JSON array."""
    described = [describe_provider(toolkit) for toolkit in registry]
    if as_json:
        click.echo(json.dumps(described, ensure_ascii=False, indent=2))
        return
    table = Table(box=None, padding=(0, 1, 0, 0))
    for heading in ("Provider", "Key", *(_HEADINGS.get(name, name) for name in OPTION_NAMES), "Lit.", "From", "Ends"):
        table.add_column(heading, no_wrap=True)
    for row in described:
        options, sunset = row["options"], row["sunset"]
        cells = [row["id"], "no" if row["keyless"] else "yes"]
        cells += [_WORDS[words] for words in options.values()] if isinstance(options, dict) else []
        cells += ["yes" if row["literal"] else "no", _EVIDENCE.get(str(row["evidence"]), "")]
        cells += [sunset["ends"] if isinstance(sunset, dict) else ""]
        table.add_row(*(Text(str(cell)) for cell in cells))
    console = Console()
    console.print(table)
    console.print(Text(_LEGEND, style="dim"))
