"""The door for Python in the platform's own process: what `searchport.client.AsyncClient(transport=...)` calls."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from searchport_platform.doors.agent_tool import call_tool, describe_tool
from searchport_platform.doors.http_api import call_action
from searchport_platform.doors.tool_answer import render_result
from searchport_platform.platform import Caller, Platform

__all__ = ["LocalTransport"]


@attrs.frozen
class LocalTransport:
    """A platform that is open in the running event loop, for one caller. Closing the platform is left to who opened it."""

    platform: Platform = attrs.field(repr=False)
    caller: Caller

    async def call(self, action: str, payload: Mapping[str, object]) -> Mapping[str, object]:
        """The same as the platform API's route. Raises SearchError."""
        return await call_action(self.platform, action, payload, self.caller)

    async def describe_tool(self, style: str, *, strict: bool) -> Mapping[str, object]:
        """The agent tool's declaration. Raises SearchError."""
        return describe_tool(style, strict=strict)

    async def call_tool(self, arguments: Mapping[str, object]) -> Mapping[str, object]:
        """What the tool answers a model. Raises nothing: what fails is told to the model."""
        return render_result(await call_tool(self.platform, self.caller, arguments))
