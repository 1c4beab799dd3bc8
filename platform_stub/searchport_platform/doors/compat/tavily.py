"""Tavily: `POST /compat/tavily/search`, for `tavily-python`, LangChain, LiteLLM, Open WebUI and LibreChat.

Source: `tavily-python` 0.8.5 (`tavily.py`, `errors.py`). It reads the text of an error at `detail.error` alone, and raises a
class of its own for 400, 401, 403, 429, 432 and 433.
"""

from __future__ import annotations

import time

import attrs
from aiohttp import web

from searchport.country_names import COUNTRY_NAMES
from searchport.errors import ErrorCode, SearchError
from searchport.locale import parse_country
from searchport.request import Recency
from searchport.result import Envelope, RankedResult
from searchport.site import Site
from searchport_platform.doors.compat import answers
from searchport_platform.doors.compat.json_bodies import read_body_alone
from searchport_platform.doors.compat.parameters import Ignored, Parameters, at_most_one, choose, only, option
from searchport_platform.doors.compat.slices import Sliced
from searchport_platform.doors.compat.tokens import authenticate, check_organization
from searchport_platform.doors.http import answer_errors
from searchport_platform.platform import Platform

__all__ = ["PARAMETERS", "TavilyDoor"]

_WINDOWS = {window.value: window for window in Recency} | {window.value[0]: window for window in Recency}
_CODES = {name: code for code, name in COUNTRY_NAMES.items()}
_ORGANIZATION_HEADERS = ("X-Project-ID", "X-Tavily-Orgid")


def _parse_country(value: object) -> str:
    """Tavily's own English names, and codes, which several of its clients send."""
    code = _CODES.get(value.lower()) if isinstance(value, str) else None
    return code or parse_country(value)  # type: ignore[arg-type]  # it refuses what is no text


@attrs.frozen(kw_only=True)
class TavilyRequest:
    """What is honoured of a request."""

    query: str = attrs.field(metadata=option("query"))
    max_results: int | None = attrs.field(default=None, metadata=option("max_results"))
    time_range: Recency | None = attrs.field(
        default=None,
        metadata=option("recency", parse=choose(_WINDOWS), words="`day`, `week`, `month`, `year`, or their first letters."),
    )
    include_domains: Site | None = attrs.field(
        default=None,
        metadata=option(
            "site", parse=at_most_one(Site.parse, "host"), words="Only results of this host or under it; a list of one."
        ),
    )
    language: str | None = attrs.field(default=None, metadata=option("language"))
    country: str | None = attrs.field(
        default=None,
        metadata=option("country", parse=_parse_country, words="Preferred country, by its English name or ISO 3166-1 code."),
    )


_DATES = "write `time_range`"

PARAMETERS = Parameters(
    honoured=TavilyRequest,
    ignored={
        "search_depth": Ignored("how much Tavily reads"),
        "topic": Ignored("`general`", only("general")),
        "auto_parameters": Ignored("nothing is guessed from the query"),
        "chunks_per_source": Ignored("the length of texts"),
        "include_favicon": Ignored("it adds no results"),
        "include_usage": Ignored("it adds no results"),
        "include_published_date": Ignored("a date is always given where there is one"),
        "fetch_timeout": Ignored("pages are not fetched"),
        "cache_fallback": Ignored("pages are not fetched"),
        "include_answer": Ignored("`false`", only(False)),
        "include_raw_content": Ignored("`false`", only(False)),
        "include_images": Ignored("`false`", only(False)),
        "include_image_descriptions": Ignored("`false`", only(False)),
        "exact_match": Ignored("`false`", only(False)),
        "filter_by_language": Ignored("`false`", only(False)),
        "filter_by_published_date": Ignored("`false`", only(False)),
        "safe_search": Ignored("`false`", only(False)),
        "exclude_domains": Ignored("`[]`", lambda value: value == []),
        "include_domains_mode": Ignored("`restrict`, which always holds", only("restrict")),
    },
    refused={
        "start_date": _DATES,
        "end_date": _DATES,
        "days": _DATES,
        "max_age_hours": _DATES,
        "api_key": "send the token as `Authorization: Bearer TOKEN`",
    },
)


@attrs.frozen
class TavilyDoor:
    """The door's handler."""

    platform: Platform

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        return [web.post("/compat/tavily/search", answer_errors(self.search, render_error))]

    async def search(self, request: web.Request) -> web.Response:
        """One search."""
        caller = await authenticate(self.platform, request)
        for header in _ORGANIZATION_HEADERS:
            check_organization(caller, request.headers.get(header), header)
        asked = PARAMETERS.read(await read_body_alone(request))
        page = Sliced(parameters=PARAMETERS, asked=asked, count=asked.max_results)
        started = time.monotonic()
        envelope = await answers.find(self.platform, request, caller, page)
        return answers.render_answer(render(envelope, time.monotonic() - started), envelope, PARAMETERS)


def render(envelope: Envelope, seconds: float) -> dict[str, object]:
    """The answer; nothing but results is ever in it."""
    return {
        "query": envelope.query,
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "results": [_render_result(result) for result in envelope.results],
        "response_time": round(seconds, 2),
        "request_id": envelope.request_id,
    }


def _render_result(result: RankedResult) -> dict[str, object]:
    row: dict[str, object] = {
        "title": result.title,
        "url": result.url,
        "content": result.snippet or "",
        "score": answers.score(result.rank),
        "raw_content": None,
    }
    return row | ({"published_date": result.published_date} if result.published_date is not None else {})


_STATUSES = {ErrorCode.PROVIDER_NOT_CONFIGURED: 403}
"""409 would lose the error's text in Tavily's client; 403 raises a class that carries it."""


def render_error(error: SearchError) -> web.Response:
    """A failure where Tavily's client looks for it."""
    body = {"detail": {"error": str(error), "code": str(error.code)}}
    return answers.render_failure(error, body, status=_STATUSES.get(error.code))
