"""Writes docs/reference/providers.md from the declarations of the built-in providers: run it after one of them changes.

A test compares the page with what this writes.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import attrs

from searchport.request import OPTION_NAMES
from searchport.toolkit import OPERATOR_ONLY
from searchport.wire import camel_case
from searchport_platform.provider_description import describe_provider
from searchport_platform.registry import AnyToolkit, Registry

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "providers.md"

_INTRODUCTION = """# Providers

<!-- Written by scripts/make_provider_reference.py from the declarations; do not edit. -->

Every built-in provider, as it declares itself. `searchport providers` prints the same for what is enabled on your platform, other
people's toolkits included.

No provider was checked against its vendor's live service: each was built from recorded answers or from the vendor's documentation
alone, as the table says, and is tested against those shapes.

## Options

native: the vendor has a parameter for it. honoured: it holds. best effort: an answer may name it in `ignored`. ignored:
never sent, and named in `ignored`. unsupported: such a call is refused before anything is spent. `site` and `freshness`
hold on every answer, by our own filter, whatever the vendor does.
"""
_LIMITS = """
## Limits and prices

Literal: quotes and operators in a query are characters to look for, not commands. Price: US dollars for 1,000 vendor
requests, as the vendor lists it; an operator's own table comes before it.
"""


def write_page() -> str:
    """The page, as Markdown."""
    toolkits = sorted(Registry.discover().toolkits.values(), key=lambda toolkit: toolkit.id)
    described = [describe_provider(toolkit) for toolkit in toolkits]
    sections = [_write_section(toolkit) for toolkit in toolkits]
    return "\n".join([_INTRODUCTION, _write_options(described), _LIMITS, _write_limits(described), "", *sections])


def _write_table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _write_options(described: list[dict[str, Any]]) -> str:
    names = [camel_case(name) for name in OPTION_NAMES]
    rows = [[f"[{row['id']}](#{row['id']})", *(row["options"][name] for name in names)] for row in described]
    return _write_table(["provider", *names], rows)


def _write_limits(described: list[dict[str, Any]]) -> str:
    rows = [
        [
            row["id"],
            "none" if row["keyless"] else "one",
            str(row["pageSize"]),
            f"{row['maxQuery']:,}",
            "yes" if row["literal"] else "no",
            row["pricePer1000"] or "not stated",
            "yes" if row["cacheable"] else "no",
            row["evidence"] or "asks no vendor",
        ]
        for row in described
    ]
    headings = ["provider", "key", "results a request", "longest query", "literal", "price", "may be cached", "learned from"]
    return _write_table(headings, rows)


def _write_section(toolkit: AnyToolkit) -> str:
    """What its file says of the vendor, then its settings, its risk and its end."""
    module = sys.modules[toolkit.web_search.function.__module__]
    title, _, facts = inspect.cleandoc(module.__doc__ or "").partition("\n")
    lines = [f"## {toolkit.id}", "", f"**{toolkit.name}**. {title}", "", facts.strip()]
    settings = _write_settings(toolkit)
    if settings:
        lines += ["", f"Settings: {settings}."]
    if toolkit.risk:
        lines += ["", f"Risk: {toolkit.risk}"]
    if toolkit.sunset is not None:
        sunset = toolkit.sunset
        successors = ", ".join(sunset.successors) or "none named"
        lines += ["", f"Ends on {sunset.ends}: {sunset.reason}. Successors: {successors}. Source: <{sunset.source}>."]
    return "\n".join([*lines, ""])


def _write_settings(toolkit: AnyToolkit) -> str:
    if toolkit.settings is None:
        return ""
    fields = attrs.fields(toolkit.settings)
    return ", ".join(f"`{f.name}`" + (" (operators only)" if f.metadata.get(OPERATOR_ONLY) else "") for f in fields)


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
