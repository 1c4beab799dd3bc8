"""The admin API under `/api/platform/v1`: an organization's providers, keys, selection, agents, tokens and trail."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import attrs
from aiohttp import web

from searchport.errors import ErrorCode, Fault, SearchError
from searchport.wire import camel_case, structure
from searchport_platform.doors.admin_answers import (
    AGENT,
    AGENTS,
    CHANGES,
    CREDENTIAL,
    ISSUED_TOKEN,
    MODELS,
    ORGANIZATIONS,
    PROVIDERS,
    SELECTION,
    TOKENS,
    render_agent,
    render_credential,
    render_organization,
    render_selection,
    render_token,
)
from searchport_platform.doors.admin_answers import ORGANIZATION as ORGANIZATION_SHAPE
from searchport_platform.doors.admin_bodies import (
    AGENT_BODY,
    CREDENTIAL_BODY,
    LIMITS_BODY,
    ORGANIZATION_BODY,
    SELECTION_BODY,
    TOKEN_BODY,
    AgentBody,
    CredentialBody,
    LimitsBody,
    OrganizationBody,
    SelectionBody,
    TokenBody,
)
from searchport_platform.doors.http import NO_STORE, answer_errors, read_json
from searchport_platform.doors.http_api import authenticate
from searchport_platform.doors.operations import (
    COMMON,
    VENDOR,
    Answer,
    Body,
    Parameter,
    check_query,
    describe,
    find_operation,
)
from searchport_platform.doors.problem import PROBLEMS, not_found, render_problem
from searchport_platform.doors.usage import PARAMETERS, USAGE, answer_usage
from searchport_platform.platform import Platform
from searchport_platform.provider_description import describe_provider
from searchport_platform.tenancy.administration import Administration
from searchport_platform.tenancy.tokens import Scope

__all__ = ["AdminDoor"]

ROOT = "/api/platform/v1"
ORGANIZATION = f"{ROOT}/organizations/{{organization}}"

F = TypeVar("F", bound=Callable[..., object])
Verb = Callable[[web.Request, Administration, str], Awaitable[web.Response]]


def _operation(
    answers: Mapping[int, Answer],
    *,
    body: Body | None = None,
    parameters: tuple[Parameter, ...] = (),
    codes: frozenset[ErrorCode] = frozenset(),
    scope: Scope = Scope.ADMIN,
    missing: str | None = None,
) -> Callable[[F], F]:
    """Describes a verb. missing: what it answers 404 for."""
    absent = {} if missing is None else {404: Answer(f"There is no such {missing}.", {PROBLEMS.media: PROBLEMS.shape})}
    return describe(
        "Administration" if scope is Scope.ADMIN else "Operation",
        answers={**answers, **absent},
        body=body,
        parameters=parameters,
        codes=COMMON | codes,
        failures=PROBLEMS,
        scope=scope,
    )


_UNKNOWN_PROVIDER = frozenset({ErrorCode.PROVIDER_NOT_CONFIGURED})
_DELETED = {204: Answer("It is deleted.")}
_BEFORE = Parameter("before", "The id that the page before ended with.", {"type": "string", "pattern": "^[0-9]{1,18}$"})


@attrs.frozen
class AdminDoor:
    """The handlers. An organization that is not the caller's is answered like one that is not there."""

    platform: Platform

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        provider = f"{ORGANIZATION}/search/providers/{{provider}}"
        verbs: list[tuple[str, str, Verb]] = [
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
            ("GET", f"{ROOT}/organizations", self.list_organizations),
            ("POST", f"{ROOT}/organizations", self.create_organization),
            ("DELETE", ORGANIZATION, self.delete_organization),
        ]
        return [web.route(method, path, self._guard(verb)) for method, path, verb in verbs]

    def _guard(self, verb: Verb) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """The verb behind its scope and its organization: an operator acts on any, an admin on its own alone.

        A verb without a description is an operator's.
        """
        operation = find_operation(verb)
        scope = Scope.OPERATOR if operation is None or operation.scope is None else operation.scope

        @functools.wraps(verb)
        async def handle(request: web.Request) -> web.StreamResponse:
            caller = await authenticate(self.platform, request)
            organization = request.match_info.get("organization", "")
            if Scope.OPERATOR not in caller.scopes:
                caller.check_scope(scope)
                if organization != caller.organization:
                    raise SearchError(ErrorCode.FORBIDDEN, reason="there is no such organization, or it is not yours")
            check_query(request, verb)
            administration = self.platform.administration(actor=f"token {caller.token}")
            return await verb(request, administration, organization)

        return answer_errors(handle, render_problem)

    @_operation({200: Answer("The organization.", ORGANIZATION_SHAPE)})
    async def get_organization(self, _request: web.Request, administration: Administration, organization: str) -> web.Response:
        """The organization and its bounds."""
        return _answer(render_organization(await administration.get_organization(organization)))

    @_operation({200: Answer("The organization.", ORGANIZATION_SHAPE)}, body=LIMITS_BODY)
    async def put_limits(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Sets budget, rate and concurrency: they hold for the very next call."""
        body = structure(await read_json(request), LimitsBody, spell=camel_case)
        return _answer(render_organization(await administration.limit_organization(organization, **attrs.asdict(body))))

    @_operation({200: USAGE}, parameters=PARAMETERS)
    async def read_usage(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """What its searches add up to, from a day to a day; as CSV where `format` or `Accept` says so."""
        return await answer_usage(request, administration, organization)

    @_operation({200: Answer("The providers.", PROVIDERS)})
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
                "credential": render_credential(stored[toolkit.id]) if toolkit.id in stored else None,
            }
            for toolkit in administration.registry
        ]
        return _answer({"providers": rows})

    @_operation({200: Answer("The models; none where the provider has no choice.", MODELS)}, codes=VENDOR)
    async def list_models(self, request: web.Request, _administration: Administration, organization: str) -> web.Response:
        """A provider's models, asked of its vendor with the organization's key."""
        models = await self.platform.list_models(organization, request.match_info["provider"])
        return _answer({"models": [attrs.asdict(model) for model in models]})

    @_operation({200: Answer("What may be told of it.", CREDENTIAL)}, body=CREDENTIAL_BODY, codes=_UNKNOWN_PROVIDER)
    async def put_credential(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Stores a provider's key; it can be used and replaced, never read."""
        body = structure(await read_json(request), CredentialBody)
        stored = await administration.store_credential(organization, request.match_info["provider"], body.value)
        return _answer(render_credential(stored))

    @_operation({200: Answer("What may be told of it.", CREDENTIAL)}, missing="credential")
    async def get_credential(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """The last four characters of a key, and its age."""
        provider = request.match_info["provider"]
        stored = [c for c in await administration.list_credentials(organization) if c.provider == provider]
        return _answer(render_credential(stored[0])) if stored else not_found("credential")

    @_operation(_DELETED, missing="credential")
    async def remove_credential(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Deletes a key."""
        return _removed(await administration.remove_credential(organization, request.match_info["provider"]), "credential")

    @_operation({200: Answer("The selection.", SELECTION)}, body=SELECTION_BODY, codes=VENDOR)
    async def put_selection(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Selects a provider: the very next call goes there."""
        body = structure(await read_json(request), SelectionBody, spell=camel_case)
        selection = body.to_selection()
        await administration.check_selection(organization, selection)
        await self.platform.check_models(organization, selection)
        await administration.put_selection(organization, selection)
        return _answer(render_selection(selection))

    @_operation({200: Answer("The selection.", SELECTION)}, missing="selection")
    async def get_selection(self, _request: web.Request, administration: Administration, organization: str) -> web.Response:
        """What is selected."""
        selection = await administration.find_selection(organization)
        return not_found("selection") if selection is None else _answer(render_selection(selection))

    @_operation(_DELETED, missing="selection")
    async def remove_selection(self, _request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Selects nothing."""
        return _removed(await administration.remove_selection(organization), "selection")

    @_operation({200: Answer("The agents.", AGENTS)})
    async def list_agents(self, _request: web.Request, administration: Administration, organization: str) -> web.Response:
        """The agents and their gates."""
        return _answer({"agents": [render_agent(agent) for agent in await administration.list_agents(organization)]})

    @_operation({200: Answer("The agent.", AGENT)}, missing="agent")
    async def get_agent(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """One agent."""
        found = await administration.list_agents(organization, agent=request.match_info["agent"])
        return _answer(render_agent(found[0])) if found else not_found("agent")

    @_operation({200: Answer("The agent.", AGENT)}, body=AGENT_BODY)
    async def put_agent(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Makes an agent, or changes its gates."""
        body = structure(await read_json(request), AgentBody, spell=camel_case)
        agent = request.match_info["agent"]
        return _answer(render_agent(await administration.put_agent(organization, agent, **attrs.asdict(body))))

    @_operation(_DELETED, missing="agent")
    async def remove_agent(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Deletes an agent."""
        return _removed(await administration.remove_agent(organization, request.match_info["agent"]), "agent")

    @_operation({200: Answer("The tokens.", TOKENS)})
    async def list_tokens(self, _request: web.Request, administration: Administration, organization: str) -> web.Response:
        """The tokens, without their secrets."""
        return _answer({"tokens": [render_token(token) for token in await administration.list_tokens(organization)]})

    @_operation({201: Answer("The token, with its text.", ISSUED_TOKEN)}, body=TOKEN_BODY)
    async def issue_token(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """A new token; its text is in this answer alone."""
        body = structure(await read_json(request), TokenBody, spell=camel_case)
        token, text = await administration.issue_token(
            organization, name=body.name, scopes=body.scopes, agent=body.agent, expires_at=body.expires_at
        )
        return _answer(render_token(token) | {"token": text}, status=201)

    @_operation(_DELETED, missing="token")
    async def revoke_token(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Deletes a token: the very next call that bears it is refused."""
        return _removed(await administration.revoke_token(organization, request.match_info["token"]), "token")

    @_operation({200: Answer("At most a hundred changes.", CHANGES)}, parameters=(_BEFORE,))
    async def list_changes(self, request: web.Request, administration: Administration, organization: str) -> web.Response:
        """The audit trail, newest first; `before` is the id that the page before ended with."""
        before = request.query.get("before")
        if before is not None and not (before.isascii() and before.isdigit() and len(before) < 19):
            raise SearchError(ErrorCode.VALIDATION_ERROR, faults=[Fault("$.before", "expected the id of a change")])
        changes = await administration.list_changes(organization, before=None if before is None else int(before))
        return _answer({"changes": [attrs.asdict(change) for change in changes]})

    @_operation({200: Answer("The organizations.", ORGANIZATIONS)}, scope=Scope.OPERATOR)
    async def list_organizations(self, _request: web.Request, administration: Administration, _: str) -> web.Response:
        """Every organization."""
        return _answer({"organizations": [render_organization(each) for each in await administration.list_organizations()]})

    @_operation(
        {201: Answer("The organization.", ORGANIZATION_SHAPE)},
        body=ORGANIZATION_BODY,
        codes=_UNKNOWN_PROVIDER,
        scope=Scope.OPERATOR,
    )
    async def create_organization(self, request: web.Request, administration: Administration, _: str) -> web.Response:
        """A new organization with its default agent."""
        body = structure(await read_json(request), OrganizationBody)
        made = await administration.create_organization(body.organization, body.name or body.organization)
        return _answer(render_organization(made), status=201)

    @_operation(_DELETED, scope=Scope.OPERATOR)
    async def delete_organization(self, _request: web.Request, administration: Administration, organization: str) -> web.Response:
        """Deletes it with all its data."""
        await administration.delete_organization(organization)
        return web.Response(status=204)


def _answer(body: object, *, status: int = 200) -> web.Response:
    return web.json_response(body, status=status, headers=NO_STORE)


def _removed(was_there: bool, what: str) -> web.Response:
    return web.Response(status=204) if was_there else not_found(what)
