"""`searchport demo`: the whole platform with an organization to try, on results from the product's own manual."""

from __future__ import annotations

import json
import secrets
import tempfile
from contextlib import ExitStack
from pathlib import Path

import attrs
import click

from searchport_platform.app import bind, local_url, open_app, serve
from searchport_platform.platform import Platform
from searchport_platform.settings import load_settings
from searchport_platform.tenancy.tokens import Scope

__all__ = ["run_demo"]

ORGANIZATION = "demo"
PROVIDER = "local"
TOKEN_NAME = "demo"  # noqa: S105  # a name, not a secret


@attrs.frozen(kw_only=True)
class DemoAccess:
    """What a person needs to try it; tokens of an earlier run no longer work."""

    url: str
    search_token: str = attrs.field(repr=False)
    admin_token: str = attrs.field(repr=False)
    ops_token: str = attrs.field(repr=False)


async def run_demo(port: int, data: Path | None, *, as_json: bool) -> None:
    """Serves until SIGTERM or SIGINT; prints the tokens once connections are accepted. Raises as `open_app` does."""
    with ExitStack() as stack:
        listening = stack.enter_context(bind("127.0.0.1", port))
        if data is None:
            data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="searchport-demo-")))
        data.mkdir(parents=True, exist_ok=True)
        url = local_url(listening)
        ops_token = secrets.token_urlsafe(32)
        settings = attrs.evolve(
            load_settings(), database_url=f"sqlite:///{data / 'searchport.db'}", ops_token=ops_token, public_url=url
        )
        async with open_app(settings) as (app, platform):
            assert platform is not None  # noqa: S101  # open_app without ops_only opens one
            access = await _prepare(platform, url, ops_token)
            await serve(app, listening, on_ready=lambda: click.echo(_render_json(access) if as_json else _render(access)))


async def _prepare(platform: Platform, url: str, ops_token: str) -> DemoAccess:
    """Makes the organization where it is not there, lets its results point to this server, and issues fresh tokens."""
    administration = platform.administration()
    if ORGANIZATION not in {organization.id for organization in await administration.list_organizations()}:
        await administration.create_organization(ORGANIZATION, "Demo", provider=PROVIDER)
    organization = await administration.get_organization(ORGANIZATION)
    await administration.bound_organization(
        ORGANIZATION,
        allowed_providers=organization.allowed_providers,
        allowed_hosts=organization.allowed_hosts,
        allow_private_addresses=organization.allow_private_addresses,
        result_hosts=[url.removeprefix("http://")],
    )
    for token in await administration.list_tokens(ORGANIZATION):
        if token.name == TOKEN_NAME:
            await administration.revoke_token(ORGANIZATION, token.id)
    _, search_token = await administration.issue_token(ORGANIZATION, name=TOKEN_NAME, scopes=[Scope.SEARCH])
    _, admin_token = await administration.issue_token(ORGANIZATION, name=TOKEN_NAME, scopes=[Scope.ADMIN])
    return DemoAccess(url=url, search_token=search_token, admin_token=admin_token, ops_token=ops_token)


def _render_json(access: DemoAccess) -> str:
    return json.dumps(
        {
            "url": access.url,
            "organization": ORGANIZATION,
            "searchToken": access.search_token,
            "adminToken": access.admin_token,
            "opsToken": access.ops_token,
        }
    )


def _render(access: DemoAccess) -> str:
    return f"""
Searchport is serving on {access.url}, organization {ORGANIZATION!r}, provider {PROVIDER!r}: this product's manual.

Search token  {access.search_token}
Admin token   {access.admin_token}

A search to copy:

  curl {access.url}/api/platform/v1/action/search/web \\
    -H 'Authorization: Bearer {access.search_token}' \\
    -H 'Content-Type: application/json' -d '{{"query": "freshness", "maxResults": 3}}'

What the providers honour, and which is selected:

  curl {access.url}/api/platform/v1/organizations/{ORGANIZATION}/search/providers \\
    -H 'Authorization: Bearer {access.admin_token}'

The manual: {access.url}/docs
Press Ctrl-C to stop.
"""
