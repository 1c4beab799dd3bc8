"""The door for Python in the platform's own process: what `searchport.client.AsyncClient(transport=...)` calls."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from searchport_platform.platform import Caller, Platform

__all__ = ["LocalTransport"]


@attrs.frozen
class LocalTransport:
    """A platform that is open in the running event loop, for one caller. Closing the platform is left to who opened it."""

    platform: Platform = attrs.field(repr=False)
    caller: Caller

    async def call(self, action: str, payload: Mapping[str, object]) -> Mapping[str, object]:
        """The same as the platform API's route: with `dryRun` a plan, else a search. Raises SearchError."""
        if not isinstance(payload.get("dryRun"), bool):
            return await self.platform.call(action, payload, self.caller)
        asked = {name: value for name, value in payload.items() if name != "dryRun"}
        answer = self.platform.plan_call if payload["dryRun"] else self.platform.call
        return await answer(action, asked, self.caller)
