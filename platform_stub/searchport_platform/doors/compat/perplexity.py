"""Perplexity's Search API: `POST /compat/perplexity/search`, for its SDK, and for what calls LiteLLM's search endpoint.

Source: `perplexityai` 0.46.1 (`types/search_create_params.py`, `_base_client.py`), docs.perplexity.ai/api-reference/search-post.
The SDK tries 408, 409, 429 and 5xx again by itself unless `x-should-retry` says no.
"""

from __future__ import annotations

import attrs
from aiohttp import web

from searchport.errors import ErrorCode, SearchError
from searchport.request import Recency
from searchport.result import Envelope, RankedResult
from searchport.site import Site
from searchport_platform.doors.compat import answers
from searchport_platform.doors.compat.json_bodies import read_body_alone
from searchport_platform.doors.compat.parameters import Ignored, Parameters, at_most_one, choose, only, option
from searchport_platform.doors.compat.slices import Sliced
from searchport_platform.doors.compat.tokens import authenticate
from searchport_platform.doors.http import answer_errors
from searchport_platform.doors.options import contract_option
from searchport_platform.platform import Platform

__all__ = ["PARAMETERS", "PerplexityDoor"]

PATHS = ("/compat/perplexity/search", "/compat/perplexity/v1/search")


def _parse_query(value: object) -> object:
    """One text, or a list of one; several would be several searches."""
    if isinstance(value, list):
        if len(value) != 1:
            raise SearchError.invalid("$", f"expected one text, got a list of {len(value)}; send a request for each")
        value = value[0]
    return contract_option("query").parse(value)


def _parse_domain(value: object) -> Site:
    if isinstance(value, str) and value.startswith("-"):
        raise SearchError.invalid("$", "a host cannot be excluded; name the one to search, or leave it out")
    return Site.parse(value)  # type: ignore[arg-type]  # it refuses what is no text


@attrs.frozen(kw_only=True)
class PerplexityRequest:
    """What is honoured of a request."""

    query: str = attrs.field(
        metadata=option("query", parse=_parse_query, words="What to look for, as literal text; a text, or a list of one.")
    )
    max_results: int | None = attrs.field(default=None, metadata=option("max_results"))
    search_recency_filter: Recency | None = attrs.field(
        default=None,
        metadata=option(
            "recency", parse=choose({window.value: window for window in Recency}), words="`day`, `week`, `month` or `year`."
        ),
    )
    search_domain_filter: Site | None = attrs.field(
        default=None,
        metadata=option(
            "site", parse=at_most_one(_parse_domain, "host"), words="Only results of this host or under it; a list of one."
        ),
    )
    search_language_filter: str | None = attrs.field(
        default=None,
        metadata=option(
            "language",
            parse=at_most_one(contract_option("language").parse, "language"),
            words="Preferred language; a list of one.",
        ),
    )
    country: str | None = attrs.field(default=None, metadata=option("country"))


_DATES = "write `search_recency_filter`"

PARAMETERS = Parameters(
    honoured=PerplexityRequest,
    ignored={
        "max_tokens": Ignored("the length of texts"),
        "max_tokens_per_page": Ignored("the length of texts"),
        "search_context_size": Ignored("the length of texts"),
        "display_server_time": Ignored("it adds no results"),
        "search_mode": Ignored("`web`", only("web")),
        "search_type": Ignored("`web`", only("web")),
    },
    refused={
        "search_after_date_filter": _DATES,
        "search_before_date_filter": _DATES,
        "last_updated_after_filter": _DATES,
        "last_updated_before_filter": _DATES,
    },
)


@attrs.frozen
class PerplexityDoor:
    """The door's handler."""

    platform: Platform

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        return [web.post(path, answer_errors(self.search, render_error)) for path in PATHS]

    async def search(self, request: web.Request) -> web.Response:
        """One search."""
        caller = await authenticate(self.platform, request)
        asked = PARAMETERS.read(await read_body_alone(request))
        page = Sliced(parameters=PARAMETERS, asked=asked, count=asked.max_results)
        envelope = await answers.find(self.platform, request, caller, page)
        return answers.render_answer(render(envelope), envelope, PARAMETERS)


def render(envelope: Envelope) -> dict[str, object]:
    """The answer; `object` is there for who expects LiteLLM's gateway."""
    return {
        "id": envelope.request_id,
        "object": "search",
        "results": [_render_result(result) for result in envelope.results],
        "server_time": None,
    }


def _render_result(result: RankedResult) -> dict[str, object]:
    """One result; a date-time is cut to its day, since this wire's `date` is one."""
    day = None if result.published_date is None else result.published_date[:10]
    return {
        "title": result.title,
        "url": result.url,
        "snippet": result.snippet or "",
        "date": day,
        "last_updated": None,
    }


_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}


def render_error(error: SearchError) -> web.Response:
    """A failure as the SDK shows it, with our code as its `code`."""
    kind = (
        "invalid_request_error" if error.code is ErrorCode.PROVIDER_NOT_CONFIGURED else _TYPES.get(error.code.status, "api_error")
    )
    return answers.render_failure(error, {"error": {"message": str(error), "type": kind, "code": str(error.code)}})
