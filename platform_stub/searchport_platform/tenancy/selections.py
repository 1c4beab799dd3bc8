"""Selections: which provider an organization's calls go to, with which settings and limits, and whom to ask after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from sqlalchemy import RowMapping, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.request import DEFAULT_MAX_RESULTS, MAX_RESULTS
from searchport_platform.storage.schema import selections

__all__ = [
    "DEADLINE_SECONDS",
    "LONGEST_DEADLINE_SECONDS",
    "Choice",
    "Selection",
    "find",
    "providers_in_use",
    "put",
    "read_row",
    "remove",
]

DEADLINE_SECONDS = 15.0
LONGEST_DEADLINE_SECONDS = 20.0


@attrs.frozen(kw_only=True)
class Choice:
    """One provider with its model and its settings."""

    provider: str
    model: str | None = None
    settings: Mapping[str, object] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Selection:
    """An organization's choice. fallbacks: asked in order when the provider before failed. deadline_seconds: of a whole call.
    cache_seconds: how long an answer may be given again to the same organization; 0: never."""

    choice: Choice
    fallbacks: tuple[Choice, ...] = ()
    default_results: int = DEFAULT_MAX_RESULTS
    max_results: int = MAX_RESULTS
    deadline_seconds: float = DEADLINE_SECONDS
    cache_seconds: int = 0

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The provider, then its fallbacks."""
        return (self.choice, *self.fallbacks)


def read_row(row: RowMapping | Mapping[str, Any]) -> Selection:
    """A selection from its columns."""
    return Selection(
        choice=Choice(provider=row["provider"], model=row["model"], settings=row["settings"]),
        fallbacks=tuple(Choice(**fallback) for fallback in row["fallbacks"]),
        default_results=row["default_results"],
        max_results=row["max_results"],
        deadline_seconds=row["deadline_ms"] / 1_000,
        cache_seconds=row["cache_seconds"],
    )


async def find(connection: AsyncConnection, organization: str) -> Selection | None:
    """The organization's selection; None where nothing is selected."""
    row = (await connection.execute(select(selections).where(selections.c.organization == organization))).mappings().first()
    return None if row is None else read_row(row)


async def providers_in_use(connection: AsyncConnection) -> dict[str, int]:
    """Provider id -> how many organizations have selected it; one of the listed exceptions, for a warning at start-up."""
    query = select(selections.c.provider, func.count()).group_by(selections.c.provider)
    return dict((await connection.execute(query)).all())


async def put(connection: AsyncConnection, organization: str, selection: Selection) -> None:
    """Selects, in place of what was selected."""
    values = {
        "provider": selection.choice.provider,
        "model": selection.choice.model,
        "settings": dict(selection.choice.settings),
        "fallbacks": [attrs.asdict(fallback) for fallback in selection.fallbacks],
        "default_results": selection.default_results,
        "max_results": selection.max_results,
        "deadline_ms": round(selection.deadline_seconds * 1_000),
        "cache_seconds": selection.cache_seconds,
    }
    if await find(connection, organization) is None:
        await connection.execute(insert(selections).values(values | {"organization": organization}))
    else:
        await connection.execute(update(selections).where(selections.c.organization == organization).values(values))


async def remove(connection: AsyncConnection, organization: str) -> bool:
    """Selects nothing; False where nothing was selected."""
    return (await connection.execute(delete(selections).where(selections.c.organization == organization))).rowcount > 0
