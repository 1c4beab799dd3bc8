"""Calling a platform from Python and notebooks. Each name is loaded when it is first used."""

from typing import TYPE_CHECKING

from searchport.lazy import lazy_names

if TYPE_CHECKING:
    from .answer import SearchAnswer, SearchHit
    from .async_client import AsyncClient
    from .failures import PlatformError
    from .options import SearchOptions
    from .plan import PlannedProvider, PlanRefusal, SearchPlan
    from .sync_client import Client
    from .tool import ToolResult
    from .transport import Transport

__all__ = [
    "AsyncClient",
    "Client",
    "PlanRefusal",
    "PlannedProvider",
    "PlatformError",
    "SearchAnswer",
    "SearchHit",
    "SearchOptions",
    "SearchPlan",
    "ToolResult",
    "Transport",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AsyncClient": "async_client",
        "Client": "sync_client",
        "PlanRefusal": "plan",
        "PlannedProvider": "plan",
        "PlatformError": "failures",
        "SearchAnswer": "answer",
        "SearchHit": "answer",
        "SearchOptions": "options",
        "SearchPlan": "plan",
        "ToolResult": "tool",
        "Transport": "transport",
    },
)
