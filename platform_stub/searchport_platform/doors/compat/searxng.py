"""SearXNG's JSON: `GET` or `POST /compat/searxng/search`, for LangChain, LiteLLM, Open WebUI and LibreChat.

Source: searxng/searxng, `searx/webadapter.py` and `searx/webutils.py` (commit 9fea412), and what these clients read. The answer's
kind is decided by `format`, never by `Accept`: Open WebUI asks for HTML there and wants JSON.
"""

from __future__ import annotations

from functools import partial
from urllib.parse import urlparse

import attrs
from aiohttp import web

from searchport.errors import SearchError, shorten
from searchport.locale import parse_language
from searchport.request import Recency, Safe
from searchport.result import Envelope, RankedResult
from searchport.wire import OPTION, Option
from searchport_platform.doors.compat import answers, texts
from searchport_platform.doors.compat.parameters import Ignored, Parameters, choose, only, option
from searchport_platform.doors.compat.slices import Sliced
from searchport_platform.doors.compat.tokens import authenticate
from searchport_platform.doors.http import answer_errors
from searchport_platform.platform import Platform
from searchport_platform.tenancy.selections import Selection

__all__ = ["PARAMETERS", "SearxngDoor"]

PATHS = ("/compat/searxng", "/compat/searxng/", "/compat/searxng/search")
LAST_PAGE = 50

_SAFE = {"0": Safe.OFF, "1": Safe.MODERATE, "2": Safe.STRICT}
_NONE = ("", "None")
"""What clients send for no window: an empty text, or Python's word for nothing."""


def _parse_format(value: object) -> str:
    if value != "json":
        raise SearchError.invalid("$", f"{shorten(value)} is not served here; write format=json")
    return "json"


def _parse_language(value: str) -> str | None:
    return None if value in ("", "all", "auto") else parse_language(value)


def _parse_time_range(value: object) -> Recency | None:
    return None if value in _NONE else choose({window.value: window for window in Recency})(value)


@attrs.frozen(kw_only=True)
class SearxngRequest:
    """What is honoured of a request."""

    q: str = attrs.field(metadata=option("query"))
    format: str = attrs.field(metadata={OPTION: Option(_parse_format, "`json`, always to be given.")})
    language: str | None = attrs.field(
        default=None,
        metadata=option("language", parse=_parse_language, words="Preferred language; `all`, `auto` and an empty one are none."),
    )
    time_range: Recency | None = attrs.field(
        default=None,
        metadata=option("recency", parse=_parse_time_range, words="`day`, `week`, `month` or `year`; empty is none."),
    )
    safesearch: Safe | None = attrs.field(
        default=None,
        metadata=option(
            "safe",
            parse=choose(_SAFE),
            words="`2` is strict. `0` (off) and `1` (moderate), which these clients send unasked, go to the providers that can; "
            "others answer without, and `X-Ignored-Parameters` says so of `1`.",
        ),
    )
    pageno: int = attrs.field(
        default=1,
        metadata={
            OPTION: Option(
                texts.parse_number(1, LAST_PAGE),
                "The page, from 1, of the organization's default number of results; up to result 50 or its maximum.",
            )
        },
    )


PARAMETERS = Parameters(
    honoured=SearxngRequest,
    ignored={
        "categories": Ignored("`general`, or empty", only("", "general")),
        "engines": Ignored("the organization's provider is asked, whichever engines are named"),
        "theme": Ignored("looks of a page"),
        "image_proxy": Ignored("looks of a page"),
        "results_on_new_tab": Ignored("looks of a page"),
        "autocomplete": Ignored("suggestions while typing"),
    },
    refused={
        "enabled_engines": "the organization's provider is asked",
        "disabled_engines": "the organization's provider is asked",
        "enabled_plugins": "there are no plugins",
        "disabled_plugins": "there are no plugins",
        "timeout_limit": "the deadline is the organization's",
    },
)


@attrs.frozen
class SearxngDoor:
    """The door's handlers."""

    platform: Platform

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        handler = answer_errors(self.search, render_error)
        return [route for path in PATHS for route in (web.get(path, handler, allow_head=False), web.post(path, handler))]

    async def search(self, request: web.Request) -> web.Response:
        """One search."""
        caller = await authenticate(self.platform, request)
        asked = PARAMETERS.read(await texts.read_form(request) if request.method == "POST" else texts.read_query(request))
        unsent: list[str] = []
        page = Sliced(
            parameters=PARAMETERS,
            asked=asked,
            count=None,
            find_offset=lambda size: (asked.pageno - 1) * size,
            pages_by="pageno",
            adapt=partial(self._leave_out_default_safety, unsent=unsent),
        )
        envelope = await answers.find(self.platform, request, caller, page)
        return answers.render_answer(render(envelope, page.take(envelope)), envelope, PARAMETERS, ignored=unsent)

    def _leave_out_default_safety(self, asked: SearxngRequest, selection: Selection, *, unsent: list[str]) -> SearxngRequest:
        """The same without `safesearch` 0 or 1 where the provider has no safe search.

        Clients of this wire send the value of their own default, and SearXNG itself asks engines that lack it all the same.
        unsent: gets the name where that leaves out a filter.
        """
        toolkit = self.platform.router.registry.toolkits.get(selection.choice.provider)
        lacks_it = toolkit is not None and toolkit.web_search.support("safe") == "unsupported"
        if not lacks_it or asked.safesearch not in (Safe.OFF, Safe.MODERATE):
            return asked
        unsent += ["safesearch"] if asked.safesearch is Safe.MODERATE else []
        return attrs.evolve(asked, safesearch=None)


def render(envelope: Envelope, results: tuple[RankedResult, ...]) -> dict[str, object]:
    """The answer. `answers` stays empty: a client that finds one shows it instead of the results."""
    failed = [[attempt.provider, attempt.outcome] for attempt in envelope.attempts if attempt.outcome != "ok"]
    return {
        "query": envelope.query,
        "results": [render_result(result, envelope.provider) for result in results],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": failed,
    }


def render_result(result: RankedResult, provider: str) -> dict[str, object]:
    """One result, its provider as its only engine."""
    return {
        "url": result.url,
        "title": result.title,
        "content": result.snippet or "",
        "engine": provider,
        "engines": [provider],
        "category": "general",
        "template": "default.html",
        "parsed_url": list(urlparse(result.url)),
        "score": answers.score(result.rank),
        "positions": [result.rank],
        "publishedDate": result.published_date,
        "thumbnail": "",
        "img_src": "",
        "priority": "",
    }


def render_error(error: SearchError) -> web.Response:
    """A failure; never the empty answer that SearXNG itself gives when its engines fail."""
    return answers.render_failure(error, {"error": f"{error.code}: {error}"})
