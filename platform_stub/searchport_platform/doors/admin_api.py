"""The admin API under `/api/platform/v1`: an organization's providers, keys, selection, agents, tokens and trail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

import attrs
from aiohttp import web

from searchport.errors import ErrorCode, Fault, SearchError, shorten
from searchport.request import MAX_RESULTS
from searchport.wire import OPTION, Option, camel_case, structure
from searchport_platform.doors.http import answer_errors, read_json
from searchport_platform.doors.http_api import authenticate
from searchport_platform.doors.problem import not_found, render_problem
from searchport_platform.doors.usage import answer_usage
from searchport_platform.platform import Platform
from searchport_platform.provider_description import describe_provider
from searchport_platform.tenancy.administration import Administration
from searchport_platform.tenancy.agents import Agent, parse_cap
from searchport_platform.tenancy.clock import write_instant
from searchport_platform.tenancy.credentials import Credential
from searchport_platform.tenancy.names import parse_patterns
from searchport_platform.tenancy.organizations import CONCURRENCY, Organization
from searchport_platform.tenancy.selections import DEADLINE_SECONDS, LONGEST_DEADLINE_SECONDS, Choice, Selection
from searchport_platform.tenancy.tokens import Scope, Token

__all__ = ["AdminDoor"]

ROOT = "/api/platform/v1"
_LONGEST_CACHE_SECONDS = 86_400
ORGANIZATION = f"{ROOT}/organizations/{{organization}}"

Verb = Callable[[web.Request, Administration, str], Awaitable[web.Response]]


def _field(parse: Callable[..., object], words: str) -> dict[str, Option]:
    return {OPTION: Option(parse, words)}


def _parse_settings(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise SearchError.invalid("$.settings", f"expected an object, got {shorten(value)}")
    return dict(value)


@attrs.frozen(kw_only=True)
class FallbackBody:
    """One of a selection's fallbacks, where it is more than a provider's id."""

    provider: str
    model: str | None = None
    settings: Mapping[str, object] = attrs.field(factory=dict, metadata=_field(_parse_settings, "The provider's settings."))


def _parse_choice(value: object) -> Choice:
    if isinstance(value, str):
        return Choice(provider=value)
    body = structure(value, FallbackBody)
    return Choice(provider=body.provider, model=body.model, settings=body.settings)


def _parse_choices(value: object) -> tuple[Choice, ...]:
    if not isinstance(value, list) or len(value) > 8:
        raise SearchError.invalid("$.fallbacks", "expected a list of at most 8 provider ids, or of objects with their settings")
    return tuple(_parse_choice(item) for item in value)


def _parse_results(value: object) -> int:
    if type(value) is not int or not 1 <= value <= MAX_RESULTS:
        raise SearchError.invalid("$", f"expected a whole number from 1 to {MAX_RESULTS}, got {shorten(value)}")
    return value


def _parse_deadline(value: object) -> float:
    if type(value) not in (int, float) or not 1 <= float(str(value)) <= LONGEST_DEADLINE_SECONDS:
        raise SearchError.invalid("$", f"expected seconds from 1 to {LONGEST_DEADLINE_SECONDS:g}, got {shorten(value)}")
    return float(str(value))


def _parse_cache(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _LONGEST_CACHE_SECONDS:
        raise SearchError.invalid("$", f"expected whole seconds from 0 to {_LONGEST_CACHE_SECONDS:,}, got {shorten(value)}")
    return value


def _parse_scopes(value: object) -> frozenset[Scope]:
    allowed = [scope for scope in Scope if scope is not Scope.OPERATOR]
    if isinstance(value, list) and value and all(item in allowed for item in value):
        return frozenset(map(Scope, value))
    raise SearchError.invalid("$.scopes", f"expected a list of one or more of: {', '.join(allowed)}")


def _parse_expiry(value: object) -> str:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise SearchError.invalid("$.expiresAt", f"{shorten(value)} is no date-time with its zone, such as 2027-01-01T00:00:00Z")
    return write_instant(moment)


@attrs.frozen(kw_only=True)
class SelectionBody:
    """What `PUT …/search/selection` takes."""

    provider: str
    model: str | None = None
    settings: Mapping[str, object] = attrs.field(factory=dict, metadata=_field(_parse_settings, "The provider's settings."))
    fallbacks: tuple[Choice, ...] = attrs.field(default=(), metadata=_field(_parse_choices, "Whom to ask after it, in order."))
    default_results: int = attrs.field(default=10, metadata=_field(_parse_results, "Results where a call gives no number."))
    max_results: int = attrs.field(default=MAX_RESULTS, metadata=_field(_parse_results, "The most results a call may ask for."))
    deadline_seconds: float = attrs.field(default=DEADLINE_SECONDS, metadata=_field(_parse_deadline, "Seconds of a whole call."))
    cache_seconds: int = attrs.field(default=0, metadata=_field(_parse_cache, "How long an answer may be given again."))

    def to_selection(self) -> Selection:
        """The selection. Raises SearchError where the default is above the maximum."""
        if self.default_results > self.max_results:
            raise SearchError.invalid("$.defaultResults", f"{self.default_results} is above maxResults, {self.max_results}")
        return Selection(
            choice=Choice(provider=self.provider, model=self.model, settings=self.settings),
            fallbacks=self.fallbacks,
            default_results=self.default_results,
            max_results=self.max_results,
            deadline_seconds=self.deadline_seconds,
            cache_seconds=self.cache_seconds,
        )


def _parse_tools(value: object) -> list[str]:
    return parse_patterns(value, "$.tools")


def _parse_credentials(value: object) -> list[str]:
    return parse_patterns(value, "$.credentials")


@attrs.frozen(kw_only=True)
class AgentBody:
    """What `PUT …/agents/{agent}` takes."""

    tools: list[str] = attrs.field(factory=list, metadata=_field(_parse_tools, "Tools that it may use, such as web.*."))
    credentials: list[str] = attrs.field(factory=list, metadata=_field(_parse_credentials, "Credentials that it may use."))
    max_searches_per_day: int | None = attrs.field(
        default=None, metadata=_field(parse_cap, "Searches a UTC day; 0 refuses all; left out, it stays as it is.")
    )


@attrs.frozen(kw_only=True)
class LimitsBody:
    """What `PUT …/limits` takes; what is left out has no limit, or the usual one."""

    monthly_budget_microusd: int | None = None
    searches_per_minute: int | None = None
    concurrency: int = CONCURRENCY


@attrs.frozen(kw_only=True)
class TokenBody:
    """What `POST …/tokens` takes."""

    name: str
    scopes: frozenset[Scope] = attrs.field(metadata=_field(_parse_scopes, "What it allows."))
    agent: str | None = None
    expires_at: str | None = attrs.field(default=None, metadata=_field(_parse_expiry, "When it ends."))


@attrs.frozen(kw_only=True)
class OrganizationBody:
    """What `POST /organizations` takes."""

    organization: str
    name: str = ""


def _parse_secret(value: object) -> object:
    return value


@attrs.frozen(kw_only=True)
class CredentialBody:
    """What `PUT …/credential` takes; the value is checked where it is sealed, and never shown."""

    value: object = attrs.field(repr=False, metadata=_field(_parse_secret, "The vendor's key."))


@attrs.frozen
class AdminDoor:
    """The handlers. An organization that is not the caller's is answered like one that is not there."""

    platform: Platform

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        provider = f"{ORGANIZATION}/search/providers/{{provider}}"
        of_admins: list[tuple[str, str, Verb]] = [
            ("GET", ORGANIZATION, self.get_organization),
            ("PUT", f"{ORGANIZATION}/limits", self.put_limits),
            ("GET", f"{ORGANIZATION}/search/usage", self.read_usage),
            ("GET", f"{ORGANIZATION}/search/providers", self.list_providers),
            ("GET", f"{provider}/models", self.list_models),
            ("PUT", f"{provider}/credential", self.put_credential),
            ("GET", f"{provider}/credential", self.get_credential),
            ("DELETE", f"{provider}/credential", self.remove_credential),
            ("PUT", f"{ORGANIZATION}/search/selection", self.put_selection),
            ("GET", f"{ORGANIZATION}/search/selection", self.get_selection),
            ("DELETE", f"{ORGANIZATION}/search/selection", self.remove_selection),
            ("GET", f"{ORGANIZATION}/agents", self.list_agents),
            ("GET", f"{ORGANIZATION}/agents/{{agent}}", self.get_agent),
            ("PUT", f"{ORGANIZATION}/agents/{{agent}}", self.put_agent),
            ("DELETE", f"{ORGANIZATION}/agents/{{agent}}", self.remove_agent),
            ("GET", f"{ORGANIZATION}/tokens", self.list_tokens),
            ("POST", f"{ORGANIZATION}/tokens", self.issue_token),
            ("DELETE", f"{ORGANIZATION}/tokens/{{token}}", self.revoke_token),
            ("GET", f"{ORGANIZATION}/audit", self.list_changes),
        ]
        of_operators: list[tuple[str, str, Verb]] = [
            ("GET", f"{ROOT}/organizations", self.list_organizations),
            ("POST", f"{ROOT}/organizations", self.create_organization),
            ("DELETE", ORGANIZATION, self.delete_organization),
        ]
        return [
            *(web.route(method, path, self._guard(verb, Scope.ADMIN)) for method, path, verb in of_admins),
            *(web.route(method, path, self._guard(verb, Scope.OPERATOR)) for method, path, verb in of_operators),
        ]

    def _guard(self, verb: Verb, scope: Scope) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """The verb behind its scope and its organization: an operator acts on any, an admin on its own alone."""

        async def handle(request: web.Request) -> web.StreamResponse:
            caller = await authenticate(self.platform, request)
            organization = request.match_info.get("organization", "")
            if Scope.OPERATOR not in caller.scopes:
                caller.check_scope(scope)
                if organization != caller.organization:
                    raise SearchError(ErrorCode.FORBIDDEN, reason="there is no such organization, or it is not yours")
            administration = self.platform.administration(actor=f"token {caller.token}")
            return await verb(request, administration, organization)

        return answer_errors(handle, render_problem)

    async def get_organization(self, _request: web.Request, administration: Administration, organization: str) -> web.Response:
        """The organization and its bounds."""
        return _answer(_render_organization(await administration.get_organization(organization)))

    async def put_limits(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Sets budget, rate and concurrency: they hold for the very next call."""
        body = structure(await read_json(request), LimitsBody, spell=camel_case)
        return _answer(_render_organization(await administration.limit_organization(organization, **attrs.asdict(body))))

    async def read_usage(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """What its searches add up to, from a day to a day; as CSV where `format` or `Accept` says so."""
        return await answer_usage(request, administration, organization)

    async def list_providers(self, _request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Every enabled provider: what it honours, its end, and how it stands with this organization."""
        found = await administration.get_organization(organization)
        selection = await administration.find_selection(organization)
        stored = {credential.provider: credential for credential in await administration.list_credentials(organization)}
        off = await administration.switched_off()
        rows = [
            describe_provider(toolkit)
            | {
                "allowed": found.may_select(toolkit.id),
                "switchedOff": off.get(toolkit.id),
                "selected": selection is not None and selection.choice.provider == toolkit.id,
                "credential": _render_credential(stored[toolkit.id]) if toolkit.id in stored else None,
            }
            for toolkit in administration.registry
        ]
        return _answer({"providers": rows})

    async def list_models(self, request: web.Request, _administration: Administration, organization: str) -> web.Response:
        """A provider's models, asked of its vendor with the organization's key."""
        models = await self.platform.list_models(organization, request.match_info["provider"])
        return _answer({"models": [attrs.asdict(model) for model in models]})

    async def put_credential(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Stores a provider's key; it can be used and replaced, never read."""
        body = structure(await read_json(request), CredentialBody)
        stored = await administration.store_credential(organization, request.match_info["provider"], body.value)
        return _answer(_render_credential(stored))

    async def get_credential(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """The last four characters of a key, and its age."""
        provider = request.match_info["provider"]
        stored = [c for c in await administration.list_credentials(organization) if c.provider == provider]
        return _answer(_render_credential(stored[0])) if stored else not_found("credential")

    async def remove_credential(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Deletes a key."""
        return _removed(await administration.remove_credential(organization, request.match_info["provider"]), "credential")

    async def put_selection(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Selects a provider: the very next call goes there."""
        body = structure(await read_json(request), SelectionBody, spell=camel_case)
        selection = body.to_selection()
        await administration.check_selection(organization, selection)
        await self.platform.check_models(organization, selection)
        await administration.put_selection(organization, selection)
        return _answer(_render_selection(selection))

    async def get_selection(self, _request: web.Request, administration: Administration, organization: str) -> web.Response:
        """What is selected."""
        selection = await administration.find_selection(organization)
        return not_found("selection") if selection is None else _answer(_render_selection(selection))

    async def remove_selection(self, _request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Selects nothing."""
        return _removed(await administration.remove_selection(organization), "selection")

    async def list_agents(self, _request: web.Request, administration: Administration, organization: str) -> web.Response:
        """The agents and their gates."""
        return _answer({"agents": [_render_agent(agent) for agent in await administration.list_agents(organization)]})

    async def get_agent(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """One agent."""
        found = await administration.list_agents(organization, agent=request.match_info["agent"])
        return _answer(_render_agent(found[0])) if found else not_found("agent")

    async def put_agent(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Makes an agent, or changes its gates."""
        body = structure(await read_json(request), AgentBody, spell=camel_case)
        agent = request.match_info["agent"]
        return _answer(_render_agent(await administration.put_agent(organization, agent, **attrs.asdict(body))))

    async def remove_agent(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Deletes an agent."""
        return _removed(await administration.remove_agent(organization, request.match_info["agent"]), "agent")

    async def list_tokens(self, _request: web.Request, administration: Administration, organization: str) -> web.Response:
        """The tokens, without their secrets."""
        return _answer({"tokens": [_render_token(token) for token in await administration.list_tokens(organization)]})

    async def issue_token(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """A new token; its text is in this answer alone."""
        body = structure(await read_json(request), TokenBody, spell=camel_case)
        token, text = await administration.issue_token(
            organization, name=body.name, scopes=body.scopes, agent=body.agent, expires_at=body.expires_at
        )
        return _answer(_render_token(token) | {"token": text}, status=201)

    async def revoke_token(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Deletes a token: the very next call that bears it is refused."""
        return _removed(await administration.revoke_token(organization, request.match_info["token"]), "token")

    async def list_changes(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """The audit trail, newest first; `before` is the id that the page before ended with."""
        before = request.query.get("before")
        if before is not None and not (before.isascii() and before.isdigit() and len(before) < 19):
            raise SearchError(ErrorCode.VALIDATION_ERROR, faults=[Fault("$.before", "expected the id of a change")])
        changes = await administration.list_changes(organization, before=None if before is None else int(before))
        return _answer({"changes": [attrs.asdict(change) for change in changes]})

    async def list_organizations(self, _request: web.Request, administration: Administration, _: str) -> web.Response:
        """Every organization."""
        return _answer({"organizations": [_render_organization(each) for each in await administration.list_organizations()]})

    async def create_organization(self, request: web.Request, administration: Administration, _: str) -> web.Response:
        """A new organization with its default agent."""
        body = structure(await read_json(request), OrganizationBody)
        made = await administration.create_organization(body.organization, body.name or body.organization)
        return _answer(_render_organization(made), status=201)

    async def delete_organization(self, _request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Deletes it with all its data."""
        await administration.delete_organization(organization)
        return web.Response(status=204)


def _answer(body: object, *, status: int = 200) -> web.Response:
    return web.json_response(body, status=status, headers={"Cache-Control": "no-store"})


def _removed(was_there: bool, what: str) -> web.Response:
    return web.Response(status=204) if was_there else not_found(what)


def _render(fields: Mapping[str, object]) -> dict[str, object]:
    return {camel_case(name): value for name, value in fields.items()}


def _render_organization(organization: Organization) -> dict[str, object]:
    return _render(attrs.asdict(organization))


def _render_agent(agent: Agent) -> dict[str, object]:
    return _render(attrs.asdict(agent))


def _render_credential(credential: Credential) -> dict[str, object]:
    return {"provider": credential.provider, "lastFour": credential.last_four, "storedAt": credential.stored_at}


def _render_selection(selection: Selection) -> dict[str, object]:
    limits = {name: getattr(selection, name) for name in ("default_results", "max_results", "deadline_seconds", "cache_seconds")}
    fallbacks = [attrs.asdict(fallback) for fallback in selection.fallbacks]
    return attrs.asdict(selection.choice) | {"fallbacks": fallbacks} | _render(limits)


def _render_token(token: Token) -> dict[str, object]:
    return _render(attrs.asdict(token) | {"scopes": sorted(token.scopes)})
