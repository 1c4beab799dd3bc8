"""Operator settings: what a provider's settings class marks as the operator's alone, for one organization."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport_platform.storage.schema import operator_settings

__all__ = ["all_of", "put"]


async def all_of(connection: AsyncConnection, organization: str) -> dict[str, Mapping[str, object]]:
    """Provider id -> the operator's settings for this organization."""
    query = select(operator_settings).where(operator_settings.c.organization == organization)
    return {row["provider"]: row["settings"] for row in (await connection.execute(query)).mappings()}


async def put(connection: AsyncConnection, organization: str, provider: str, settings: Mapping[str, object]) -> None:
    """Sets them, in place of those before; an empty mapping takes them away."""
    table = operator_settings
    await connection.execute(delete(table).where(table.c.organization == organization, table.c.provider == provider))
    if settings:
        values = {"organization": organization, "provider": provider, "settings": dict(settings)}
        await connection.execute(insert(table).values(values))
