"""Everything that decides one call, read in one transaction: a change counts at the very next call, in every process."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from sqlalchemy import and_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.errors import ErrorCode, SearchError
from searchport_platform.storage.schema import agents, organizations, selections, tokens
from searchport_platform.tenancy import credentials, operator_settings, switches
from searchport_platform.tenancy.agents import DEFAULT_AGENT, Agent
from searchport_platform.tenancy.agents import read_row as read_agent
from searchport_platform.tenancy.organizations import Organization
from searchport_platform.tenancy.organizations import read_row as read_organization
from searchport_platform.tenancy.sealing import Sealed
from searchport_platform.tenancy.selections import Selection
from searchport_platform.tenancy.selections import read_row as read_selection
from searchport_platform.tenancy.tokens import Scope

__all__ = ["Admission", "Caller", "admit"]


@attrs.frozen(kw_only=True)
class Caller:
    """Who calls. token: id of the token that was borne; None for a call in this process. scopes: what it allows."""

    organization: str
    agent: str = DEFAULT_AGENT
    scopes: frozenset[Scope] = frozenset({Scope.SEARCH})
    token: str | None = None

    def check_scope(self, scope: Scope) -> None:
        """Raises SearchError (`forbidden`), naming the scope that is missing."""
        if scope not in self.scopes:
            reason = f"this token has no scope {str(scope)!r}; use one that has it"
            raise SearchError(ErrorCode.FORBIDDEN, reason=reason, gate=f"scope:{scope}")


@attrs.frozen(kw_only=True)
class Admission:
    """What one call is decided by. credentials: provider -> sealed key. operator_settings: provider -> settings."""

    organization: Organization
    agent: Agent
    selection: Selection
    credentials: Mapping[str, Sealed]
    operator_settings: Mapping[str, Mapping[str, object]]
    switched_off: Mapping[str, str]


async def admit(connection: AsyncConnection, caller: Caller) -> Admission:
    """Reads it, in four statements. Raises SearchError: `unauthorized`, `forbidden`, `provider_not_configured`."""
    organization, agent, selection = await _read_tenant(connection, caller)
    agent.check_tool()
    providers = [choice.provider for choice in selection.choices]
    return Admission(
        organization=organization,
        agent=agent,
        selection=selection,
        credentials=await credentials.read_sealed(connection, organization.id, providers),
        operator_settings=await operator_settings.all_of(connection, organization.id),
        switched_off=await switches.all_off(connection),
    )


async def _read_tenant(connection: AsyncConnection, caller: Caller) -> tuple[Organization, Agent, Selection]:
    """The organization with its selection, its agent and the token of the call, in one statement."""
    joined = (
        organizations.outerjoin(agents, and_(agents.c.organization == organizations.c.id, agents.c.id == caller.agent))
        .outerjoin(selections, selections.c.organization == organizations.c.id)
        .outerjoin(tokens, and_(tokens.c.organization == organizations.c.id, tokens.c.id == caller.token))
    )
    tables = (organizations, agents, selections, tokens)
    columns = [column.label(f"{table.name}.{column.name}") for table in tables for column in table.columns]
    query = select(*columns).select_from(joined).where(organizations.c.id == caller.organization)
    row = (await connection.execute(query)).mappings().first()
    parts: dict[str, dict[str, object]] = {table.name: {} for table in tables}
    for label, value in (row or {}).items():
        table, _, column = label.partition(".")
        parts[table][column] = value
    if row is None or (caller.token is not None and parts["tokens"]["id"] is None):
        raise SearchError(ErrorCode.UNAUTHORIZED)
    if parts["agents"]["id"] is None:
        raise SearchError(ErrorCode.FORBIDDEN, reason=f"there is no agent {caller.agent[:64]!r}", gate="agent")
    if parts["selections"]["organization"] is None:
        raise SearchError(ErrorCode.PROVIDER_NOT_CONFIGURED, reason="the organization has selected no provider")
    return read_organization(parts["organizations"]), read_agent(parts["agents"]), read_selection(parts["selections"])
