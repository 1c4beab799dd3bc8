"""Serper: `POST /compat/serper/search`, for LiteLLM and code of one's own.

Source: litellm 1.110.2 (`llms/serper/search`), which sends JSON; langchain-community 0.4.2 (`utilities/google_serper.py`), which
sends the same names in the URL with an empty body. A wrong key is 403 at Serper.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from aiohttp import web

from searchport.errors import ErrorCode, SearchError, shorten
from searchport.request import MAX_RESULTS, Recency, Safe
from searchport.result import Envelope, RankedResult
from searchport.wire import OPTION, Option
from searchport_platform.doors.compat import answers, texts
from searchport_platform.doors.compat.json_bodies import read_body_alone
from searchport_platform.doors.compat.parameters import Ignored, Parameters, choose, only, option
from searchport_platform.doors.compat.slices import Sliced
from searchport_platform.doors.compat.spliced_sites import take_site
from searchport_platform.doors.compat.tokens import authenticate
from searchport_platform.doors.http import answer_errors, read_body
from searchport_platform.platform import Platform

__all__ = ["PARAMETERS", "SerperDoor"]

_WINDOWS = {"qdr:d": Recency.DAY, "qdr:w": Recency.WEEK, "qdr:m": Recency.MONTH, "qdr:y": Recency.YEAR}
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def _parse_page(value: object) -> int:
    if type(value) is not int or not 1 <= value <= MAX_RESULTS:
        raise SearchError.invalid("$", f"expected a whole number from 1 to {MAX_RESULTS}, got {shorten(value)}")
    return value


@attrs.frozen(kw_only=True)
class SerperRequest:
    """What is honoured of a request."""

    q: str = attrs.field(metadata=option("query"))
    num: int | None = attrs.field(default=None, metadata=option("max_results"))
    page: int = attrs.field(
        default=1,
        metadata={OPTION: Option(_parse_page, "The page, from 1; it ends at result 50 or at the organization's maximum.")},
    )
    gl: str | None = attrs.field(default=None, metadata=option("country"))
    hl: str | None = attrs.field(default=None, metadata=option("language"))
    tbs: Recency | None = attrs.field(
        default=None, metadata=option("recency", parse=choose(_WINDOWS), words="`qdr:d`, `qdr:w`, `qdr:m` or `qdr:y`.")
    )
    safe: Safe | None = attrs.field(
        default=None,
        metadata=option("safe", parse=choose({"off": Safe.OFF, "active": Safe.STRICT}), words="`off`; `active` is strict."),
    )


PARAMETERS = Parameters(
    honoured=SerperRequest,
    ignored={
        "type": Ignored("`search`", only("search")),
        "engine": Ignored("`google`", only("google")),
        "autocorrect": Ignored("the query is never changed"),
    },
    refused={"location": "write `gl`"},
)


@attrs.frozen
class SerperDoor:
    """The door's handler."""

    platform: Platform

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        return [web.post("/compat/serper/search", answer_errors(self.search, render_error))]

    async def search(self, request: web.Request) -> web.Response:
        """One search."""
        caller = await authenticate(self.platform, request)
        asked = PARAMETERS.read(await _read(request))
        query, site = take_site(asked.q)
        page = Sliced(
            parameters=PARAMETERS,
            asked=attrs.evolve(asked, q=query),
            site=site,
            count=asked.num,
            find_offset=lambda size: (asked.page - 1) * size,
            pages_by="page",
        )
        envelope = await answers.find(self.platform, request, caller, page)
        return answers.render_answer(render(asked, page, envelope), envelope, PARAMETERS)


async def _read(request: web.Request) -> object:
    """The JSON body; without one, the URL's parameters, of which two are numbers."""
    if await read_body(request):
        return await read_body_alone(request)
    given: Mapping[str, str] = texts.read_query(request)
    return {name: int(text) if name in ("num", "page") and texts.is_number(text) else text for name, text in given.items()}


def render(asked: SerperRequest, page: Sliced[SerperRequest], envelope: Envelope) -> dict[str, object]:
    """The answer: found pages, and nothing of Google's own boxes."""
    shown = {"q": asked.q, "type": "search", "num": page.size, "page": asked.page, "engine": "google"}
    rows = [_render_result(result, position) for position, result in enumerate(page.take(envelope), start=1)]
    return {"searchParameters": shown, "organic": rows, "credits": 1}


def _render_result(result: RankedResult, position: int) -> dict[str, object]:
    row: dict[str, object] = {"title": result.title, "link": result.url, "snippet": result.snippet or "", "position": position}
    return row | ({"date": _write_day(result.published_date)} if result.published_date is not None else {})


def _write_day(date: str) -> str:
    """`2026-09-20…` -> `Sep 20, 2026`: this wire's dates are words, and days."""
    return f"{_MONTHS[int(date[5:7]) - 1]} {int(date[8:10])}, {date[:4]}"


_REFUSALS = {ErrorCode.UNAUTHORIZED: (403, "Unauthorized.")}


def render_error(error: SearchError) -> web.Response:
    """A failure in Serper's shape."""
    status, message = _REFUSALS.get(error.code, (error.code.status, str(error)))
    return answers.render_failure(error, {"message": message, "statusCode": status, "code": str(error.code)}, status=status)
