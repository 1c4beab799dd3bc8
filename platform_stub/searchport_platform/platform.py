"""The platform: one search, for whoever calls, at the provider that the organization chose."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from math import inf
from pathlib import Path
from typing import TypeAlias

import attrs
import structlog
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from searchport.egress import AddressPolicy, Deadline
from searchport.errors import ErrorCode, SearchError, shorten
from searchport.request import SearchRequest, parse_request
from searchport.result import Envelope, render_envelope
from searchport.web_search import SearchModel
from searchport_platform.metering.listeners import Listeners
from searchport_platform.metering.meter import Meter
from searchport_platform.metering.moments import Moment
from searchport_platform.metering.plans import Plan, build_plan, render_plan
from searchport_platform.metering.prices import Prices, WorstCase
from searchport_platform.metering.retention import keep_records
from searchport_platform.metering.standing import Ask, Standing
from searchport_platform.registry import AnyToolkit, Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Route, Router
from searchport_platform.storage.engine import DEFAULT_URL, migrate, open_engine, parse_url, sqlite_file, transaction
from searchport_platform.storage.urls import is_sqlite
from searchport_platform.tenancy import credentials, selections, tokens
from searchport_platform.tenancy.administration import Administration
from searchport_platform.tenancy.admission import Admission, Caller, admit
from searchport_platform.tenancy.organizations import Organization
from searchport_platform.tenancy.sealing import NEW_KEY, Keyring, SealingError, load_key_file, new_key
from searchport_platform.tenancy.selections import Choice, Selection

__all__ = ["ACTION", "Caller", "Platform"]

ACTION = "action.search.web"

ReadRequest: TypeAlias = Callable[[Selection], SearchRequest]
"""The organization's selection, for its default and its maximum of results -> the request. Raises SearchError."""

_log = structlog.get_logger("searchport.platform")


