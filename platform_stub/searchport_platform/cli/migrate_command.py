"""`searchport migrate google-cse`: a file of Custom Search calls, replayed, and what would change."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

import attrs
import click

from searchport.client import AsyncClient
from searchport.client.progress import show_progress
from searchport.errors import SearchError
from searchport.request import SearchRequest
from searchport_platform.app import build_router
from searchport_platform.cli.failures import one_line
from searchport_platform.cli.mcp_command import TOKEN_VARIABLE, read_token
from searchport_platform.cli.migrate_report import print_report
from searchport_platform.cli.search_command import KEY_VARIABLE, read_key, read_settings
from searchport_platform.logs import configure_logs
from searchport_platform.metering.prices import Prices
from searchport_platform.migration.calls import CallFile, read_calls
from searchport_platform.migration.replay import Replay
from searchport_platform.migration.report import Report, build_report, render_report
from searchport_platform.migration.sides import GoogleSide, PlatformSide, ProviderSide, Side
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.route import Route
from searchport_platform.routing.router import Router
from searchport_platform.settings import Settings, SettingsError, load_settings, read_secret

__all__ = ["MigrateOptions", "migrate"]

_SECRET_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_LINES_TOLD = 10
"""Skipped lines that are told one by one on standard error; `--json` has more."""
INTERRUPTED = 130
"""Exit status of a command that SIGINT ended (POSIX shells: 128 and the signal's number)."""


@click.group()
def migrate() -> None:
    """Leave a search API: see what would change before you switch."""


@attrs.frozen(kw_only=True)
class MigrateOptions:
    """The command's options, as given."""

    provider: str | None
    settings: tuple[str, ...]
    key_file: Path | None
    url: str | None
    token_file: Path | None
    google_key_file: Path | None
    limit: int
    concurrency: int
    deadline: float
    dry_run: bool
    show_queries: bool
    as_json: bool


@migrate.command("google-cse")
@click.argument("file", type=click.File("rb"))
@click.option("--provider", help="Who would answer; `searchport providers` lists them.")
@click.option("--setting", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the provider.")
@click.option("--key-file", type=_SECRET_FILE, help=f"File that holds the provider's key; else {KEY_VARIABLE} is read.")
@click.option("--url", help="Ask a platform instead, whose organization has chosen its provider: its address.")
@click.option("--token-file", type=_SECRET_FILE, help=f"File that holds the platform's token; else {TOKEN_VARIABLE} is read.")
@click.option(
    "--google-key-file", type=_SECRET_FILE, help="File that holds a key of Google's; with it Google is asked too, to compare."
)
@click.option(
    "--limit", type=click.IntRange(1), default=50, show_default=True, help="Different calls to ask, the most frequent first."
)
@click.option("--concurrency", type=click.IntRange(1, 16), default=4, show_default=True, help="Calls at a time.")
@click.option("--deadline", type=click.FloatRange(0.1, 20), default=15, show_default=True, help="Seconds until giving up a call.")
@click.option("--dry-run", is_flag=True, help="Ask no vendor: tell what would be refused, ignored and paid.")
@click.option("--show-queries", is_flag=True, help="Print the queries too; else nothing of any call is shown.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def google_cse(file: IO[bytes], **given: Any) -> None:
    """Replay the Custom Search calls in FILE against another provider, and print what would change.

    FILE: a call a line, as its URL or as a line of an access log; - is standard input. Keys in it are dropped.
    """
    configure_logs(level=logging.CRITICAL)
    options = MigrateOptions(**given)
    if (options.provider is None) == (options.url is None):
        raise click.UsageError("give either --provider, or the --url of a platform")
    with one_line():
        calls = read_calls(file)
        _tell_skipped(calls)
        report = asyncio.run(_run(calls, options, load_settings()))
    if options.as_json:
        click.echo(json.dumps(render_report(report), ensure_ascii=False, indent=2))
    else:
        print_report(report)
    sys.exit(_exit_status(report))


def _tell_skipped(calls: CallFile) -> None:
    """Raises SearchError where there is no call at all."""
    for line in calls.unread[:_LINES_TOLD]:
        click.echo(f"searchport: line {line.number} is skipped: {line.why}", err=True)
    if calls.skipped > _LINES_TOLD:
        click.echo(f"searchport: {calls.skipped - _LINES_TOLD:,} more lines are skipped", err=True)
    if not calls.calls:
        what = f"skipped lines: {calls.skipped:,}; other requests: {calls.others:,}"
        message = f"holds no Custom Search call ({what}); expected URLs, or lines of an access log, with `/customsearch/v1?q=…`"
        raise SearchError.invalid("FILE", message)


async def _run(calls: CallFile, options: MigrateOptions, settings: Settings) -> Report:
    """The report; where SIGINT ends the run, of what is known by then. Raises SearchError, SettingsError, RegistryError."""
    prices, interrupted = Prices.parse(settings.prices), False
    async with HttpClients() as clients:
        router = build_router(settings, clients)
        async with _open_side(options, router, prices) as side:
            google = None if options.dry_run else _open_google(options, router)
            replay = Replay(file=calls, side=side, google=google, limit=options.limit, concurrency=options.concurrency)
            try:
                await replay.expect()
                if not options.dry_run:
                    with show_progress(len(replay.sample), wanted=True) as advance:
                        await replay.run(advance)
            except asyncio.CancelledError:  # what `asyncio.run` makes of SIGINT
                interrupted = True
                _go_on()
        return build_report(
            replay, prices, router.registry, interrupted=interrupted, dry=options.dry_run, queries=options.show_queries
        )


def _go_on() -> None:
    """Takes the cancellation back, so that what is open can be closed in order."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


@asynccontextmanager
async def _open_side(options: MigrateOptions, router: Router, prices: Prices) -> AsyncIterator[Side]:
    if options.url is not None:
        async with AsyncClient(options.url, read_token(options.token_file)) as client:
            yield PlatformSide(client=client)
        return
    toolkit = router.registry.get(options.provider or "")
    is_keyless = toolkit.is_keyless or (options.dry_run and options.key_file is None)
    route = Route(
        toolkit=toolkit,
        settings=read_settings(options.settings, toolkit),
        credential=_NO_KEY if is_keyless else read_key(options.key_file),
    )
    router.check(route, SearchRequest("any"))
    yield ProviderSide(router=router, route=route, prices=prices, deadline_seconds=options.deadline)


_NO_KEY = "-"
"""Stands for a key where none is sent: a dry run sends nothing, and a keyless provider takes none."""


def _open_google(options: MigrateOptions, router: Router) -> GoogleSide | None:
    if options.google_key_file is None:
        return None
    key = read_secret("--google-key-file", options.google_key_file)
    google = GoogleSide(router=router, key=key, deadline_seconds=options.deadline)
    try:
        google.check()
    except SearchError as error:
        raise SettingsError(f"Google cannot be asked: {error}; or leave out --google-key-file") from None
    return google


def _exit_status(report: Report) -> int:
    """130 where it was interrupted; 1 where no call would go out, or none was answered; else 0."""
    if report.is_interrupted:
        return INTERRUPTED
    answered = report.target_numbers is not None and report.target_numbers.answered > 0
    return 0 if answered or (report.is_dry_run and report.refused < report.examined) else 1
