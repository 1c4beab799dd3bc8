"""The command line's commands, and what they share: settings, logs, one clear line for a failure."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import attrs
import click

from searchport_platform.cli.demo_command import run_demo
from searchport_platform.cli.failures import one_line
from searchport_platform.cli.mcp_command import mcp
from searchport_platform.cli.migrate_command import migrate
from searchport_platform.cli.provider_list import print_providers
from searchport_platform.cli.search_command import SearchOptions, option_help, print_search
from searchport_platform.cli.tenants import agent, database_option, keys, org, provider, token
from searchport_platform.cli.toolkit_command import toolkit
from searchport_platform.cli.usage_command import usage
from searchport_platform.logs import configure_logs
from searchport_platform.registry import Registry
from searchport_platform.settings import load_settings

__all__ = ["cli"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="searchport", message="%(prog)s %(version)s")
def cli() -> None:
    """Web search through one strict contract, whichever provider answers."""


for _group in (org, agent, token, provider, keys, usage, mcp, migrate, toolkit):
    cli.add_command(_group)


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
    with one_line():
        asyncio.run(print_search(query, SearchOptions(**options), load_settings()))


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def providers(as_json: bool) -> None:
    """List the enabled providers and what each of them honours."""
    configure_logs(level=logging.CRITICAL)
    with one_line():
        print_providers(Registry.discover(load_settings().toolkit_changes), as_json=as_json)


@cli.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8080, envvar="PORT", show_default=True, show_envvar=True)
@database_option
@click.option("--ops-only", is_flag=True, help="Serve the stateless door alone; no database is opened.")
def serve(host: str, port: int, database: str | None, ops_only: bool) -> None:
    """Serve over HTTP until SIGTERM or SIGINT."""
    from searchport_platform.app import bind, local_url, open_app
    from searchport_platform.app import serve as serve_app

    async def run() -> None:
        settings = load_settings()
        if database is not None:
            settings = attrs.evolve(settings, database_url=database)
        with bind(host, port) as listening:
            async with open_app(settings, ops_only=ops_only, public_url=local_url(listening)) as (app, _):
                await serve_app(app, listening)

    configure_logs()
    with one_line():
        asyncio.run(run())


@cli.command()
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8080, show_default=True, help="Port to listen on; 0: any free one."
)
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder that keeps the demo's database; else a new one that is deleted at the end.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON instead, once connections are accepted.")
def demo(port: int, data: Path | None, as_json: bool) -> None:
    """Serve the platform with an organization to try: no key, no internet, real results from the manual."""
    configure_logs(level=logging.INFO if as_json else logging.WARNING)
    with one_line():
        asyncio.run(run_demo(port, data, as_json=as_json))
