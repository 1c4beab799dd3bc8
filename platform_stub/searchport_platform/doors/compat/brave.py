"""Brave Search: `GET /compat/brave/res/v1/web/search`, for LangChain, smolagents and LiteLLM.

Source: api-dashboard.search.brave.com/api-reference/web/search/get; what these clients send and read. A wrong
token is 422 at Brave. Python clients write booleans as `True` and `False`.
"""

from __future__ import annotations

import attrs
from aiohttp import web

from searchport.errors import ErrorCode, SearchError
from searchport.locale import parse_country, parse_language
from searchport.request import Recency, Safe
from searchport.result import Envelope, RankedResult
from searchport.wire import OPTION, Option
from searchport_platform.doors.compat import answers, texts
from searchport_platform.doors.compat.parameters import Ignored, Parameters, choose, only, option
from searchport_platform.doors.compat.slices import Sliced
from searchport_platform.doors.compat.spliced_sites import take_site
from searchport_platform.doors.compat.tokens import NO_TOKEN, authenticate
from searchport_platform.doors.http import answer_errors
from searchport_platform.platform import Platform

__all__ = ["PARAMETERS", "BraveDoor"]

PATH = "/compat/brave/res/v1/web/search"
LARGEST_PAGE, LAST_OFFSET = 20, 9

_WINDOWS = {"pd": Recency.DAY, "pw": Recency.WEEK, "pm": Recency.MONTH, "py": Recency.YEAR}
_NO = only("false", "False", "0")


def _parse_language(value: str) -> str:
    """Brave's own code for Japanese is a country's."""
    return parse_language("ja" if value == "jp" else value)


def _parse_country(value: str) -> str | None:
    return None if value == "ALL" else parse_country(value)


def _has_web(value: object) -> bool:
    return isinstance(value, str) and "web" in value.split(",")


@attrs.frozen(kw_only=True)
class BraveRequest:
    """What is honoured of a request."""

    q: str = attrs.field(metadata=option("query"))
    count: int | None = attrs.field(
        default=None, metadata=option("max_results", parse=texts.parse_number(1, LARGEST_PAGE), words="Results a page, 1 to 20.")
    )
    offset: int = attrs.field(
        default=0,
        metadata={
            OPTION: Option(
                texts.parse_number(0, LAST_OFFSET),
                "Pages before this one; a page ends at result 50 or the organization's maximum.",
            )
        },
    )
    freshness: Recency | None = attrs.field(
        default=None, metadata=option("recency", parse=choose(_WINDOWS), words="`pd`, `pw`, `pm` or `py`; no range of dates.")
    )
    country: str | None = attrs.field(
        default=None,
        metadata=option("country", parse=_parse_country, words="Preferred country, ISO 3166-1 alpha-2; `ALL` is none."),
    )
    search_lang: str | None = attrs.field(
        default=None, metadata=option("language", parse=_parse_language, words="Preferred language, BCP 47; `jp` is Japanese.")
    )
    safesearch: Safe | None = attrs.field(default=None, metadata=option("safe"))


PARAMETERS = Parameters(
    honoured=BraveRequest,
    ignored={
        "result_filter": Ignored("a list with `web` in it", _has_web),
        "ui_lang": Ignored("the language of the vendor's own words"),
        "text_decorations": Ignored("texts are always plain"),
        "extra_snippets": Ignored("one text a result"),
        "spellcheck": Ignored("the query is never changed"),
        "units": Ignored("the vendor's own widgets"),
        "include_fetch_metadata": Ignored("a time of fetching is no date"),
        "operators": Ignored("`false`: the query is literal text", _NO),
        "summary": Ignored("`false`", _NO),
        "enable_rich_callback": Ignored("`false`", _NO),
    },
    refused={
        "goggles": "results are ordered by the provider",
        "goggles_id": "results are ordered by the provider",
    },
)


@attrs.frozen
class BraveDoor:
    """The door's handler."""

    platform: Platform

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        return [web.get(PATH, answer_errors(self.search, render_error), allow_head=False)]

    async def search(self, request: web.Request) -> web.Response:
        """One search."""
        caller = await authenticate(self.platform, request)
        asked = PARAMETERS.read(texts.read_query(request))
        query, site = take_site(asked.q)
        page = Sliced(
            parameters=PARAMETERS,
            asked=attrs.evolve(asked, q=query),
            site=site,
            count=asked.count,
            find_offset=lambda size: asked.offset * size,
            pages_by="offset",
        )
        envelope = await answers.find(self.platform, request, caller, page)
        return answers.render_answer(render(asked, page, envelope), envelope, PARAMETERS)


def render(asked: BraveRequest, page: Sliced[BraveRequest], envelope: Envelope) -> dict[str, object]:
    """The answer; `page_age` is there where a result has a date."""
    more = page.has_next(envelope) and asked.offset < LAST_OFFSET
    return {
        "type": "search",
        "query": {"original": asked.q, "more_results_available": more},
        "mixed": {},
        "web": {"type": "search", "results": [_render_result(result) for result in page.take(envelope)]},
    }


def _render_result(result: RankedResult) -> dict[str, object]:
    row: dict[str, object] = {"title": result.title, "url": result.url, "description": result.snippet or ""}
    return row | ({"page_age": result.published_date} if result.published_date is not None else {})


_REFUSALS = {
    ErrorCode.VALIDATION_ERROR: (422, "VALIDATION"),
    ErrorCode.UNSUPPORTED_OPTION: (422, "VALIDATION"),
    ErrorCode.UNAUTHORIZED: (422, "SUBSCRIPTION_TOKEN_INVALID"),
    ErrorCode.DAILY_CAP_REACHED: (429, "QUOTA_LIMITED"),
    ErrorCode.BUDGET_EXCEEDED: (429, "QUOTA_LIMITED"),
    ErrorCode.RATE_LIMITED: (429, "RATE_LIMITED"),
}
"""Our code -> Brave's status and code; of the codes that are not here, the status is the catalogue's and the code is ours."""


def render_error(error: SearchError) -> web.Response:
    """A failure in Brave's shape; a missing token is named as the header that is not valid."""
    status, code = _REFUSALS.get(error.code, (error.code.status, str(error.code).upper()))
    meta: dict[str, object] = {}
    if error.code is ErrorCode.UNAUTHORIZED and error.reason == NO_TOKEN:
        code = "VALIDATION"
        meta = {"errors": [{"loc": ["header", "x-subscription-token"], "msg": "Field required", "type": "missing"}]}
    told = {"id": "", "status": status, "code": code, "detail": str(error), "meta": meta}
    return answers.render_failure(error, {"type": "ErrorResponse", "error": told}, status=status)
