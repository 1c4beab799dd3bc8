"""The audit trail: who changed what, and when; never a secret, never a query."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport_platform.storage.schema import audit
from searchport_platform.tenancy import clock

__all__ = ["Change", "list_of", "record"]


@attrs.frozen(kw_only=True)
class Change:
    """One change. actor: `token ID` or `command line`. action: `selection.put` and its like. details: what it is now."""

    id: int
    at: clock.Instant
    actor: str
    action: str
    subject: str
    details: Mapping[str, object]


async def record(
    connection: AsyncConnection, organization: str | None, *, actor: str, action: str, subject: str, details: Mapping[str, object]
) -> None:
    """Adds a change, in the transaction that makes it. organization: None for one of the whole platform."""
    values = {"at": clock.now(), "actor": actor, "action": action, "subject": subject, "details": dict(details)}
    await connection.execute(insert(audit).values(values | {"organization": organization}))


async def list_of(
    connection: AsyncConnection, organization: str | None, *, before: int | None = None, most: int = 100
) -> list[Change]:
    """An organization's changes, or the platform's, newest first. before: the id that the page before ended with."""
    query = select(audit).where(audit.c.organization.is_not_distinct_from(organization)).order_by(audit.c.id.desc()).limit(most)
    if before is not None:
        query = query.where(audit.c.id < before)
    rows = (await connection.execute(query)).mappings()
    return [Change(**{field.name: row[field.name] for field in attrs.fields(Change)}) for row in rows]
