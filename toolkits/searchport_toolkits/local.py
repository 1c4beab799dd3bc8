"""Local documents: a folder of Markdown files that the operator chose, searched with SQLite's FTS5

Reference: https://www.sqlite.org/fts5.html (read 2026-11). No key, no network, no limits but those of `markdown_index`.
Dates: the front matter's own text, whatever its format; never a file's time. Pages without one are outside every window.
Order: BM25, a title's words counting ten times. A page is found by any word of the query, read literally.
Odd: the folder is read once, when the server starts or at its first call; a later change is seen after the next start.
"""

from __future__ import annotations

import asyncio
import threading
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

import attrs

from searchport import (
    ErrorCode,
    Fault,
    SearchContext,
    SearchError,
    SearchRequest,
    SearchResponse,
    SearchResult,
    define_toolkit,
    define_web_search,
    manual,
    operator_only,
)
from searchport.markdown_index import MarkdownIndex
from searchport.windows import NAMED_WINDOWS


@attrs.frozen
class LocalSettings:
    """folder: the Markdown files to search; empty: the product's manual.
    pages_url: where that folder's pages are served, each at its path without `.md`; empty: this server's `/docs`.
    """

    folder: str = operator_only(default="")
    pages_url: str = operator_only(default="")


# The one thing that outlives a call: reading a folder takes seconds, a search in it milliseconds. It holds what the operator's
# own files say, nothing of a call or an organization; the folders used last are kept.
OPENING = threading.Lock()


@lru_cache(maxsize=8)
def index_of(folder: Path, leave_out: frozenset[str]) -> MarkdownIndex:
    return MarkdownIndex(folder, leave_out=leave_out)


def open_index(settings: LocalSettings) -> MarkdownIndex:
    try:
        folder = Path(settings.folder).resolve() if settings.folder else manual.folder()
        with OPENING:
            index = index_of(folder, frozenset() if settings.folder else manual.NOT_PAGES)
        index.build()
    except ModuleNotFoundError:
        reason = "this installation cannot read Markdown: pip install 'searchport[platform]'"
        raise SearchError(ErrorCode.PROVIDER_NOT_CONFIGURED, reason=reason) from None
    except (OSError, ValueError) as error:  # its text holds the path, which is the operator's alone
        fault = f"is no folder of Markdown files that this server can read ({type(error).__name__})"
        raise SearchError(ErrorCode.PROVIDER_NOT_CONFIGURED, faults=[Fault("settings.folder", fault)]) from None
    return index


def prepare(settings: LocalSettings) -> None:
    open_index(settings)


toolkit = define_toolkit(id="local", name="Local documents", credential_ref=None, settings=LocalSettings, prepare=prepare)


@define_web_search(
    toolkit,
    recency=NAMED_WINDOWS,
    native={"recency", "freshness"},
    unsupported={"safe"},
    page_size=20,
    breaker=False,
)
async def search(request: SearchRequest, context: SearchContext[LocalSettings]) -> SearchResponse:
    pages_url = context.settings.pages_url or (f"{context.public_url.rstrip('/')}/docs" if context.public_url else "")
    if not pages_url:
        reason = "its links would lead nowhere: no server is running, and the operator set no `pages_url`"
        raise SearchError(ErrorCode.PROVIDER_NOT_CONFIGURED, reason=reason)
    index = await asyncio.to_thread(open_index, context.settings)
    matches = await asyncio.to_thread(
        index.find,
        request.query,
        limit=context.page.size,
        offset=context.page.offset,
        since=context.window.since if context.window else None,
    )
    return SearchResponse(
        vendor="local",
        results=[
            SearchResult(
                match.title,
                f"{pages_url.rstrip('/')}/{quote(match.path)}",
                snippet=match.snippet,
                published_date=match.date,
            )
            for match in matches
        ],
    )
