"""The report of a migration as a terminal shows it."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from searchport_platform.metering.prices import write_usd
from searchport_platform.migration.report import CallNumbers, Report, SideNumbers

__all__ = ["print_report"]

_MOST_CALLS = 10
"""Calls that are told one by one where queries are not shown."""
_NONE = "–"


def print_report(report: Report) -> None:
    """Prints it on standard output."""
    console = Console()
    for line in _read_head(report):
        console.print(Text(line))
    if report.changes:
        console.print(_draw_changes(report))
    else:
        console.print(Text("Every parameter is honoured."))
    if report.target_numbers is not None:
        console.print(_draw_sides(report))
    least_alike = _find_least_alike(report)
    if least_alike:
        console.print(_draw_calls(least_alike))
    for line in _read_foot(report):
        console.print(Text(line, style="dim"))


def _read_head(report: Report) -> list[str]:
    lines = [f"{report.source} → {report.target}. Calls: {report.calls:,}; different ones: {report.distinct_calls:,}."]
    if report.skipped_lines or report.other_requests:
        lines.append(f"Lines skipped: {report.skipped_lines:,}. Requests that are no search: {report.other_requests:,}.")
    goes = report.examined - report.refused
    codes = f" ({_list(report.refusals)})" if report.refused else ""
    lines.append(f"Examined: {report.examined:,}; would go out: {goes:,}; would be refused: {report.refused:,}{codes}.")
    return lines


def _draw_changes(report: Report) -> Table:
    table = Table(box=None, padding=(0, 1), title="What would change", title_justify="left", title_style="bold")
    table.add_column("parameter", no_wrap=True)
    table.add_column("calls", justify="right")
    table.add_column("becomes", no_wrap=True)
    table.add_column("why", overflow="fold")
    for change in report.changes:
        table.add_row(Text(change.parameter), f"{change.calls:,}", change.becomes, Text(change.why))
    return table


def _draw_sides(report: Report) -> Table:
    sides = [side for side in (report.google_numbers, report.target_numbers) if side is not None]
    table = Table(box=None, padding=(0, 1), title=f"Asked: {report.asked:,}", title_justify="left", title_style="bold")
    table.add_column("")
    for name in ([report.source] if report.google_numbers is not None else []) + [report.target]:
        table.add_column(Text(name), justify="right")
    for words, read in _ROWS.items():
        table.add_row(words, *(read(side) for side in sides))
    if report.google_numbers is not None:
        table.add_row("of Google's first ten", "", _share(report.overlap))
    return table


def _seconds(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f} s"


def _share(value: float | None) -> str:
    return _NONE if value is None else f"{value:.0%}"


def _usd(microusd: int | None) -> str:
    return "no price known" if microusd is None else f"{write_usd(microusd)} USD"


def _list(counted: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counted.items())


_ROWS: dict[str, Callable[[SideNumbers], str]] = {
    "answered": lambda side: f"{side.answered:,}",
    "failed": lambda side: _list(side.failed) or "0",
    "without results": lambda side: f"{side.without_results:,}",
    "results a call": lambda side: _NONE if side.results_per_call is None else f"{side.results_per_call:.1f}",
    "results with a date": lambda side: _share(side.dated_share),
    "median": lambda side: _seconds(side.median_seconds),
    "95th percentile": lambda side: _seconds(side.p95_seconds),
    "vendor requests": lambda side: _NONE if side.vendor_requests is None else f"{side.vendor_requests:,}",
    "paid for these": lambda side: _usd(side.cost_microusd),
}


def _find_least_alike(report: Report) -> list[CallNumbers]:
    """Those that lose most; with queries all that were asked."""
    compared = [call for call in report.asked_calls if call.overlap is not None]
    if any(call.query is not None for call in report.asked_calls):
        return sorted(report.asked_calls, key=lambda call: (call.overlap is None, call.overlap or 0.0, call.line))
    return sorted(compared, key=lambda call: (call.overlap or 0.0, call.line))[:_MOST_CALLS]


def _draw_calls(calls: list[CallNumbers]) -> Table:
    table = Table(box=None, padding=(0, 1), title="Call by call, the least alike first", title_justify="left", title_style="bold")
    for name in ("line", "times", "of Google's ten", "results", "before"):
        table.add_column(name, justify="right")
    table.add_column("outcome", no_wrap=True)
    has_queries = any(call.query is not None for call in calls)
    if has_queries:
        table.add_column("query", overflow="fold")
    for call in calls:
        results, before = (_NONE if count is None else f"{count:,}" for count in (call.results, call.results_before))
        shown = [Text(_printable(call.query or ""))] if has_queries else []
        table.add_row(f"{call.line:,}", f"{call.times:,}", _share(call.overlap), results, before, call.outcome, *shown)
    return table


def _printable(text: str) -> str:
    """Without what would steer a terminal."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def _read_foot(report: Report) -> list[str]:
    costs = {report.target: report.expected_cost_microusd, report.source: report.google_cost_microusd}
    told = "; ".join(f"{name}: {_usd(cost)}" for name, cost in costs.items())
    lines = [f"Cost of those that would go out, at most, free quotas aside: {told}."]
    if report.is_interrupted:
        lines.append(f"Interrupted: {report.asked:,} of {report.to_ask:,} had been asked.")
    return lines
