"""Switches: providers that an operator has turned off everywhere, at once, in every process."""

from __future__ import annotations

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport_platform.storage.schema import switches
from searchport_platform.tenancy import clock

__all__ = ["all_off", "turn_off", "turn_on"]


async def all_off(connection: AsyncConnection) -> dict[str, str]:
    """Provider id -> why it is off."""
    query = select(switches.c.provider, switches.c.reason)
    return {row["provider"]: row["reason"] for row in (await connection.execute(query)).mappings()}


async def turn_off(connection: AsyncConnection, provider: str, reason: str) -> None:
    """From now on no call of any organization goes to this provider."""
    await turn_on(connection, provider)
    await connection.execute(insert(switches).values(provider=provider, reason=reason, since=clock.now()))


async def turn_on(connection: AsyncConnection, provider: str) -> bool:
    """Takes the switch back; False where it was on."""
    return (await connection.execute(delete(switches).where(switches.c.provider == provider))).rowcount > 0
