"""`/healthz` and `/readyz`: whether the process lives, and whether it can take calls. Neither asks a vendor."""

from __future__ import annotations

import attrs
from aiohttp import web

from searchport.errors import SearchError
from searchport_platform.platform import Platform
from searchport_platform.routing.router import Router

__all__ = ["HealthDoor"]


@attrs.frozen
class HealthDoor:
    """Both are open to everyone and tell no secret."""

    router: Router
    platform: Platform | None = None

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        return [web.get("/healthz", self.healthz), web.get("/readyz", self.readyz)]

    async def healthz(self, _request: web.Request) -> web.Response:
        """200 while the process answers."""
        return web.json_response({"ok": True})

    async def readyz(self, _request: web.Request) -> web.Response:
        """200 with the number of enabled providers and the ends that are announced; 503 where the database does not answer."""
        if self.platform is not None:
            try:
                await self.platform.check_storage()
            except SearchError as error:
                return web.json_response({"ok": False, "code": str(error.code)}, status=error.code.status)
        registry = self.router.registry
        sunsets = {toolkit.id: toolkit.sunset.ends.isoformat() for toolkit in registry if toolkit.sunset is not None}
        return web.json_response({"ok": True, "providers": len(registry.toolkits), "sunsets": sunsets})