@attrs.frozen(kw_only=True)
class Platform:
    """Everything that a door needs: `search`, `call`, `plan`, `authenticate`, and `administration`."""

    engine: AsyncEngine
    router: Router
    keyring: Keyring
    meter: Meter
    prices: Prices
    default_provider: str | None = None

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        database_url: str = DEFAULT_URL,
        *,
        secret_keys: str = "",
        router: Router | None = None,
        default_provider: str | None = None,
        prices: Prices | None = None,
        listeners: Listeners | None = None,
        record_days: int = 0,
        prepare: bool = True,
    ) -> AsyncIterator[Platform]:
        """A platform on a database, which is brought to the newest schema; closed at the end.

        secret_keys: base64 keys by comma, as SEARCHPORT_SECRET_KEYS holds them; where it is empty, a key file beside the
        database's own, made with mode 0600; on PostgreSQL they are required. router: which toolkits there are; by default the
        built-in ones. default_provider: what new organizations begin with. prices: the operator's. listeners: by default the
        installed ones. record_days: older records of searches are deleted while it is open; 0: none. prepare: False leaves out
        what toolkits do to make their first call fast.
        Raises DatabaseUrlError, RegistryError, SealingError.
        """
        url = parse_url(database_url)
        if not secret_keys.strip() and not is_sqlite(url):
            raise SealingError(f"SEARCHPORT_SECRET_KEYS: required on PostgreSQL, for every process the same; make one: {NEW_KEY}")
        async with open_engine(url) as engine, HttpClients() as clients:
            await migrate(engine)
            keyring = Keyring.parse(secret_keys) if secret_keys.strip() else _default_keyring(sqlite_file(url))
            router = router or Router(registry=Registry.discover(), clients=clients)
            async with Meter.open(engine, Listeners.discover() if listeners is None else listeners) as meter:
                platform = cls(
                    engine=engine,
                    router=router,
                    keyring=keyring,
                    meter=meter,
                    prices=prices or Prices(),
                    default_provider=default_provider,
                )
                await platform.check_storage()
                await platform._warn_of_unknown_providers()
                if prepare:
                    await asyncio.gather(*(asyncio.to_thread(_prepare, toolkit) for toolkit in platform.router.registry))
                async with keep_records(engine, record_days):
                    yield platform

    async def search(self, caller: Caller, request: SearchRequest | ReadRequest, *, longest_seconds: float = inf) -> Envelope:
        """One search, at the organization's provider and, where that fails, at its fallbacks. Raises SearchError.

        request: or a function that makes it, for a door whose defaults are the organization's. longest_seconds: when a door's
        clients give up, where that is sooner than the organization's deadline.
        """
        caller.check_scope(tokens.Scope.SEARCH)
        deadline = Deadline.after(longest_seconds)
        async with self.meter.metered(
            caller, partial(self._decide, request, longest_seconds=longest_seconds), deadline=deadline
        ) as call:
            admission = call.ask.admission
            envelope = await self.router.answer(
                [partial(self._build_route, admission, choice) for choice in admission.selection.choices],
                call.ask.request,
                request_id=call.id,
                deadline_seconds=call.deadline.remaining_seconds(),
                result_policy=admission.organization.result_policy,
                cache_seconds=admission.selection.cache_seconds,
                on_attempt=call.count,
            )
            call.answered(envelope)
        return envelope

    async def call(self, action: str, payload: object, caller: Caller) -> dict[str, object]:
        """The same for callers that hold a plain payload: the platform API's JSON in, its JSON out. Raises SearchError.

        `maxResults` defaults to the organization's own.
        """
        return render_envelope(await self.search(caller, _reader(action, payload)))

    async def plan(self, caller: Caller, request: SearchRequest | ReadRequest) -> Plan:
        """What this search would do, and what it would be refused with; nothing is sent or written. Raises SearchError."""
        caller.check_scope(tokens.Scope.SEARCH)
        async with transaction(self.engine) as connection:
            try:
                ask = self._decide(request, await admit(connection, caller))
            except SearchError as error:
                if error.code in (ErrorCode.UNAUTHORIZED, ErrorCode.VALIDATION_ERROR):
                    raise
                return Plan(refusal=error)
            return build_plan(ask, await Standing.read(connection, [ask], Moment.now(), lock=False))

    async def plan_call(self, action: str, payload: object, caller: Caller) -> dict[str, object]:
        """The same for callers that hold a plain payload, as `call` takes it. Raises SearchError."""
        return render_plan(await self.plan(caller, _reader(action, payload)))

    def _decide(self, wanted: SearchRequest | ReadRequest, admission: Admission, *, longest_seconds: float = inf) -> Ask:
        """Everything that can refuse the call before it is counted, and the most that it can cost. Raises SearchError."""
        selection = admission.selection
        request = wanted if isinstance(wanted, SearchRequest) else wanted(selection)
        if request.max_results > selection.max_results:
            message = f"{request.max_results} is above this organization's maximum of {selection.max_results}"
            raise SearchError.invalid("$.maxResults", message)
        first, *fallbacks = selection.choices
        worst_cases = [self._price(admission, first, request)]
        for choice in fallbacks:
            with suppress(SearchError):  # it would not be asked either
                worst_cases.append(self._price(admission, choice, attrs.evolve(request, provider_options={})))
        return Ask(admission=admission, request=request, worst_cases=tuple(worst_cases), longest_seconds=longest_seconds)

    def _price(self, admission: Admission, choice: Choice, request: SearchRequest) -> WorstCase:
        route = self._build_route(admission, choice)
        self.router.check(route, request)
        return self.prices.worst_case(route.toolkit, request.max_results, model=route.model)

    async def authenticate(self, bearer: str, *, agent: str | None = None) -> Caller:
        """Who bears this token. agent: the agent that the call names. Raises SearchError: `unauthorized`, `forbidden`."""
        async with transaction(self.engine) as connection:
            token = await tokens.find(connection, bearer)
        if token is None:
            raise SearchError(ErrorCode.UNAUTHORIZED)
        today = datetime.now(UTC).date().isoformat()
        if token.last_used_day != today:
            async with transaction(self.engine, writes=True) as connection:
                await tokens.mark_used(connection, token, today)
        caller = Caller(organization=token.organization or "", scopes=token.scopes, token=token.id)
        if agent is not None and agent != token.agent:
            if token.agent is not None:
                reason = f"this token is bound to agent {token.agent!r}; leave the agent out"
                raise SearchError(ErrorCode.FORBIDDEN, reason=reason, gate="agent")
            caller.check_scope(tokens.Scope.AGENTS)
        named = agent if agent is not None else token.agent
        return caller if named is None else attrs.evolve(caller, agent=named)

    def administration(self, actor: str = "command line") -> Administration:
        """What operators and admins change. actor: who, for the audit trail."""
        return Administration(
            engine=self.engine,
            registry=self.router.registry,
            keyring=self.keyring,
            default_provider=self.default_provider,
            actor=actor,
        )

    async def list_models(self, organization: str, provider: str) -> list[SearchModel]:
        """A provider's models, asked with the organization's key and settings. Raises SearchError."""
        administration = self.administration()
        selection = await administration.find_selection(organization)
        toolkit = self.router.registry.get(provider)
        chosen = [] if selection is None else [choice for choice in selection.choices if choice.provider == provider]
        return await self._ask_models(organization, toolkit, chosen[0].settings if chosen else {})

    async def check_models(self, organization: str, selection: Selection) -> None:
        """Refuses a model that its provider does not have. Raises SearchError."""
        for choice in selection.choices:
            if choice.model is None:
                continue
            toolkit = self.router.registry.get(choice.provider)
            models = [model.id for model in await self._ask_models(organization, toolkit, choice.settings)]
            if choice.model not in models:
                listed = ", ".join(models) or "none, leave it out"
                raise SearchError.invalid(
                    "$.model", f"{shorten(choice.model)} is no model of {choice.provider!r}; it has: {listed}"
                )

    async def _ask_models(self, organization: str, toolkit: AnyToolkit, settings: Mapping[str, object]) -> list[SearchModel]:
        if toolkit.web_search.fetch_models is None:
            return []
        administration = self.administration()
        found = await administration.get_organization(organization)
        self._check_usable(found, toolkit, await administration.switched_off())
        credential = await administration.open_credential(organization, toolkit.id)
        of_operator = await administration.find_operator_settings(organization, toolkit.id)
        policy = AddressPolicy(allowed_hosts=found.allowed_hosts, allow_private_addresses=found.allow_private_addresses)
        route = Route(toolkit=toolkit, credential=credential, settings={**settings, **of_operator}, policy=policy)
        return await self.router.list_models(route)

    def _check_usable(self, organization: Organization, toolkit: AnyToolkit, off: Mapping[str, str]) -> None:
        reason = None
        if toolkit.id in off:
            reason = f"the operator has turned it off: {off[toolkit.id]}"
        elif not organization.may_select(toolkit.id):
            reason = "the operator does not allow it to this organization"
        if reason is not None:
            raise SearchError(ErrorCode.PROVIDER_NOT_CONFIGURED, reason=reason, provider=toolkit.id)

    async def check_storage(self) -> None:
        """Raises SearchError (`storage_unavailable`) where the database does not answer."""
        async with transaction(self.engine) as connection:
            await connection.execute(select(1))

    async def _warn_of_unknown_providers(self) -> None:
        """An organization whose provider is not enabled gets an error a call; its operator should know before."""
        async with transaction(self.engine) as connection:
            in_use = await selections.providers_in_use(connection)
        for provider, organizations in in_use.items():
            if provider not in self.router.registry.toolkits:
                _log.warning("a selected provider is not enabled", provider=provider, organizations=organizations)

    def _build_route(self, admission: Admission, choice: Choice) -> Route:
        """The route to a selected provider. Raises SearchError where it is off, not allowed, or behind a gate."""
        toolkit = self.router.registry.get(choice.provider)
        self._check_usable(admission.organization, toolkit, admission.switched_off)
        if not toolkit.is_keyless:
            admission.agent.check_credential(choice.provider)
        sealed = admission.credentials.get(choice.provider)
        return Route(
            toolkit=toolkit,
            organization=admission.organization.id,
            generation=None if sealed is None else sealed.generation,
            credential=credentials.unseal(sealed, admission.organization.id, choice.provider, self.keyring),
            settings={**choice.settings, **admission.operator_settings.get(choice.provider, {})},
            model=choice.model,
            policy=AddressPolicy(
                allowed_hosts=(*admission.organization.allowed_hosts, *admission.agent.allowed_hosts),
                allow_private_addresses=admission.organization.allow_private_addresses or admission.agent.allow_private_addresses,
            ),
        )


def _reader(action: str, payload: object) -> ReadRequest:
    if action != ACTION:
        raise SearchError.invalid("$.action", f"no such action; there is {ACTION!r}")
    return lambda selection: parse_request(payload, default_max_results=selection.default_results)


def _prepare(toolkit: AnyToolkit) -> None:
    """Runs what a toolkit prepares, where its settings have defaults; a failure is told to the calls that then meet it."""
    if toolkit.prepare is None:
        return
    try:
        settings, _ = toolkit.build_settings({}, {})
        toolkit.prepare(settings)
    except SearchError as error:
        _log.warning("a toolkit could not prepare itself", toolkit=toolkit.id, code=str(error.code))


def _default_keyring(file: Path | None) -> Keyring:
    return Keyring([new_key()]) if file is None else load_key_file(file.with_name(f"{file.name}.key"))
