"""`searchport mcp`: the platform's search for one agent on this machine, over standard input and output."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import click

from searchport.errors import ErrorCode, SearchError
from searchport_platform.app import build_router
from searchport_platform.cli.failures import one_line
from searchport_platform.cli.tenants import database_option
from searchport_platform.doors.mcp import is_installed
from searchport_platform.logs import configure_logs
from searchport_platform.metering.prices import Prices
from searchport_platform.platform import Platform
from searchport_platform.routing.clients import HttpClients
from searchport_platform.settings import SettingsError, load_settings, read_secret
from searchport_platform.tenancy.tokens import Scope

__all__ = ["mcp", "read_token"]

TOKEN_VARIABLE = "SEARCHPORT_TOKEN"  # noqa: S105  # a name, not a secret


@click.command()
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"File that holds the caller's search token; else {TOKEN_VARIABLE} is read.",
)
@database_option
def mcp(token_file: Path | None, database: str | None) -> None:
    """Serve the tool `web_search` over MCP on standard input and output, until the input ends."""
    configure_logs()
    with one_line():
        if not is_installed():
            raise SettingsError("this command needs the package 'mcp'; install it with: pip install 'searchport[mcp]'")
        asyncio.run(_run(read_token(token_file), database))


def read_token(path: Path | None) -> str:
    """The caller's token, from the file or the environment. Raises SettingsError."""
    token = read_secret("--token-file", path) if path is not None else os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        raise SettingsError(f"put a search token in {TOKEN_VARIABLE}, or in a file that --token-file names")
    return token


async def _run(token: str, database: str | None) -> None:
    """Serves until the input ends or a signal comes. Raises SearchError where the token allows no search."""
    from searchport_platform.doors.mcp_server import serve_stdio

    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    async with _open_platform(database) as platform:
        await _check(platform, token)
        serving = asyncio.create_task(serve_stdio(platform, token))
        stopped = asyncio.create_task(stopping.wait())
        await asyncio.wait((serving, stopped), return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
    if serving.done():
        await serving
    else:
        # A thread still waits for a line of input, and nothing wakes it. Everything else is closed, records are written: leave
        # without it.
        sys.stderr.flush()
        os._exit(0)


async def _check(platform: Platform, token: str) -> None:
    """Fails at the start, where a person sees it, instead of at every call."""
    try:
        caller = await platform.authenticate(token)
    except SearchError as error:
        if error.code is not ErrorCode.UNAUTHORIZED:
            raise
        raise SettingsError(
            "this database knows no such token, or it has expired; make one with: searchport token create"
        ) from None
    caller.check_scope(Scope.SEARCH)


@asynccontextmanager
async def _open_platform(database: str | None) -> AsyncIterator[Platform]:
    settings = load_settings()
    async with HttpClients() as clients:
        opening = Platform.open(
            database or settings.database_url,
            secret_keys=settings.secret_keys,
            router=build_router(settings, clients, public_url=settings.public_url or None),
            default_provider=settings.default_provider or None,
            prices=Prices.parse(settings.prices),
            record_days=settings.kept_days,
        )
        async with opening as platform:
            yield platform
