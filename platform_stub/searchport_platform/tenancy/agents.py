"""Agents: on whose behalf an organization's calls are made, and the two gates that each of them must pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from sqlalchemy import RowMapping, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.errors import ErrorCode, SearchError, shorten
from searchport.toolkit import SEARCH_API_KEY
from searchport_platform.storage.schema import agents
from searchport_platform.tenancy.names import check_hosts, is_allowed, parse_name

__all__ = [
    "DAILY_CAP",
    "DEFAULT_AGENT",
    "HIGHEST_CAP",
    "TOOL",
    "Agent",
    "bound",
    "list_of",
    "parse_cap",
    "put",
    "read_row",
    "remove",
]

DEFAULT_AGENT = "default"
TOOL = "web.search"
"""The name of web search in an agent's tool list."""
DAILY_CAP = 200
HIGHEST_CAP = 1_000_000_000


@attrs.frozen(kw_only=True)
class Agent:
    """An agent of one organization.

    tools, credentials: names or globs that it may use; nothing is allowed unless listed. max_searches_per_day: a UTC day; 0
    refuses all.
    """

    id: str
    tools: tuple[str, ...] = ()
    credentials: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    allow_private_addresses: bool = False
    max_searches_per_day: int = DAILY_CAP

    def check_tool(self) -> None:
        """Raises SearchError (`forbidden`) where the agent may not search."""
        if not is_allowed(TOOL, self.tools):
            raise self._refuse(TOOL, "tools")

    def check_credential(self, provider: str) -> None:
        """Raises SearchError (`forbidden`) where the agent may not use the organization's key of this provider."""
        if not is_allowed(SEARCH_API_KEY, self.credentials):
            raise attrs.evolve(self._refuse(SEARCH_API_KEY, "credentials"), provider=provider)

    def _refuse(self, name: str, gate: str) -> SearchError:
        reason = f"agent {self.id!r} is not allowed {name!r}; add it to the agent's {gate}"
        return SearchError(ErrorCode.FORBIDDEN, reason=reason, gate=f"{gate}:{name}")


def read_row(row: RowMapping | Mapping[str, Any]) -> Agent:
    """An agent from its columns."""
    return Agent(
        id=row["id"],
        tools=tuple(row["tools"]),
        credentials=tuple(row["credentials"]),
        allowed_hosts=tuple(row["allowed_hosts"]),
        allow_private_addresses=row["allow_private_addresses"],
        max_searches_per_day=row["max_searches_per_day"],
    )


def parse_cap(value: object) -> int:
    """Searches a UTC day. Raises SearchError (`validation_error`); there is no value for as many as one likes."""
    if type(value) is int and 0 <= value <= HIGHEST_CAP:
        return value
    raise SearchError.invalid("$.maxSearchesPerDay", f"expected a whole number from 0 to {HIGHEST_CAP:,}, got {shorten(value)}")


async def list_of(connection: AsyncConnection, organization: str, *, agent: str | None = None) -> list[Agent]:
    """The agents of an organization by id, or the one that is named, if it is there."""
    query = select(agents).where(agents.c.organization == organization).order_by(agents.c.id)
    if agent is not None:
        query = query.where(agents.c.id == agent)
    return [read_row(row) for row in (await connection.execute(query)).mappings()]


async def put(
    connection: AsyncConnection,
    organization: str,
    agent: object,
    *,
    tools: Sequence[str] = (),
    credentials: Sequence[str] = (),
    max_searches_per_day: int | None = None,
) -> Agent:
    """Makes an agent or changes its gates; what an operator opened for it stays. Raises SearchError for a wrong name.

    max_searches_per_day: None keeps the cap that it has, of a new agent the usual one.
    """
    name = parse_name(agent, "$.agent")
    gates: dict[str, object] = {"tools": list(tools), "credentials": list(credentials)}
    if max_searches_per_day is not None:
        gates["max_searches_per_day"] = parse_cap(max_searches_per_day)
    if await list_of(connection, organization, agent=name):
        where = (agents.c.organization == organization, agents.c.id == name)
        await connection.execute(update(agents).where(*where).values(gates))
    else:
        values = {"organization": organization, "id": name, "allowed_hosts": [], "allow_private_addresses": False}
        await connection.execute(insert(agents).values(values | gates))
    return (await list_of(connection, organization, agent=name))[0]


async def bound(
    connection: AsyncConnection, organization: str, agent: str, *, allowed_hosts: Sequence[str], allow_private_addresses: bool
) -> bool:
    """Sets what an agent's calls may reach beyond the public internet; False where there is no such agent."""
    values = {
        "allowed_hosts": list(check_hosts(allowed_hosts, "$.allowedHosts")),
        "allow_private_addresses": allow_private_addresses,
    }
    where = (agents.c.organization == organization, agents.c.id == agent)
    return (await connection.execute(update(agents).where(*where).values(values))).rowcount > 0


async def remove(connection: AsyncConnection, organization: str, agent: str) -> bool:
    """Deletes an agent; False where there is none. The default one stays, since a token without an agent needs it."""
    if agent == DEFAULT_AGENT:
        raise SearchError.invalid("$.agent", f"{DEFAULT_AGENT!r} cannot be deleted; take its tools away instead")
    deleted = await connection.execute(delete(agents).where(agents.c.organization == organization, agents.c.id == agent))
    return deleted.rowcount > 0
