"""Google's Custom Search JSON API: `GET /compat/google/customsearch/v1`, for `googleapiclient` and everything built on it.

Source: the discovery document `customsearch.v1` (revision 20240821) and `googleapiclient` 2.202.0, which sends a long request as
a form with `X-HTTP-Method-Override: GET`.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable

import attrs
from aiohttp import web
from yarl import URL

from searchport.errors import ErrorCode, SearchError, shorten
from searchport.freshness import Freshness
from searchport.locale import parse_country, parse_language
from searchport.request import Recency, Safe
from searchport.result import Envelope, RankedResult
from searchport.site import Site
from searchport.wire import OPTION, Option, camel_case
from searchport_platform.doors.compat import answers, texts
from searchport_platform.doors.compat.parameters import Ignored, Parameters, choose, only, option
from searchport_platform.doors.compat.slices import Sliced
from searchport_platform.doors.compat.tokens import NO_TOKEN, authenticate, check_organization
from searchport_platform.doors.http import answer_errors
from searchport_platform.platform import Platform

__all__ = ["LARGEST_PAGE", "OWN_PATH", "PARAMETERS", "GoogleDoor", "GoogleRequest", "read_page"]

PATH = "/compat/google/customsearch/v1"
OWN_PATH = "/customsearch/v1"
"""Google's own, for clients in which only the host can be replaced, our own provider among them: its base URL is an origin."""

LARGEST_PAGE, LAST_START = 10, 100

_DATE_RESTRICT = re.compile(r"([dwmy])([0-9]{0,5})")
_ONE = {"d": Recency.DAY, "w": Recency.WEEK, "m": Recency.MONTH, "y": Recency.YEAR}
_DAYS = {"d": 1, "w": 7, "m": 31, "y": 366}
"""Days of the longest month and year, so that nothing that was asked for is left out."""

_SAFE = {"off": Safe.OFF, "medium": Safe.MODERATE, "active": Safe.STRICT, "high": Safe.STRICT}
_OLD_CODES = {"iw": "he"}
"""Google keeps a withdrawn code for Hebrew."""


def _parse_date_restrict(value: object) -> Recency | Freshness:
    match = _DATE_RESTRICT.fullmatch(value) if isinstance(value, str) else None
    if match is None or (match[2] and int(match[2]) == 0):
        raise SearchError.invalid("$", f"{shorten(value)} is not one of: d[number], w[number], m[number], y[number]")
    number = int(match[2] or 1)
    return _ONE[match[1]] if number == 1 else Freshness.parse(f"P{number * _DAYS[match[1]]}D")


def _parse_hl(value: str) -> str:
    return parse_language(_OLD_CODES.get(value, value))


def _parse_lr(value: str) -> str:
    if not value.startswith("lang_") or "|" in value:
        raise SearchError.invalid("$", f"{shorten(value)} is not one language, such as 'lang_de'")
    return _parse_hl(value.removeprefix("lang_"))


def _parse_gl(value: str) -> str:
    return parse_country("GB" if value.lower() == "uk" else value)


def _own(parse: Callable[..., object], words: str) -> dict[str, Option]:
    return {OPTION: Option(parse, words)}


@attrs.frozen(kw_only=True)
class GoogleRequest:
    """What is honoured of a request. lr stands before hl: of the two the language of the pages wins."""

    q: str = attrs.field(metadata=option("query"))
    cx: str | None = attrs.field(default=None, metadata=_own(str, "The organization's name; it may be left out."))
    key: str | None = attrs.field(default=None, repr=False, metadata=_own(str, "A token of the platform."))
    num: int | None = attrs.field(
        default=None,
        metadata=option("max_results", parse=texts.parse_number(1, LARGEST_PAGE), words="Results a page, 1 to 10."),
    )
    start: int = attrs.field(
        default=1,
        metadata=_own(
            texts.parse_number(1, LAST_START),
            "The first result, from 1; a page ends at result 50 or at the organization's maximum.",
        ),
    )
    date_restrict: Recency | Freshness | None = attrs.field(
        default=None,
        metadata=option(
            "recency",
            "freshness",
            parse=_parse_date_restrict,
            words="One day, week, month or year (`d1`, `w1`, `m1`, `y1`) is `recency`; more of them is `freshness`, which drops "
            "results that nothing proves to be so new.",
        ),
    )
    site_search: Site | None = attrs.field(default=None, metadata=option("site"))
    safe: Safe | None = attrs.field(
        default=None,
        metadata=option("safe", parse=choose(_SAFE), words="`off`; `medium` is moderate; `active` and `high` are strict."),
    )
    lr: str | None = attrs.field(
        default=None, metadata=option("language", parse=_parse_lr, words="Preferred language, one, such as `lang_de`.")
    )
    hl: str | None = attrs.field(
        default=None, metadata=option("language", parse=_parse_hl, words="Preferred language, where `lr` gives none.")
    )
    gl: str | None = attrs.field(default=None, metadata=option("country", parse=_parse_gl))


