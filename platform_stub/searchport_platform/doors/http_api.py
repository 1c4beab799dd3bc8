"""The platform API: searching. `POST /api/platform/v1/action/search/web`."""

from __future__ import annotations

import attrs
from aiohttp import web

from searchport.errors import ErrorCode, SearchError
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
        """One search, for the organization of the token."""
        caller = await authenticate(self.platform, request)
        answer = await self.platform.call(ACTION, await read_json(request), caller)
        return web.json_response(answer, headers={"Cache-Control": "no-store", "X-Request-Id": str(answer["requestId"])})
