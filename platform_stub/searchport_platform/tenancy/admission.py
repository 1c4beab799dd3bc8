"""Everything that decides one call, read in one transaction: a change counts at the very next call, in every process."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise

import attrs
from sqlalchemy import Executable, and_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.errors import ErrorCode, SearchError
from searchport_platform.storage.asked import Asked
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

__all__ = ["Admission", "Caller", "admit", "admit_all"]


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
    """What one call is decided by. Raises SearchError: `unauthorized`, `forbidden`, `provider_not_configured`."""
    found = (await admit_all(connection, {caller}))[caller]
    if isinstance(found, SearchError):
        raise found
    return found


async def admit_all(connection: AsyncConnection, callers: Collection[Caller]) -> dict[Caller, Admission | SearchError]:
    """The same for each of them, in four statements for all: every row is asked for, and kept, by its own organization."""
    tenants = await _read_tenants(connection, callers) if callers else {}
    found = {caller: tenant for caller, tenant in tenants.items() if not isinstance(tenant, SearchError)}
    refused = {caller: tenant for caller, tenant in tenants.items() if isinstance(tenant, SearchError)}
    if not found:
        return {**refused}
    keys = await credentials.read_sealed(connection, {place for tenant in found.values() for place in tenant.places})
    settings = await operator_settings.read_all(connection, {tenant.organization.id for tenant in found.values()})
    switched_off = await switches.all_off(connection)
    admissions = {
        caller: Admission(
            organization=tenant.organization,
            agent=tenant.agent,
            selection=tenant.selection,
            credentials={place[1]: keys[place] for place in tenant.places if place in keys},
            operator_settings=settings[tenant.organization.id],
            switched_off=switched_off,
        )
        for caller, tenant in found.items()
    }
    return {**refused, **admissions}


@attrs.frozen(kw_only=True)
class _Tenant:
    organization: Organization
    agent: Agent
    selection: Selection

    @property
    def places(self) -> set[credentials.Place]:
        """The keys that its calls can need."""
        return {(self.organization.id, choice.provider) for choice in self.selection.choices}


_COLUMNS = [column for table in (organizations, agents, selections) for column in table.columns]
_ENDS = len(organizations.columns), len(organizations.columns) + len(agents.columns), len(_COLUMNS)

_ASKED = Asked({"number": int, "organization": str, "agent": str, "token": str})


@cache
def _tenants(dialect: str) -> Executable:
    rows = _ASKED.table(dialect)
    joined = (
        rows.join(organizations, organizations.c.id == rows.c.organization)
        .outerjoin(agents, and_(agents.c.organization == rows.c.organization, agents.c.id == rows.c.agent))
        .outerjoin(selections, selections.c.organization == rows.c.organization)
        .outerjoin(tokens, and_(tokens.c.organization == rows.c.organization, tokens.c.id == rows.c.token))
    )
    return select(rows.c.number, tokens.c.id, *_COLUMNS).select_from(joined)


async def _read_tenants(connection: AsyncConnection, callers: Collection[Caller]) -> dict[Caller, _Tenant | SearchError]:
    """The organization of each with its selection, its agent and the token of the call, in one statement, a row for each."""
    ordered = list(callers)
    dialect = connection.dialect.name
    rows = [(number, caller.organization, caller.agent, caller.token) for number, caller in enumerate(ordered)]
    found: dict[Caller, _Tenant | SearchError] = {caller: SearchError(ErrorCode.UNAUTHORIZED) for caller in ordered}
    for number, token, *values in await connection.execute(_tenants(dialect), _ASKED.values(dialect, rows)):
        if token == ordered[number].token:
            found[ordered[number]] = _read_tenant(ordered[number], values)
    return found


def _read_tenant(caller: Caller, values: Sequence[object]) -> _Tenant | SearchError:
    """values: of `_COLUMNS`, null where a row is missing."""
    names = [column.name for column in _COLUMNS]
    parts = [dict(zip(names[start:end], values[start:end], strict=True)) for start, end in pairwise((0, *_ENDS))]
    organization, agent, selection = parts
    if agent["id"] is None:
        return SearchError(ErrorCode.FORBIDDEN, reason=f"there is no agent {caller.agent[:64]!r}", gate="agent")
    if selection["organization"] is None:
        return SearchError(ErrorCode.PROVIDER_NOT_CONFIGURED, reason="the organization has selected no provider")
    tenant = _Tenant(organization=read_organization(organization), agent=read_agent(agent), selection=read_selection(selection))
    try:
        tenant.agent.check_tool()
    except SearchError as error:
        return error
    return tenant