_NARROWS = "it would narrow the results, and the platform has no such option"

PARAMETERS = Parameters(
    honoured=GoogleRequest,
    spell=camel_case,
    ignored={
        "siteSearchFilter": Ignored("`i`", only("i")),
        "alt": Ignored("`json`", only("json")),
        "searchType": Ignored("`searchTypeUndefined`", only("searchTypeUndefined")),
        "prettyPrint": Ignored("white space of the answer"),
        "quotaUser": Ignored("caps are those of the token's agent"),
        "$.xgafv": Ignored("the shape of errors is always the newer one"),
        "filter": Ignored("duplicates are always dropped"),
        "c2coff": Ignored("a hint to Google's own index"),
        "googlehost": Ignored("withdrawn by Google"),
        "snippetLength": Ignored("the length of texts"),
        "enableAlternateSearchHandler": Ignored("the way within Google"),
    },
    refused={
        **dict.fromkeys(("exactTerms", "excludeTerms", "orTerms", "hq", "linkSite", "relatedSite"), _NARROWS),
        **dict.fromkeys(("fileType", "rights", "lowRange", "highRange", "cr"), _NARROWS),
        **dict.fromkeys(("imgSize", "imgType", "imgColorType", "imgDominantColor"), "images are not searched"),
        "sort": "the order is the provider's",
        "fields": "the answer comes whole",
        "callback": "the answer is JSON",
        "access_token": "send the token as `key`, or in a header",
        "oauth_token": "send the token as `key`, or in a header",
        "uploadType": "nothing is uploaded",
        "upload_protocol": "nothing is uploaded",
    },
)


def read_page(asked: GoogleRequest) -> Sliced[GoogleRequest]:
    """The page that `num` and `start` name."""
    return Sliced(parameters=PARAMETERS, asked=asked, count=asked.num, find_offset=lambda _: asked.start - 1, pages_by="start")


@attrs.frozen
class GoogleDoor:
    """The door's handlers."""

    platform: Platform

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts; Google's path for listed sites is the same search here."""
        get, post = (answer_errors(handler, render_error) for handler in (self.search, self.search_form))
        paths = (PATH, f"{PATH}/siterestrict", OWN_PATH)
        return [route for path in paths for route in (web.get(path, get, allow_head=False), web.post(path, post))]

    async def search(self, request: web.Request) -> web.Response:
        """One search."""
        return await self._answer(request, texts.read_query(request))

    async def search_form(self, request: web.Request) -> web.Response:
        """The same from a form, for a request too long for a URL; no other POST is served."""
        if request.headers.get("X-HTTP-Method-Override", "").upper() != "GET" or request.content_type != texts.FORM:
            message = "POST takes a form with `X-HTTP-Method-Override: GET` alone"
            return _render(SearchError.invalid("$", message), 405, "INVALID_ARGUMENT", "httpMethodNotAllowed", {"Allow": "GET"})
        return await self._answer(request, await texts.read_form(request))

    async def _answer(self, request: web.Request, given: dict[str, str]) -> web.Response:
        caller = await authenticate(self.platform, request, key=given.get("key"))
        asked = PARAMETERS.read(given)
        check_organization(caller, asked.cx, "cx")
        page = read_page(asked)
        started = time.monotonic()
        envelope = await answers.find(self.platform, request, caller, page)
        body = render(asked, page, envelope, caller.organization, time.monotonic() - started)
        return answers.render_answer(body, envelope, PARAMETERS)


_TEMPLATE = (
    f"{PATH}?q={{searchTerms}}&num={{count?}}&start={{startIndex?}}&lr={{language?}}&safe={{safe?}}&cx={{cx?}}"
    "&siteSearch={siteSearch?}&siteSearchFilter={siteSearchFilter?}&dateRestrict={dateRestrict?}&gl={gl?}&hl={hl?}&alt=json"
)


