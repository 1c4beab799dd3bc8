"""Operator settings: what a provider's settings class marks as the operator's alone, for one organization."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cache

from sqlalchemy import Executable, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport_platform.storage.asked import Asked
from searchport_platform.storage.schema import operator_settings

__all__ = ["Settings", "all_of", "put", "read_all"]

Settings = Mapping[str, Mapping[str, object]]
"""Provider id -> the operator's settings for an organization."""


_ASKED = Asked({"organization": str})


async def all_of(connection: AsyncConnection, organization: str) -> Settings:
    """Those of one organization."""
    return (await read_all(connection, {organization}))[organization]


async def read_all(connection: AsyncConnection, organizations: Collection[str]) -> Mapping[str, Settings]:
    """Organization -> its own, empty where there are none."""
    dialect = connection.dialect.name
    values = _ASKED.values(dialect, [(organization,) for organization in sorted(organizations)])
    found: dict[str, dict[str, Mapping[str, object]]] = defaultdict(dict)
    for organization, provider, settings in await connection.execute(_settings(dialect), values):
        found[organization][provider] = settings
    return {organization: found[organization] for organization in organizations}


@cache
def _settings(dialect: str) -> Executable:
    rows = _ASKED.table(dialect)
    table = operator_settings
    return select(table).join_from(rows, table, table.c.organization == rows.c.organization)


async def put(connection: AsyncConnection, organization: str, provider: str, settings: Mapping[str, object]) -> None:
    """Sets them, in place of those before; an empty mapping takes them away."""
    table = operator_settings
    await connection.execute(delete(table).where(table.c.organization == organization, table.c.provider == provider))
    if settings:
        values = {"organization": organization, "provider": provider, "settings": dict(settings)}
        await connection.execute(insert(table).values(values))
