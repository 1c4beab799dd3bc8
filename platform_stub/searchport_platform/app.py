"""The HTTP server, put together: settings, toolkits, clients, doors."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.metadata import version

import structlog
from aiohttp import web

from searchport import manual
from searchport.wire import nearest
from searchport_platform.doors import compat
from searchport_platform.doors.admin_api import AdminDoor
from searchport_platform.doors.agent_tool import AgentToolDoor
from searchport_platform.doors.health import Drain, HealthDoor
from searchport_platform.doors.http import BODY_LIMIT, TARGET_LIMIT, log_access
from searchport_platform.doors.http_api import SearchDoor
from searchport_platform.doors.manual import ManualDoor
from searchport_platform.doors.mcp import McpDoor
from searchport_platform.doors.openapi import OpenApiDoor
from searchport_platform.doors.ops import OpsDoor
from searchport_platform.doors.problem import answer_unknown_routes
from searchport_platform.doors.request_id import identify, sign
from searchport_platform.doors.search_block import SearchBlockDoor
from searchport_platform.metering.prices import Prices
from searchport_platform.platform import Platform
from searchport_platform.registry import Registry
from searchport_platform.routing.clients import HttpClients
from searchport_platform.routing.router import Router
from searchport_platform.settings import BASE_URLS, DEFAULT_PROVIDER, KEEP, PRICES, Settings, SettingsError

__all__ = ["bind", "build_app", "build_router", "local_url", "open_app", "serve"]

DRAIN = web.AppKey("DRAIN", Drain)
DRAIN_SECONDS = 20.5
"""How long calls in flight may take after SIGTERM; longer than any deadline of a call."""
STILL_OPEN_SECONDS = 3.0
"""Of these, how long new connections are still accepted, so that who balances the load can see that the server is not ready."""

_log = structlog.get_logger("searchport.server")


def build_router(settings: Settings, clients: HttpClients, *, public_url: str | None = None) -> Router:
    """The router over every enabled toolkit. Raises RegistryError, SettingsError."""
    registry = Registry.discover(settings.toolkit_changes)
    chosen = [settings.default_provider] if settings.default_provider else []
    named = {
        BASE_URLS: settings.origins,
        KEEP: settings.kept_providers,
        DEFAULT_PROVIDER: chosen,
        PRICES: Prices.parse(settings.prices).table,
    }
    for variable, providers in named.items():
        for provider in sorted(set(providers) - set(registry.toolkits)):
            hint = nearest(provider, registry.toolkits)
            raise SettingsError(f"{variable}: {provider[:64]!r} is no enabled provider{hint}")
    return Router(
        registry=registry, clients=clients, origins=settings.origins, kept=settings.kept_providers, public_url=public_url
    )


def build_app(settings: Settings, router: Router, platform: Platform | None = None) -> web.Application:
    """The server: the stateless door alone, or with a platform the platform's doors too. Raises SettingsError."""
    if settings.is_production and not settings.ops_token:
        raise SettingsError("SEARCHPORT_OPS_TOKEN: required where SEARCHPORT_ENV is production; set it to a long random text")
    drain = Drain()
    middlewares = [identify, log_access, answer_unknown_routes, drain.count()]
    app = web.Application(middlewares=middlewares, client_max_size=BODY_LIMIT)
    app.on_response_prepare.append(sign)
    app[DRAIN] = drain
    app.add_routes(HealthDoor(router, platform, drain).routes())
    app.add_routes(OpsDoor(router, settings.ops_token, version("searchport")).routes())
    app.add_routes(OpenApiDoor(version("searchport")).routes())
    if platform is not None:
        app.add_routes(SearchDoor(platform).routes())
        app.add_routes(AdminDoor(platform).routes())
        app.add_routes(SearchBlockDoor(platform).routes())
        app.add_routes(ManualDoor(manual.folder()).routes())
        app.add_routes(AgentToolDoor(platform).routes())
        app.add_routes(compat.routes(platform))
        mcp = McpDoor(platform)
        app.add_routes(mcp.routes())
        app.cleanup_ctx.append(mcp.run)
    return app


@asynccontextmanager
async def open_app(
    settings: Settings, *, ops_only: bool = False, public_url: str | None = None
) -> AsyncIterator[tuple[web.Application, Platform | None]]:
    """The server and its platform, ready; closed at the end. Raises RegistryError, SettingsError, SealingError, ValueError."""
    async with AsyncExitStack() as stack:
        clients = await stack.enter_async_context(HttpClients())
        router = build_router(settings, clients, public_url=settings.public_url or public_url)
        platform = None
        if not ops_only:
            opening = Platform.open(
                settings.database_url,
                secret_keys=settings.secret_keys,
                router=router,
                default_provider=settings.default_provider or None,
                prices=Prices.parse(settings.prices),
                record_days=settings.kept_days,
            )
            platform = await stack.enter_async_context(opening)
        for toolkit in router.registry:
            for notice in router.read_notices(toolkit):
                _log.warning(notice.message, provider=toolkit.id)
        yield build_app(settings, router, platform), platform


def bind(host: str, port: int) -> socket.socket:
    """A listening socket, so that the port is known before the first answer is. Raises OSError where it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise OSError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None


def local_url(listening: socket.socket) -> str:
    """Where this machine reaches the socket."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104  # compared, not bound
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(app: web.Application, listening: socket.socket, *, on_ready: Callable[[], None] = lambda: None) -> None:
    """Serves until SIGTERM or SIGINT, then lets calls in flight finish: at most `STILL_OPEN_SECONDS` and `DRAIN_SECONDS` later.

    on_ready: called once connections are accepted.
    """
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    runner = web.AppRunner(
        app, access_log=None, handler_cancellation=True, shutdown_timeout=DRAIN_SECONDS, max_line_size=TARGET_LIMIT
    )
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        _log.info("listening", url=local_url(listening))
        on_ready()
        await stopping.wait()
        _log.info("stopping", in_flight=app[DRAIN].in_flight)
        app[DRAIN].begin()
        with suppress(TimeoutError):
            await asyncio.wait_for(app[DRAIN].wait_idle(), STILL_OPEN_SECONDS)
    finally:
        await runner.cleanup()
