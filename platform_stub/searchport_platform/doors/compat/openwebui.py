"""Open WebUI's `external` search engine: `POST /compat/openwebui/search`.

Source: open-webui 0.12.4, `retrieval/web/external.py`. It wants a bare array, takes any failure for an empty one, and sets no
limit of time; the status of a failure is all that its log shows. The headers about its users are not read.
"""

from __future__ import annotations

import attrs
from aiohttp import web

from searchport.errors import SearchError
from searchport.result import Envelope
from searchport_platform.doors.compat import answers
from searchport_platform.doors.compat.json_bodies import read_body_alone
from searchport_platform.doors.compat.parameters import Parameters, option
from searchport_platform.doors.compat.slices import Sliced
from searchport_platform.doors.compat.tokens import authenticate
from searchport_platform.doors.http import answer_errors
from searchport_platform.platform import Platform

__all__ = ["PARAMETERS", "OpenWebuiDoor"]


@attrs.frozen(kw_only=True)
class OpenWebuiRequest:
    """What is honoured of a request, which is all there is."""

    query: str = attrs.field(metadata=option("query"))
    count: int | None = attrs.field(default=None, metadata=option("max_results"))


PARAMETERS = Parameters(honoured=OpenWebuiRequest, ignored={}, refused={})


@attrs.frozen
class OpenWebuiDoor:
    """The door's handler."""

    platform: Platform

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        return [web.post("/compat/openwebui/search", answer_errors(self.search, render_error))]

    async def search(self, request: web.Request) -> web.Response:
        """One search."""
        caller = await authenticate(self.platform, request)
        asked = PARAMETERS.read(await read_body_alone(request))
        page = Sliced(parameters=PARAMETERS, asked=asked, count=asked.count)
        envelope = await answers.find(self.platform, request, caller, page)
        return answers.render_answer(render(envelope), envelope, PARAMETERS)


def render(envelope: Envelope) -> list[dict[str, object]]:
    """The answer: a bare array."""
    return [{"link": result.url, "title": result.title, "snippet": result.snippet} for result in envelope.results]


def render_error(error: SearchError) -> web.Response:
    """A failure: an object, so that nobody takes it for an answer."""
    return answers.render_failure(error, {"error": str(error), "code": str(error.code)})
