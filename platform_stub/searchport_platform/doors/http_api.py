"""The platform API: searching. `POST /api/platform/v1/action/search/web`."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from aiohttp import web

from searchport.errors import ErrorCode, SearchError, shorten
from searchport_platform.doors.http import answer_errors, read_json
from searchport_platform.doors.problem import render_problem
from searchport_platform.platform import ACTION, Caller, Platform

__all__ = ["SearchDoor", "authenticate"]

AGENT_HEADER = "X-Searchport-Agent"


async def authenticate(platform: Platform, request: web.Request) -> Caller:
    """Who calls, by the bearer token (RFC 6750, section 2.1). Raises SearchError."""
    scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise SearchError(ErrorCode.UNAUTHORIZED)
    return await platform.authenticate(bearer.strip(), agent=request.headers.get(AGENT_HEADER))


@attrs.frozen
class SearchDoor:
    """The action's handler."""

    platform: Platform

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        return [web.post("/api/platform/v1/action/search/web", answer_errors(self.search, render_problem))]

    async def search(self, request: web.Request) -> web.Response:
        """One search, for the organization of the token; with `dryRun`, what it would do."""
        caller = await authenticate(self.platform, request)
        payload, is_dry_run = _take_dry_run(await read_json(request))
        if is_dry_run:
            plan = await self.platform.plan_call(ACTION, payload, caller)
            return web.json_response(plan, headers={"Cache-Control": "no-store"})
        answer = await self.platform.call(ACTION, payload, caller)
        return web.json_response(answer, headers={"Cache-Control": "no-store", "X-Request-Id": str(answer["requestId"])})


def _take_dry_run(payload: object) -> tuple[object, bool]:
    """The payload without `dryRun`, which is no option of the contract, and whether it asks for one. Raises SearchError."""
    if not isinstance(payload, Mapping) or "dryRun" not in payload:
        return payload, False
    wanted = payload["dryRun"]
    if wanted is not None and not isinstance(wanted, bool):
        raise SearchError.invalid("$.dryRun", f"expected true or false, got {shorten(wanted)}")
    return {name: value for name, value in payload.items() if name != "dryRun"}, bool(wanted)
