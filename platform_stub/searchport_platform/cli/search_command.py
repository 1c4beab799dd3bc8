"""`searchport search`: one search in this process, shown as a table or as JSON."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping
from pathlib import Path

import attrs
import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from searchport.errors import SearchError
from searchport.request import SearchRequest, parse_request
from searchport.result import Envelope, RankedResult, render_envelope
from searchport.wire import OPTION, camel_case
from searchport_platform.app import build_router
from searchport_platform.registry import AnyToolkit
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Route
from searchport_platform.settings import Settings, SettingsError, read_secret

__all__ = ["SearchOptions", "option_help", "print_search", "read_key", "read_settings"]

KEY_VARIABLE = "SEARCHPORT_API_KEY"


@attrs.frozen(kw_only=True)
class SearchOptions:
    """The command's options, as given."""

    provider: str
    max_results: int | None
    recency: str | None
    freshness: str | None
    site: str | None
    language: str | None
    country: str | None
    safe: str | None
    settings: tuple[str, ...]
    key_file: Path | None
    deadline: float
    as_json: bool


def option_help(name: str) -> str:
    """The contract's own words for an option."""
    words: str = attrs.fields_dict(SearchRequest)[name].metadata[OPTION].words
    return words


async def print_search(query: str, options: SearchOptions, settings: Settings) -> None:
    """Searches and prints the answer. Raises SearchError, SettingsError, RegistryError, OSError."""
    async with HttpClients() as clients:
        router = build_router(settings, clients)
        toolkit = router.registry.get(options.provider)
        route = Route(
            toolkit=toolkit,
            settings=read_settings(options.settings, toolkit),
            credential=None if toolkit.is_keyless else read_key(options.key_file),
        )
        request = _read_request(query, options)
        with Console(stderr=True).status(f"Asking {toolkit.name} …"):
            envelope = await router.dispatch(route, request, request_id=uuid.uuid4().hex, deadline_seconds=options.deadline)
    if options.as_json:
        click.echo(json.dumps(render_envelope(envelope), ensure_ascii=False, indent=2))
    else:
        _print_table(envelope)


def _read_request(query: str, options: SearchOptions) -> SearchRequest:
    names = {field.name for field in attrs.fields(SearchRequest)} & {field.name for field in attrs.fields(SearchOptions)}
    return parse_request({"query": query} | {camel_case(name): getattr(options, name) for name in names})


def read_key(path: Path | None) -> str:
    """The provider's key, from the file or the environment. Raises SettingsError."""
    key = read_secret("--key-file", path) if path is not None else os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        raise SettingsError(f"this provider takes a key; put it in {KEY_VARIABLE}, or in a file that --key-file names")
    return key


def read_settings(pairs: tuple[str, ...], toolkit: AnyToolkit) -> Mapping[str, object]:
    """`cx=0123` pairs; a setting that is not a text is written as JSON."""
    types = (
        {}
        if toolkit.settings is None
        else {field.name: field.type for field in attrs.fields(attrs.resolve_types(toolkit.settings))}
    )
    values: dict[str, object] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise SearchError.invalid("--setting", f"{pair[:20]!r} is no NAME=VALUE pair")
        values[name.strip()] = text if types.get(name.strip(), str) is str else _read_value(text)
    return values


def _read_value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _print_table(envelope: Envelope) -> None:
    console = Console()
    table = Table(box=None, padding=(0, 1), show_header=False)
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(style="cyan", no_wrap=True)
    for result in envelope.results:
        table.add_row(str(result.rank), _render_result(result), Text((result.published_date or "")[:10]))
    console.print(table if envelope.results else Text("No results."))
    for line in _read_footer(envelope):
        console.print(Text(line, style="dim"))


def _render_result(result: RankedResult) -> Text:
    lines = [Text(result.title, style="bold"), Text(result.url, style="blue")]
    return Text("\n").join([*lines, Text(f"{result.snippet or ''}\n")])


def _list(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counted.items())


def _read_footer(envelope: Envelope) -> list[str]:
    counted = {name: count for name, count in attrs.asdict(envelope.filter_report).items() if count}
    kept, hidden = counted.pop("kept_by_bound", 0), counted.pop("hidden_characters", 0)
    count = len(envelope.results)
    lines = [f"{count} {'result' if count == 1 else 'results'} from {envelope.vendor}: the pages' own words, not instructions."]
    lines += [f"Left out: {_list(counted)}."] if counted else []
    lines += [f"Kept by the earliest instant that their date allows: {kept}."] if kept else []
    lines += [f"Hidden characters removed: {hidden}."] if hidden else []
    lines += [f"Ignored: {', '.join(envelope.ignored)}."] if envelope.ignored else []
    return lines + [f"Notice: {notice.message}." for notice in envelope.notices]
