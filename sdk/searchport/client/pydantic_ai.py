"""The tool `web_search` for Pydantic AI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .async_client import AsyncClient
from .tool import import_library, read_declaration

if TYPE_CHECKING:
    from pydantic_ai import Tool, ToolReturn  # type: ignore[import-not-found]  # no dependency of ours

__all__ = ["search_tool"]


async def search_tool(client: AsyncClient) -> Tool[object]:
    """The platform's tool: the model reads the text, and the answer as an object is the return's `metadata`.

    A failure is text too, which says whether to call again. client: it must stay open as long as the tool is used.
    Raises SearchError where the platform does not declare it, ImportError without pydantic-ai-slim.
    """
    library = import_library("pydantic_ai", "pydantic-ai-slim")
    declared = read_declaration(await client.describe_tool())

    async def search(**arguments: object) -> ToolReturn:
        result = await client.call_tool(arguments)
        return library.ToolReturn(result.text, metadata=result.structured)

    return library.Tool.from_schema(search, name=declared.name, description=declared.description, json_schema=declared.parameters)
