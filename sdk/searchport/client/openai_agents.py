"""The tool `web_search` for the OpenAI Agents SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .async_client import AsyncClient
from .tool import import_library, read_declaration

if TYPE_CHECKING:
    from agents import FunctionTool  # type: ignore[import-not-found]  # no dependency of ours

__all__ = ["search_tool"]


async def search_tool(client: AsyncClient) -> FunctionTool:
    """The platform's tool in OpenAI's strict mode; its output is the text, since the library has no place for more.

    A failure is text too, which says whether to call again. client: it must stay open as long as the tool is used.
    Raises SearchError where the platform does not declare it, ImportError without openai-agents.
    """
    library = import_library("agents", "openai-agents")
    declared = read_declaration(await client.describe_tool("openai-responses", strict=True))

    async def search(_: object, arguments: str) -> str:
        return (await client.call_tool(arguments)).text

    return library.FunctionTool(
        name=declared.name,
        description=declared.description,
        params_json_schema=declared.parameters,
        on_invoke_tool=search,
        strict_json_schema=True,
    )
