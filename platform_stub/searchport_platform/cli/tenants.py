"""The operator's commands on tenants: organizations, agents, tokens, switches, keys. They work on the database itself."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TypeVar

import attrs
import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from searchport.wire import camel_case
from searchport_platform.app import build_router
from searchport_platform.cli.failures import one_line
from searchport_platform.logs import configure_logs
from searchport_platform.metering.prices import parse_usd
from searchport_platform.platform import Platform
from searchport_platform.routing.clients import HttpClients
from searchport_platform.settings import load_settings
from searchport_platform.tenancy.administration import Administration
from searchport_platform.tenancy.organizations import CONCURRENCY
from searchport_platform.tenancy.tokens import Scope

__all__ = ["agent", "database_option", "keys", "org", "provider", "run_administration", "token"]

T = TypeVar("T")

database_option = click.option("--database", metavar="URL", help="The database; else SEARCHPORT_DATABASE_URL.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def run_administration(database: str | None, work: Callable[[Administration], Awaitable[T]]) -> T:
    """Runs one piece of administration on the database; a failure is one line and an exit."""

    async def run() -> T:
        settings = load_settings()
        async with AsyncExitStack() as stack:
            clients = await stack.enter_async_context(HttpClients())
            router = build_router(settings, clients)
            url = database or settings.database_url
            opening = Platform.open(
                url,
                secret_keys=settings.secret_keys,
                router=router,
                default_provider=settings.default_provider or None,
                prepare=False,
            )
            platform = await stack.enter_async_context(opening)
            return await work(platform.administration())

    configure_logs(level=logging.CRITICAL)
    with one_line():
        return asyncio.run(run())
    raise AssertionError  # one_line exits


def _print_rows(rows: Sequence[attrs.AttrsInstance], *, as_json: bool, hidden: frozenset[str] = frozenset()) -> None:
    """attrs objects, as a table or as one JSON array."""
    listed = [{name: value for name, value in attrs.asdict(row).items() if name not in hidden} for row in rows]
    if as_json:
        click.echo(json.dumps([{camel_case(n): _plain(v) for n, v in row.items()} for row in listed], indent=2))
        return
    table = Table(box=None, padding=(0, 1))
    for name in listed[0] if listed else []:
        table.add_column(name.replace("_", " "), no_wrap=name == "id", overflow="fold")
    for row in listed:
        table.add_row(*(Text(_show(value)) for value in row.values()))
    Console().print(table if listed else Text("None."))


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else value


def _show(value: object) -> str:
    value = _plain(value)
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value)


@click.group()
def org() -> None:
    """Organizations: make, list, bound and delete them."""


@org.command("create")
@click.argument("organization")
@click.option("--name", help="Words to show to people; else the id.")
@click.option("--provider", help="The provider to begin with; else SEARCHPORT_DEFAULT_PROVIDER.")
@database_option
def create_org(organization: str, name: str | None, provider: str | None, database: str | None) -> None:
    """Make ORGANIZATION, with its `default` agent."""

    async def work(administration: Administration) -> None:
        await administration.create_organization(organization, name or organization, provider=provider)

    run_administration(database, work)
    click.echo(f"Organization {organization} is made. A token for it: searchport token create {organization} --scope search")


@org.command("list")
@json_option
@database_option
def list_orgs(as_json: bool, database: str | None) -> None:
    """List the organizations."""
    _print_rows(run_administration(database, lambda administration: administration.list_organizations()), as_json=as_json)


@org.command("bound")
@click.argument("organization")
@click.option("--allow-provider", "providers", multiple=True, help="A provider that it may select; else every enabled one.")
@click.option("--allow-host", "hosts", multiple=True, metavar="HOST[:PORT]", help="A private host that its calls may reach.")
@click.option("--result-host", "result_hosts", multiple=True, metavar="HOST[:PORT]", help="A private host that results may name.")
@click.option("--allow-private-addresses", is_flag=True, help="Let its calls reach any private address.")
@database_option
def bound_org(
    organization: str,
    providers: tuple[str, ...],
    hosts: tuple[str, ...],
    result_hosts: tuple[str, ...],
    allow_private_addresses: bool,
    database: str | None,
) -> None:
    """Set what ORGANIZATION may select and reach, in place of what was set before."""
    run_administration(
        database,
        lambda administration: administration.bound_organization(
            organization,
            allowed_providers=providers or None,
            allowed_hosts=hosts,
            allow_private_addresses=allow_private_addresses,
            result_hosts=result_hosts,
        ),
    )
    click.echo(f"Organization {organization} is bounded.")


@org.command("limit")
@click.argument("organization")
@click.option("--monthly-budget", metavar="USD", help="US dollars a UTC month, such as 25.50; else none.")
@click.option("--per-minute", type=int, help="Searches in any sixty seconds; else as many as there are.")
@click.option("--concurrency", type=int, default=CONCURRENCY, show_default=True, help="Searches at once, in each process.")
@database_option
def limit_org(
    organization: str, monthly_budget: str | None, per_minute: int | None, concurrency: int, database: str | None
) -> None:
    """Set how much ORGANIZATION may search and spend, in place of what was set before."""
    try:
        budget = None if monthly_budget is None else parse_usd(monthly_budget)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--monthly-budget") from None
    run_administration(
        database,
        lambda administration: administration.limit_organization(
            organization, monthly_budget_microusd=budget, searches_per_minute=per_minute, concurrency=concurrency
        ),
    )
    click.echo(f"Organization {organization} is limited.")


@org.command("setting")
@click.argument("organization")
@click.argument("provider")
@click.argument("settings", nargs=-1, metavar="[NAME=VALUE]...")
@database_option
def set_org(organization: str, provider: str, settings: tuple[str, ...], database: str | None) -> None:
    """Set PROVIDER's operator-only settings for ORGANIZATION, in place of those before; none given takes them away."""
    odd = [pair for pair in settings if "=" not in pair]
    if odd:
        raise click.UsageError(f"{odd[0][:40]!r} is no NAME=VALUE pair")
    values = dict(pair.partition("=")[::2] for pair in settings)
    run_administration(database, lambda administration: administration.put_operator_settings(organization, provider, values))
    click.echo(f"Settings of {provider} for {organization}: {', '.join(values) or 'none'}.")


