"""`/healthz` and `/readyz`: whether the process lives, and whether it can take calls. Neither asks a vendor."""

from __future__ import annotations

import asyncio

import attrs
from aiohttp import web
from aiohttp.typedefs import Middleware

from searchport.errors import SearchError
from searchport_platform.doors.http import Handler
from searchport_platform.doors.operations import Answer, Shape, describe
from searchport_platform.platform import Platform
from searchport_platform.routing.router import Router

__all__ = ["Drain", "HealthDoor"]

_PATHS = frozenset({"/healthz", "/readyz"})

_OK = {"ok": {"const": True}}
_HEALTH = Shape("Health", lambda: {"type": "object", "properties": _OK, "required": ["ok"]})
_READY = Shape(
    "Ready",
    lambda: {
        "type": "object",
        "properties": _OK
        | {
            "providers": {"type": "integer", "description": "How many are enabled."},
            "sunsets": {
                "type": "object",
                "description": "Provider id -> the day on which it ends.",
                "additionalProperties": {"type": "string", "format": "date"},
            },
        },
        "required": ["ok", "providers", "sunsets"],
    },
)
_NOT_READY = Shape(
    "NotReady",
    lambda: {
        "type": "object",
        "properties": {"ok": {"const": False}, "code": {"type": "string", "enum": ["stopping", "storage_unavailable"]}},
        "required": ["ok", "code"],
    },
)
_READY_ANSWERS = {200: Answer("It is to get calls.", _READY), 503: Answer("It is to get none.", _NOT_READY)}


@attrs.define(eq=False)
class Drain:
    """The end of a server: from `begin` on it is not ready, and it is `idle` when the last call has its answer.

    in_flight: calls that are being answered, probes of its health left out.
    """

    is_on: bool = False
    in_flight: int = 0
    _idle: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)

    def begin(self) -> None:
        """Takes the server out of service; calls that still arrive are answered."""
        self.is_on = True

    async def wait_idle(self) -> None:
        """Returns when nothing is in flight."""
        while self.in_flight:
            self._idle.clear()
            await self._idle.wait()

    def count(self) -> Middleware:
        """The middleware that counts calls."""

        @web.middleware
        async def counting(request: web.Request, handler: Handler) -> web.StreamResponse:
            if request.path in _PATHS:
                return await handler(request)
            self.in_flight += 1
            try:
                return await handler(request)
            finally:
                self.in_flight -= 1
                self._idle.set()

        return counting


@attrs.frozen
class HealthDoor:
    """Both are open to everyone and tell no secret."""

    router: Router
    platform: Platform | None = None
    drain: Drain = attrs.field(factory=Drain)

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        return [web.get("/healthz", self.healthz), web.get("/readyz", self.readyz)]

    @describe("Health", answers={200: Answer("The process lives.", _HEALTH)}, security=())
    async def healthz(self, _request: web.Request) -> web.Response:
        """200 while the process answers."""
        return web.json_response({"ok": True})

    @describe("Health", answers=_READY_ANSWERS, security=())
    async def readyz(self, _request: web.Request) -> web.Response:
        """200 with the number of enabled providers and the ends that are announced; 503 where it is to get no more calls.

        That is while the database does not answer, and from the signal to stop on.
        """
        if self.drain.is_on:
            return web.json_response({"ok": False, "code": "stopping"}, status=503)
        if self.platform is not None:
            try:
                await self.platform.check_storage()
            except SearchError as error:
                return web.json_response({"ok": False, "code": str(error.code)}, status=error.code.status)
        registry = self.router.registry
        sunsets = {toolkit.id: toolkit.sunset.ends.isoformat() for toolkit in registry if toolkit.sunset is not None}
        return web.json_response({"ok": True, "providers": len(registry.toolkits), "sunsets": sunsets})