def render(
    asked: GoogleRequest, page: Sliced[GoogleRequest], envelope: Envelope, organization: str, seconds: float
) -> dict[str, object]:
    """The answer; `items` is left out where there are none, and a next page is named where it would be served.

    `totalResults` is how many this search really gave, up to the end of this page.
    """
    items = [render_item(result) for result in page.take(envelope)]
    total = str(len(envelope.results))
    own = {
        "title": f"Google Custom Search - {envelope.query}",
        "totalResults": total,
        "searchTerms": envelope.query,
        "count": len(items),
        "startIndex": asked.start,
        "inputEncoding": "utf8",
        "outputEncoding": "utf8",
        "safe": "off" if asked.safe in (None, Safe.OFF) else "active",
        "cx": organization,
    }
    queries = {"request": [own]}
    if page.has_next(envelope) and page.end < LAST_START:
        queries["nextPage"] = [own | {"count": page.size, "startIndex": page.end + 1}]
    if asked.start > 1:
        queries["previousPage"] = [own | {"count": page.size, "startIndex": max(1, asked.start - page.size)}]
    body: dict[str, object] = {
        "kind": "customsearch#search",
        "url": {"type": "application/json", "template": _TEMPLATE},
        "queries": queries,
        "context": {"title": organization},
        "searchInformation": {
            "searchTime": round(seconds, 6),
            "formattedSearchTime": f"{seconds:.2f}",
            "totalResults": total,
            "formattedTotalResults": total,
        },
    }
    return body | ({"items": items} if items else {})


def render_item(result: RankedResult) -> dict[str, object]:
    """One result. The date stands among the page's metatags, where Google's own clients look for it."""
    snippet = result.snippet or ""
    item: dict[str, object] = {
        "kind": "customsearch#result",
        "title": result.title,
        "htmlTitle": html.escape(result.title),
        "link": result.url,
        "displayLink": URL(result.url, encoded=True).raw_host or "",
        "snippet": snippet,
        "htmlSnippet": html.escape(snippet),
        "formattedUrl": result.url,
        "htmlFormattedUrl": html.escape(result.url),
    }
    if result.published_date is not None:
        item["pagemap"] = {"metatags": [{"article:published_time": result.published_date}]}
    return item


_BAD_KEY = "API key not valid. Please pass a valid API key."
_REFUSALS = {
    ErrorCode.VALIDATION_ERROR: (400, "INVALID_ARGUMENT", "badRequest"),
    ErrorCode.UNSUPPORTED_OPTION: (400, "INVALID_ARGUMENT", "badRequest"),
    ErrorCode.UNAUTHORIZED: (400, "INVALID_ARGUMENT", "badRequest"),
    ErrorCode.FORBIDDEN: (403, "PERMISSION_DENIED", "forbidden"),
    ErrorCode.PROVIDER_NOT_CONFIGURED: (400, "FAILED_PRECONDITION", "failedPrecondition"),
    ErrorCode.DAILY_CAP_REACHED: (429, "RESOURCE_EXHAUSTED", "dailyLimitExceeded"),
    ErrorCode.BUDGET_EXCEEDED: (429, "RESOURCE_EXHAUSTED", "quotaExceeded"),
    ErrorCode.RATE_LIMITED: (429, "RESOURCE_EXHAUSTED", "rateLimitExceeded"),
    ErrorCode.INTERNAL_ERROR: (500, "INTERNAL", "backendError"),
    ErrorCode.UPSTREAM_TIMEOUT: (504, "DEADLINE_EXCEEDED", "backendError"),
}
"""Our code -> Google's status, its name, its reason; of the codes that are not here, the status is the catalogue's."""


def render_error(error: SearchError) -> web.Response:
    """A failure as Google words it: a key that is wrong and one that is missing differ."""
    if error.code is ErrorCode.UNAUTHORIZED and error.reason == NO_TOKEN:
        return _render(error, 403, "PERMISSION_DENIED", "forbidden", {})
    return _render(error, *_REFUSALS.get(error.code, (error.code.status, "UNAVAILABLE", "backendError")), {})


def _render(error: SearchError, status: int, name: str, reason: str, headers: dict[str, str]) -> web.Response:
    is_bad_key = error.code is ErrorCode.UNAUTHORIZED and reason == "badRequest"
    message = _BAD_KEY if is_bad_key else str(error)
    fault = {"message": message, "domain": "global", "reason": reason}
    body = {"error": {"code": status, "message": message, "status": name, "errors": [fault]}}
    return answers.render_failure(error, body, status=status, headers=headers)