@org.command("delete")
@click.argument("organization")
@click.option("--yes", is_flag=True, help="Do not ask.")
@database_option
def delete_org(organization: str, yes: bool, database: str | None) -> None:
    """Delete ORGANIZATION with all its data."""
    if not yes:
        click.confirm(f"Delete {organization} with its agents, tokens, keys, selection and audit trail?", abort=True)
    run_administration(database, lambda administration: administration.delete_organization(organization))
    click.echo(f"Organization {organization} is deleted.")


@click.group()
def agent() -> None:
    """Agents: on whose behalf an organization's calls are made."""


@agent.command("put")
@click.argument("organization")
@click.argument("name")
@click.option("--tool", "tools", multiple=True, help="A tool that it may use, such as web.search or web.*")
@click.option("--credential", "credentials", multiple=True, help="A credential that it may use: search.apiKey")
@click.option("--max-searches-per-day", "cap", type=int, help="Searches a UTC day; 0 refuses all; else as it is, or 200.")
@database_option
def put_agent(
    organization: str, name: str, tools: tuple[str, ...], credentials: tuple[str, ...], cap: int | None, database: str | None
) -> None:
    """Make the agent NAME of ORGANIZATION, or change its gates. Nothing is allowed that is not listed."""
    run_administration(
        database,
        lambda administration: administration.put_agent(
            organization, name, tools=tools, credentials=credentials, max_searches_per_day=cap
        ),
    )
    click.echo(
        f"Agent {name} of {organization}: tools {', '.join(tools) or 'none'}; credentials {', '.join(credentials) or 'none'}."
    )


