"""`searchport usage`: what an organization's searches add up to, as a table with bars."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from searchport_platform.cli.failures import one_line
from searchport_platform.cli.tenants import database_option, json_option, run_administration
from searchport_platform.doors.usage import render_usage
from searchport_platform.metering.prices import write_usd
from searchport_platform.metering.usage import Question, Usage

__all__ = ["usage"]

_BAR_CELLS = 24
_PARTS = " ▏▎▍▌▋▊▉"


@click.command()
@click.argument("organization")
@click.option("--from", "first", metavar="DAY", help="First UTC day, such as 2026-11-01; else this month's first.")
@click.option("--to", "last", metavar="DAY", help="Last UTC day, included; else today.")
@click.option("--by", default="day", show_default=True, help="What tells lines apart: day, agent, provider, outcome, by comma.")
@json_option
@database_option
def usage(organization: str, first: str | None, last: str | None, by: str, as_json: bool, database: str | None) -> None:
    """Print what the searches of ORGANIZATION add up to."""
    with one_line():
        question = Question.parse(first, last, by, datetime.now(UTC).date())
    lines = run_administration(database, lambda administration: administration.read_usage(organization, question))
    if as_json:
        click.echo(json.dumps(render_usage(question, lines), indent=2))
        return
    Console().print(_draw(question, lines) if lines else Text(f"No searches from {question.first} to {question.last}."))


def _draw(question: Question, lines: Sequence[Usage]) -> Table:
    table = Table(box=None, padding=(0, 1), show_footer=True)
    for number, name in enumerate(question.by):
        table.add_column(name, "total" if number == 0 else "")
    most = max(line.searches for line in lines)
    table.add_column("searches", str(sum(line.searches for line in lines)), justify="right")
    table.add_column("")
    table.add_column("requests", str(sum(line.vendor_requests for line in lines)), justify="right")
    table.add_column("USD", write_usd(sum(line.cost_microusd for line in lines)), justify="right")
    for line in lines:
        told = [Text(str(getattr(line, name))) for name in question.by]
        table.add_row(
            *told,
            str(line.searches),
            Text(_bar(line.searches, most)),
            str(line.vendor_requests),
            write_usd(line.cost_microusd),
        )
    return table


def _bar(value: int, most: int) -> str:
    """A bar of at most 24 cells, in eighths of one; what is not nothing shows."""
    eighths = max(1 if value else 0, round(value / most * _BAR_CELLS * 8))
    return "█" * (eighths // 8) + _PARTS[eighths % 8].strip()
