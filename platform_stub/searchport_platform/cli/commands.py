"""The command line's commands, and what they share: settings, logs, one clear line for a failure."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from searchport.errors import ErrorCode, SearchError
from searchport_platform.cli.provider_list import print_providers
from searchport_platform.cli.search_command import SearchOptions, option_help, print_search
from searchport_platform.logs import configure_logs
from searchport_platform.registry import Registry, RegistryError
from searchport_platform.settings import SettingsError, load_settings

__all__ = ["cli"]


@contextmanager
def _one_line() -> Iterator[None]:
    """Turns every expected failure into one line on standard error; 2 for wrong input, 1 for the rest."""
    try:
        yield
    except SearchError as error:
        click.echo(f"searchport: {error.code}: {error}", err=True)
        sys.exit(2 if error.code is ErrorCode.VALIDATION_ERROR else 1)
    except (SettingsError, RegistryError, OSError) as error:
        click.echo(f"searchport: {error}", err=True)
        sys.exit(1)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="searchport", message="%(prog)s %(version)s")
def cli() -> None:
    """Web search through one strict contract, whichever provider answers."""


@cli.command()
@click.argument("query")
@click.option("--provider", required=True, help="Who answers; `searchport providers` lists them.")
@click.option("--max-results", type=int, help=option_help("max_results"))
@click.option("--recency", help=option_help("recency"))
@click.option("--freshness", help=option_help("freshness"))
@click.option("--site", help=option_help("site"))
@click.option("--language", help=option_help("language"))
@click.option("--country", help=option_help("country"))
@click.option("--safe", help=option_help("safe"))
@click.option("--setting", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the provider, such as cx=0123.")
@click.option(
    "--key-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File that holds the provider's key; else SEARCHPORT_API_KEY is read.",
)
@click.option("--deadline", type=click.FloatRange(0.1, 20), default=15, show_default=True, help="Seconds until giving up.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
def search(query: str, **options: Any) -> None:
    """Search the web for QUERY."""
    configure_logs(level=logging.CRITICAL)
    with _one_line():
        asyncio.run(print_search(query, SearchOptions(**options), load_settings()))


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def providers(as_json: bool) -> None:
    """List the enabled providers and what each of them honours."""
    configure_logs(level=logging.CRITICAL)
    with _one_line():
        print_providers(Registry.discover(load_settings().toolkit_changes), as_json=as_json)


@cli.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8080, envvar="PORT", show_default=True, show_envvar=True)
@click.option("--ops-only", is_flag=True, required=True, help="Serve the stateless door: /ops/search, /info and health.")
def serve(host: str, port: int, ops_only: bool) -> None:  # noqa: ARG001  # a required flag: there is one way to serve yet
    """Serve over HTTP until SIGTERM or SIGINT."""
    from searchport_platform.app import build_app
    from searchport_platform.app import serve as serve_app

    configure_logs()
    with _one_line():
        asyncio.run(serve_app(build_app(load_settings()), host, port))
