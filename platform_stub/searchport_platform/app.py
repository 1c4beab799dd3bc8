"""The HTTP server, put together: settings, toolkits, clients, doors."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from importlib.metadata import version

import structlog
from aiohttp import web

from searchport.wire import nearest
from searchport_platform.doors.health import HealthDoor
from searchport_platform.doors.http import BODY_LIMIT, log_access
from searchport_platform.doors.ops import OpsDoor
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Router
from searchport_platform.settings import BASE_URLS, KEEP, Settings, SettingsError

__all__ = ["build_app", "build_router", "serve"]

DRAIN_SECONDS = 20.0
"""How long calls in flight may take after SIGTERM; longer than any deadline of a call."""

_log = structlog.get_logger("searchport.server")


def build_router(settings: Settings, clients: HttpClients) -> Router:
    """The router over every enabled toolkit. Raises RegistryError, SettingsError."""
    registry = Registry.discover(settings.toolkit_changes)
    for variable, providers in ((BASE_URLS, settings.origins), (KEEP, settings.kept_providers)):
        for provider in sorted(set(providers) - set(registry.toolkits)):
            hint = nearest(provider, registry.toolkits)
            raise SettingsError(f"{variable}: {provider[:64]!r} is no enabled provider{hint}")
    return Router(registry=registry, clients=clients, origins=settings.origins, kept=settings.kept_providers)


def build_app(settings: Settings, clients: HttpClients | None = None) -> web.Application:
    """The server of the stateless door; it opens no database. Raises RegistryError, SettingsError."""
    if settings.is_production and not settings.ops_token:
        raise SettingsError("SEARCHPORT_OPS_TOKEN: required where SEARCHPORT_ENV is production; set it to a long random text")
    clients = clients or HttpClients()
    router = build_router(settings, clients)
    app = web.Application(middlewares=[log_access], client_max_size=BODY_LIMIT)
    app.add_routes(HealthDoor(router).routes())
    app.add_routes(OpsDoor(router, settings.ops_token, version("searchport")).routes())
    app.cleanup_ctx.append(_closing(clients))
    _log_sunsets(router)
    return app


def _closing(clients: HttpClients) -> Callable[[web.Application], AsyncIterator[None]]:
    async def close(_app: web.Application) -> AsyncIterator[None]:
        async with clients:
            yield

    return close


def _log_sunsets(router: Router) -> None:
    for toolkit in router.registry:
        for notice in router.read_notices(toolkit):
            _log.warning(notice.message, provider=toolkit.id)


async def serve(app: web.Application, host: str, port: int) -> None:
    """Serves until SIGTERM or SIGINT, then lets calls in flight finish. Raises OSError where the address cannot be bound."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=DRAIN_SECONDS)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        _log.info("listening", host=host, port=runner.addresses[0][1])
        await stopping.wait()
        _log.info("stopping")
    finally:
        await runner.cleanup()