@agent.command("bound")
@click.argument("organization")
@click.argument("name")
@click.option("--allow-host", "hosts", multiple=True, metavar="HOST[:PORT]", help="A private host that its calls may reach.")
@click.option("--allow-private-addresses", is_flag=True, help="Let its calls reach any private address.")
@database_option
def bound_agent(
    organization: str, name: str, hosts: tuple[str, ...], allow_private_addresses: bool, database: str | None
) -> None:
    """Set what the agent NAME of ORGANIZATION may reach, in place of what was set before."""
    run_administration(
        database,
        lambda administration: administration.bound_agent(
            organization, name, allowed_hosts=hosts, allow_private_addresses=allow_private_addresses
        ),
    )
    click.echo(f"Agent {name} of {organization} is bounded.")


@agent.command("list")
@click.argument("organization")
@json_option
@database_option
def list_agents(organization: str, as_json: bool, database: str | None) -> None:
    """List the agents of ORGANIZATION."""
    _print_rows(run_administration(database, lambda administration: administration.list_agents(organization)), as_json=as_json)


@click.group()
def token() -> None:
    """Tokens: what callers bear."""


@token.command("create")
@click.argument("organization", required=False)
@click.option("--scope", "scopes", multiple=True, required=True, type=click.Choice([str(scope) for scope in Scope]))
@click.option("--name", default="from the command line", show_default=True, help="Words that tell it from others.")
@click.option("--agent", "agent_name", help="The agent that it is bound to.")
@database_option
def create_token(
    organization: str | None, scopes: tuple[str, ...], name: str, agent_name: str | None, database: str | None
) -> None:
    """Make a token for ORGANIZATION, or without one an operator's; it is shown this once."""
    if (organization is None) != (set(scopes) == {"operator"}) or (organization is not None and "operator" in scopes):
        raise click.UsageError("give an organization, or the one scope `operator`")
    _, text = run_administration(
        database,
        lambda administration: administration.issue_token(
            organization, name=name, scopes=[Scope(scope) for scope in scopes], agent=agent_name
        ),
    )
    click.echo(text)


@token.command("list")
@click.argument("organization", required=False)
@json_option
@database_option
def list_tokens(organization: str | None, as_json: bool, database: str | None) -> None:
    """List the tokens of ORGANIZATION, or the operators'; never their secrets."""
    _print_rows(run_administration(database, lambda administration: administration.list_tokens(organization)), as_json=as_json)


@token.command("revoke")
@click.argument("token_id")
@click.argument("organization", required=False)
@database_option
def revoke_token(token_id: str, organization: str | None, database: str | None) -> None:
    """Delete the token TOKEN_ID of ORGANIZATION, or an operator's."""
    if not run_administration(database, lambda administration: administration.revoke_token(organization, token_id)):
        raise click.ClickException(f"there is no token {token_id}")
    click.echo(f"Token {token_id} is revoked.")


@click.group()
def provider() -> None:
    """A provider's emergency switch."""


@provider.command("off")
@click.argument("provider_id")
@click.option("--reason", required=True, help="Why; shown to every caller.")
@database_option
def turn_off(provider_id: str, reason: str, database: str | None) -> None:
    """Turn PROVIDER_ID off for every organization, from the very next call on."""
    run_administration(database, lambda administration: administration.turn_off(provider_id, reason))
    click.echo(f"Provider {provider_id} is off everywhere.")


@provider.command("on")
@click.argument("provider_id")
@database_option
def turn_on(provider_id: str, database: str | None) -> None:
    """Take the switch back."""
    was_off = run_administration(database, lambda administration: administration.turn_on(provider_id))
    click.echo(f"Provider {provider_id} is {'on again' if was_off else 'on, as it was'}.")


@click.group()
def keys() -> None:
    """The keys that seal credentials."""


@keys.command("rotate")
@database_option
def rotate(database: str | None) -> None:
    """Seal every credential anew with the first of SEARCHPORT_SECRET_KEYS.

    Runs beside everything else; broken off, it is begun again where it stopped. Afterwards the old key can be taken out.
    """

    async def work(administration: Administration) -> None:
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("Sealing anew", total=None)
            async for left in administration.rotate_keys():
                progress.update(task, description=f"Sealing anew, {left} left")

    run_administration(database, work)
    click.echo("Every credential is sealed with the first key.")
