"""What operators and admins change, each change in one transaction with its line in the audit trail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager

import attrs
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from searchport.errors import ErrorCode, SearchError
from searchport_platform.metering import usage
from searchport_platform.registry import Registry
from searchport_platform.storage.transactions import lock_platform, transaction
from searchport_platform.tenancy import agents, audit, credentials, operator_settings, organizations, selections, switches, tokens
from searchport_platform.tenancy.agents import DEFAULT_AGENT, Agent
from searchport_platform.tenancy.credentials import Credential
from searchport_platform.tenancy.names import parse_patterns, parse_words
from searchport_platform.tenancy.organizations import CONCURRENCY, Organization
from searchport_platform.tenancy.sealing import Keyring
from searchport_platform.tenancy.selections import Choice, Selection
from searchport_platform.tenancy.tokens import Scope, Token

__all__ = ["Administration"]


@attrs.frozen(kw_only=True)
class Administration:
    """The verbs behind the admin API and the command line. actor: who changes, for the audit trail.

    An organization that is not there is told like one that is not the caller's: `forbidden`.
    """

    engine: AsyncEngine
    registry: Registry
    keyring: Keyring
    default_provider: str | None = None
    actor: str = "command line"

    @asynccontextmanager
    async def _change(
        self, organization: str | None, action: str, subject: str, details: Mapping[str, object] | None = None
    ) -> AsyncIterator[AsyncConnection]:
        async with transaction(self.engine, writes=True) as connection:
            await self._lock(connection, organization)
            yield connection
            await self._record(connection, organization, action, subject, details or {})

    async def _remove(
        self, organization: str | None, action: str, subject: str, remove: Callable[[AsyncConnection], Awaitable[bool]]
    ) -> bool:
        """A removal with its line; False, and no line, where there was nothing to remove."""
        async with transaction(self.engine, writes=True) as connection:
            await self._lock(connection, organization)
            removed = await remove(connection)
            if removed:
                await self._record(connection, organization, action, subject, {})
        return removed

    async def _record(
        self, connection: AsyncConnection, organization: str | None, action: str, subject: str, details: Mapping[str, object]
    ) -> None:
        await audit.record(connection, organization, actor=self.actor, action=action, subject=subject, details=details)

    async def _lock(self, connection: AsyncConnection, organization: str | None) -> None:
        """Waits until nobody else changes the organization, or, where it is None, what belongs to none."""
        if organization is None:
            await lock_platform(connection)
        else:
            await self._find(connection, organization, lock=True)

    async def _find(self, connection: AsyncConnection, organization: str, *, lock: bool = False) -> Organization:
        found = await organizations.find(connection, organization, lock=lock)
        if found is None:
            raise SearchError(ErrorCode.FORBIDDEN, reason="there is no such organization, or it is not yours")
        return found

    # Organizations: an operator's.

    async def create_organization(self, organization: object, name: str, *, provider: str | None = None) -> Organization:
        """A new organization with its `default` agent, and the provider that new ones begin with, or `provider`."""
        provider = provider or self.default_provider
        if provider is not None:
            self.registry.get(provider)
        async with self._change(None, "organization.create", str(organization)[:64]) as connection:
            made = await organizations.create(connection, organization, name)
            await agents.put(connection, made.id, DEFAULT_AGENT, tools=["web.*"], credentials=["search.apiKey"])
            if provider is not None:
                await selections.put(connection, made.id, Selection(choice=Choice(provider=provider)))
        return made

    async def list_organizations(self) -> list[Organization]:
        """Every organization."""
        async with transaction(self.engine) as connection:
            return await organizations.list_all(connection)

    async def get_organization(self, organization: str) -> Organization:
        """One organization."""
        async with transaction(self.engine) as connection:
            return await self._find(connection, organization)

    async def bound_organization(
        self,
        organization: str,
        *,
        allowed_providers: Sequence[str] | None = None,
        allowed_hosts: Sequence[str] = (),
        allow_private_addresses: bool = False,
        result_hosts: Sequence[str] = (),
    ) -> None:
        """Sets what it may select, reach and point to."""
        for provider in allowed_providers or ():
            self.registry.get(provider)
        bounds = {
            "allowed_providers": allowed_providers,
            "allowed_hosts": allowed_hosts,
            "allow_private_addresses": allow_private_addresses,
            "result_hosts": result_hosts,
        }
        async with self._change(organization, "organization.bound", organization, bounds) as connection:
            await organizations.bound(
                connection,
                organization,
                allowed_providers=allowed_providers,
                allowed_hosts=allowed_hosts,
                allow_private_addresses=allow_private_addresses,
                result_hosts=result_hosts,
            )

    async def delete_organization(self, organization: str) -> None:
        """Deletes it with all its data; that it was deleted stays in the platform's own trail."""
        async with self._change(None, "organization.delete", organization) as connection:
            await self._find(connection, organization, lock=True)
            await organizations.delete_with_all_data(connection, organization)

    async def put_operator_settings(self, organization: str, provider: str, settings: Mapping[str, object]) -> None:
        """Sets a provider's operator-only settings for one organization. Raises SearchError for a wrong one."""
        toolkit = self.registry.get(provider)
        toolkit.check_settings(settings, of_operator=True)
        async with self._change(organization, "operator-settings.put", provider, {"names": sorted(settings)}) as connection:
            await operator_settings.put(connection, organization, provider, settings)

    async def find_operator_settings(self, organization: str, provider: str) -> Mapping[str, object]:
        """A provider's operator-only settings of one organization; empty where there are none."""
        async with transaction(self.engine) as connection:
            return (await operator_settings.all_of(connection, organization)).get(provider, {})

    async def turn_off(self, provider: str, reason: str) -> None:
        """Turns a provider off for every organization, from the very next call on."""
        self.registry.get(provider)
        async with self._change(None, "provider.off", provider, {"reason": reason}) as connection:
            await switches.turn_off(connection, provider, reason)

    async def turn_on(self, provider: str) -> bool:
        """Takes that back; False where it was on."""
        self.registry.get(provider)
        return await self._remove(None, "provider.on", provider, lambda connection: switches.turn_on(connection, provider))

    async def switched_off(self) -> dict[str, str]:
        """Provider id -> why it is off."""
        async with transaction(self.engine) as connection:
            return await switches.all_off(connection)

    # Limits, usage, agents, tokens, credentials, selections: an organization's.

    async def limit_organization(
        self,
        organization: str,
        *,
        monthly_budget_microusd: int | None = None,
        searches_per_minute: int | None = None,
        concurrency: int = CONCURRENCY,
    ) -> Organization:
        """Sets how much it may search and spend, in place of what was set; None: as much as it likes."""
        limits: dict[str, int | None] = {
            "monthly_budget_microusd": monthly_budget_microusd,
            "searches_per_minute": searches_per_minute,
            "concurrency": concurrency,
        }
        async with self._change(organization, "limits.put", organization, limits) as connection:
            await organizations.limit(
                connection,
                organization,
                monthly_budget_microusd=monthly_budget_microusd,
                searches_per_minute=searches_per_minute,
                concurrency=concurrency,
            )
            return await self._find(connection, organization)

    async def read_usage(self, organization: str, question: usage.Question) -> list[usage.Usage]:
        """What its records add up to."""
        async with transaction(self.engine) as connection:
            await self._find(connection, organization)
            return await usage.read(connection, organization, question)

    async def put_agent(
        self,
        organization: str,
        agent: object,
        *,
        tools: Sequence[str],
        credentials: Sequence[str],
        max_searches_per_day: int | None = None,
    ) -> Agent:
        """Makes an agent, or changes its gates and, where it is given, its cap."""
        details: dict[str, object] = {
            "tools": parse_patterns(list(tools), "$.tools"),
            "credentials": parse_patterns(list(credentials), "$.credentials"),
        }
        if max_searches_per_day is not None:
            details["max_searches_per_day"] = max_searches_per_day
        async with self._change(organization, "agent.put", str(agent)[:64], details) as connection:
            return await agents.put(
                connection,
                organization,
                agent,
                tools=tools,
                credentials=credentials,
                max_searches_per_day=max_searches_per_day,
            )

    async def bound_agent(
        self, organization: str, agent: str, *, allowed_hosts: Sequence[str] = (), allow_private_addresses: bool = False
    ) -> None:
        """Sets what an agent's calls may reach beyond the public internet; for operators. Raises SearchError for no agent."""
        details = {"allowed_hosts": list(allowed_hosts), "allow_private_addresses": allow_private_addresses}
        async with self._change(organization, "agent.bound", agent[:64], details) as connection:
            found = await agents.bound(
                connection,
                organization,
                agent,
                allowed_hosts=allowed_hosts,
                allow_private_addresses=allow_private_addresses,
            )
            if not found:
                raise SearchError.invalid("$.agent", "there is no such agent; make it first")

    async def list_agents(self, organization: str, *, agent: str | None = None) -> list[Agent]:
        """Its agents, or the one that is named."""
        async with transaction(self.engine) as connection:
            await self._find(connection, organization)
            return await agents.list_of(connection, organization, agent=agent)

    async def remove_agent(self, organization: str, agent: str) -> bool:
        """Deletes an agent; False where there is none."""
        return await self._remove(
            organization, "agent.remove", agent[:64], lambda connection: agents.remove(connection, organization, agent)
        )

    async def issue_token(
        self,
        organization: str | None,
        *,
        name: str,
        scopes: Collection[Scope],
        agent: str | None = None,
        expires_at: str | None = None,
    ) -> tuple[Token, str]:
        """A new token and its text, shown this once. Raises SearchError for an agent that is not there."""
        name = parse_words(name, "$.name")
        details: dict[str, object] = {"scopes": sorted(scopes), "agent": agent, "expires_at": expires_at}
        async with self._change(organization, "token.issue", name, details) as connection:
            if agent is not None and organization is not None and not await agents.list_of(connection, organization, agent=agent):
                raise SearchError.invalid("$.agent", "there is no such agent; make it first")
            return await tokens.issue(connection, organization, name=name, scopes=scopes, agent=agent, expires_at=expires_at)

    async def list_tokens(self, organization: str | None) -> list[Token]:
        """Its tokens, or the operators', without their secrets."""
        async with transaction(self.engine) as connection:
            if organization is not None:
                await self._find(connection, organization)
            return await tokens.list_of(connection, organization)

    async def revoke_token(self, organization: str | None, token: str) -> bool:
        """Deletes a token; False where there is none."""
        return await self._remove(
            organization, "token.revoke", token[:64], lambda connection: tokens.revoke(connection, organization, token)
        )

    async def store_credential(self, organization: str, provider: str, secret: object) -> Credential:
        """Stores a provider's key. Raises SearchError for a keyless provider."""
        if self.registry.get(provider).is_keyless:
            raise SearchError.invalid("$.provider", f"provider {provider!r} takes no key")
        async with self._change(organization, "credential.put", provider) as connection:
            return await credentials.store(connection, organization, provider, secret, self.keyring)

    async def list_credentials(self, organization: str) -> list[Credential]:
        """What may be told of its keys."""
        async with transaction(self.engine) as connection:
            await self._find(connection, organization)
            return await credentials.list_of(connection, organization)

    async def remove_credential(self, organization: str, provider: str) -> bool:
        """Deletes a provider's key; False where there is none."""
        return await self._remove(
            organization,
            "credential.remove",
            provider[:64],
            lambda connection: credentials.remove(connection, organization, provider),
        )

    async def open_credential(self, organization: str, provider: str) -> str | None:
        """A provider's key, for asking its vendor which models it has; never shown."""
        async with transaction(self.engine) as connection:
            sealed = await credentials.read_sealed(connection, {(organization, provider)})
        return credentials.unseal(sealed.get((organization, provider)), organization, provider, self.keyring)

    async def check_selection(self, organization: str, selection: Selection) -> None:
        """Raises SearchError for a provider that is not enabled or not allowed, and for wrong settings."""
        found = await self.get_organization(organization)
        for choice in selection.choices:
            toolkit = self.registry.get(choice.provider)
            if not found.may_select(choice.provider):
                reason = "the operator does not allow it to this organization"
                raise SearchError(ErrorCode.FORBIDDEN, reason=reason, provider=choice.provider, gate="provider")
            toolkit.check_settings(choice.settings, of_operator=False)

    async def put_selection(self, organization: str, selection: Selection) -> None:
        """Selects. Raises SearchError as `check_selection` does."""
        await self.check_selection(organization, selection)
        details = {"providers": [choice.provider for choice in selection.choices], "model": selection.choice.model}
        async with self._change(organization, "selection.put", selection.choice.provider, details) as connection:
            await selections.put(connection, organization, selection)

    async def find_selection(self, organization: str) -> Selection | None:
        """What it has selected."""
        async with transaction(self.engine) as connection:
            await self._find(connection, organization)
            return await selections.find(connection, organization)

    async def remove_selection(self, organization: str) -> bool:
        """Selects nothing; False where nothing was selected."""
        return await self._remove(
            organization, "selection.remove", organization, lambda connection: selections.remove(connection, organization)
        )

    async def list_changes(self, organization: str | None, *, before: int | None = None) -> list[audit.Change]:
        """The audit trail, newest first, a hundred at a time."""
        async with transaction(self.engine) as connection:
            if organization is not None:
                await self._find(connection, organization)
            return await audit.list_of(connection, organization, before=before)

    async def rotate_keys(self) -> AsyncIterator[int]:
        """Seals every key anew with the first secret key, a hundred a transaction; gives how many are left after each."""
        async with transaction(self.engine, writes=True) as connection:
            await self._record(connection, None, "keys.rotate", self.keyring.key_id, {})
        left = 1
        while left:
            async with transaction(self.engine, writes=True) as connection:
                await lock_platform(connection)
                left = await credentials.reseal_some(connection, self.keyring)
            yield left
