"""The tool `web_search` for LangChain and LangGraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .async_client import AsyncClient
from .tool import import_library, read_declaration

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool  # type: ignore[import-not-found]  # no dependency of ours

__all__ = ["search_tool"]


async def search_tool(client: AsyncClient) -> StructuredTool:
    """The platform's tool, to be awaited (`ainvoke`): the text is the message's content, the answer as an object its artifact.

    A failure is a message of status `error`, which the model reads. client: it must stay open as long as the tool is used.
    Raises SearchError where the platform does not declare it, ImportError without langchain-core.
    """
    tools = import_library("langchain_core.tools", "langchain-core")
    declared = read_declaration(await client.describe_tool())

    async def search(**arguments: object) -> tuple[str, dict[str, object] | None]:
        result = await client.call_tool(arguments)
        if result.is_error:
            raise tools.ToolException(result.text)
        return result.text, result.structured

    return tools.StructuredTool.from_function(
        coroutine=search,
        name=declared.name,
        description=declared.description,
        args_schema={"title": declared.name, "description": declared.description, **declared.parameters},
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
