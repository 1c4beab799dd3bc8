"""The platform API: searching. `POST /api/platform/v1/action/search/web`."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from aiohttp import web

from searchport.errors import ErrorCode, SearchError, shorten
from searchport.json_schema import envelope_schema, object_schema, properties_of
from searchport.request import SearchRequest, parse_request
from searchport.result import Attempt, Envelope, FilterReport, RankedResult, render_envelope
from searchport_platform.doors.http import NO_STORE, RECORD, answer_errors, read_json
from searchport_platform.doors.operations import Answer, Body, Parameter, Shape, check_query, describe
from searchport_platform.doors.problem import PROBLEMS, render_problem
from searchport_platform.platform import ACTION, Caller, Platform
from searchport_platform.tenancy.tokens import Scope

__all__ = ["AGENT_PARAMETER", "SEARCH_ANSWER", "SearchDoor", "authenticate", "call_action", "search_schema"]

AGENT_HEADER = "X-Searchport-Agent"
AGENT_PARAMETER = Parameter(AGENT_HEADER, "The agent that the call is made for; needs the scope `agents`.", place="header")


async def authenticate(platform: Platform, request: web.Request) -> Caller:
    """Who calls, by the bearer token (RFC 6750, section 2.1). Raises SearchError."""
    scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise SearchError(ErrorCode.UNAUTHORIZED)
    return await platform.authenticate(bearer.strip(), agent=request.headers.get(AGENT_HEADER))


def search_schema() -> dict[str, object]:
    """The contract's options, and `dryRun`, which is none of them."""
    words = {"max_results": "The most results to return; fewer is normal. Left out, the organization's default."}
    schema = object_schema(SearchRequest, nulls=True, words=words)
    properties = properties_of(schema)
    del properties["maxResults"]["default"]
    properties["dryRun"] = {"type": ["boolean", "null"], "description": "Tells what the call would do; sends and spends nothing."}
    return schema


def _plan_schema() -> dict[str, object]:
    whole, whole_or_null, text = {"type": "integer"}, {"type": ["integer", "null"]}, {"type": "string"}
    worst = {"provider": text, "vendorRequests": whole, "worstCaseMicrousd": whole}
    refused = {
        "code": {"type": "string", "enum": [*map(str, ErrorCode)]},
        "detail": text,
        "retryAfter": {"type": ["number", "null"]},
    }
    properties: dict[str, object] = {
        "dryRun": {"const": True},
        "provider": {"type": ["string", "null"], "description": "Who would be asked first."},
        "maxResults": whole_or_null,
        "vendorRequests": {"type": "integer", "description": "The most requests to the first provider."},
        "worstCaseMicrousd": {"type": "integer", "description": "The most that the call can cost, its fallbacks included."},
        "fallbacks": {"type": "array", "items": {"type": "object", "properties": worst, "required": list(worst)}},
        "leftToday": {"type": ["integer", "null"], "description": "Searches of the agent."},
        "leftThisMonthMicrousd": {"type": ["integer", "null"], "description": "Null where no budget is set."},
        "refused": {"type": ["object", "null"], "properties": refused, "required": list(refused)},
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _example() -> object:
    result = RankedResult(
        rank=1,
        title="Red panda",
        url="https://example.com/red-panda",
        snippet="The red panda lives in the eastern Himalayas.",
        published_date="2026-11-28T09:15Z",
        date_basis="date-time",
    )
    envelope = Envelope(
        query="red pandas",
        provider="brave",
        vendor="Brave",
        results=(result,),
        ignored=("language",),
        filter_report=FilterReport(undated=2, duplicate=1),
        attempts=(Attempt(provider="brave", outcome="ok", vendor_requests=1),),
        request_id="01938a54c1f07c3e",
    )
    return render_envelope(envelope)


SEARCH_ANSWER = Shape("SearchAnswer", envelope_schema, example=_example)
PLAN = Shape("Plan", _plan_schema)
_ANSWERS = {
    200: Answer(
        "The results, in the vendor's order; with `dryRun`, the plan.",
        Shape("SearchOrPlan", lambda: {"anyOf": [SEARCH_ANSWER.ref, PLAN.ref]}, (SEARCH_ANSWER, PLAN)),
    )
}
_BODY = Body(
    Shape("Search", search_schema),
    {
        "plain": {"query": "red pandas"},
        "recentOfOneSite": {"query": "red pandas", "freshness": "P7D", "site": "example.com", "maxResults": 5},
        "dryRun": {"query": "red pandas", "dryRun": True},
    },
)


@attrs.frozen
class SearchDoor:
    """The action's handler."""

    platform: Platform

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        return [web.post("/api/platform/v1/action/search/web", answer_errors(self.search, render_problem))]

    @describe(
        "Search",
        body=_BODY,
        answers=_ANSWERS,
        parameters=(AGENT_PARAMETER,),
        codes=frozenset(ErrorCode),
        failures=PROBLEMS,
        scope=Scope.SEARCH,
        identity="searchWeb",
    )
    async def search(self, request: web.Request) -> web.Response:
        """One search, for the organization of the token; with `dryRun`, what it would do."""
        caller = await authenticate(self.platform, request)
        check_query(request, self.search)
        answer = await call_action(self.platform, ACTION, await read_json(request), caller)
        if "requestId" in answer:
            request[RECORD] = str(answer["requestId"])
        return web.json_response(answer, headers=NO_STORE)


async def call_action(platform: Platform, action: str, payload: object, caller: Caller) -> dict[str, object]:
    """The platform API's JSON in, its JSON out: with `dryRun` a plan, else a search. Raises SearchError."""
    options, is_dry_run = _take_dry_run(payload)
    if not is_dry_run:
        return await platform.call(action, options, caller)
    parse_request(options)  # what cannot be read is a mistake whoever asks; a plan tells of gates first
    return await platform.plan_call(action, options, caller)


def _take_dry_run(payload: object) -> tuple[object, bool]:
    """The payload without `dryRun`, which is no option of the contract, and whether it asks for one. Raises SearchError."""
    if not isinstance(payload, Mapping) or "dryRun" not in payload:
        return payload, False
    wanted = payload["dryRun"]
    if wanted is not None and not isinstance(wanted, bool):
        raise SearchError.invalid("$.dryRun", f"expected true or false, got {shorten(wanted)}")
    return {name: value for name, value in payload.items() if name != "dryRun"}, bool(wanted)
