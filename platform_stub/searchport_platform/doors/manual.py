"""`/docs`: the product's manual, its Markdown files as pages. They are rendered once and served from memory, so that a path in a
request is looked up in a table and never in a folder.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

import attrs
from aiohttp import web

from searchport import manual
from searchport.markdown_index import MarkdownPage, markdown_parser, read_pages

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = ["ManualDoor", "render_pages"]

ROOT = "/docs"
INDEX = "index"
SHELVES = ("quickstart", "how-to", "discussion", "reference")

_STYLE = """
:root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; }
body { display: flex; flex-wrap: wrap; gap: 2rem; max-width: 72rem; margin: 0 auto; padding: 1rem 1.5rem; }
nav { flex: 0 1 13rem; } nav h2 { font-size: .9rem; margin: 1rem 0 0; } nav ul { list-style: none; margin: 0; padding: 0; }
main { flex: 1 1 32rem; min-width: 0; } h1, h2, h3 { line-height: 1.25; } [aria-current] { font-weight: bold; }
pre, table { overflow-x: auto; display: block; } pre { padding: .75rem 1rem; border: 1px solid #8886; border-radius: .3rem; }
code { font: .9em ui-monospace, monospace; } table { border-collapse: collapse; }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top; }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_CACHED = {"Cache-Control": "public, max-age=300"}
_NOT_CACHED = {"Cache-Control": "no-store"}


@attrs.define(eq=False)
class ManualDoor:
    """Open to everyone; `folder` holds the manual, see `searchport.manual.folder`."""

    folder: Path
    _pages: Mapping[str, str] | None = attrs.field(default=None, init=False)
    _rendering: asyncio.Lock = attrs.field(factory=asyncio.Lock, init=False)

    def routes(self) -> list[web.RouteDef]:
        """What the server mounts."""
        return [web.get(ROOT, self.page), web.get(ROOT + "/{path:.*}", self.page)]

    async def page(self, request: web.Request) -> web.Response:
        """A page of the manual; one that says so, with status 404, where there is none."""
        pages = await self._render()
        found = pages.get(request.match_info.get("path") or INDEX)
        if found is None:
            return _answer(_layout("Not found", _NOT_FOUND), 404, _NOT_CACHED)
        return _answer(found, 200, _CACHED)

    async def _render(self) -> Mapping[str, str]:
        async with self._rendering:
            if self._pages is None:
                self._pages = await asyncio.to_thread(render_pages, self.folder)
        return self._pages


_NOT_FOUND = f'<main><h1>Not found</h1>\n<p>The manual has no such page. It begins at <a href="{ROOT}">{ROOT}</a>.</p></main>'


def _answer(page: str, status: int, caching: dict[str, str]) -> web.Response:
    return web.Response(text=page, status=status, content_type="text/html", charset="utf-8", headers=_HEADERS | caching)


def render_pages(folder: Path) -> dict[str, str]:
    """Path below `/docs` -> HTML, of every page in the folder. Raises OSError where it cannot be read."""
    pages = {page.path: page for page in read_pages(folder, leave_out=manual.NOT_PAGES)}
    return {path: _layout(page.title, _render_list(path, pages) + _render_page(page, pages)) for path, page in pages.items()}


def _layout(title: str, body: str) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)} · Searchport</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>\n'
        f"<body>{body}</body></html>\n"
    )


def _address(path: str) -> str:
    return ROOT if path == INDEX else f"{ROOT}/{quote(path)}"


# The list of pages


def _render_list(current: str, pages: Mapping[str, MarkdownPage]) -> str:
    shelves = {path.partition("/")[0] if "/" in path else "" for path in pages}
    known = [shelf for shelf in ("", *SHELVES) if shelf in shelves]
    lists = (_render_shelf(shelf, current, pages) for shelf in (*known, *sorted(shelves.difference(known))))
    return f'<nav aria-label="Manual">{"".join(lists)}</nav>\n'


def _render_shelf(shelf: str, current: str, pages: Mapping[str, MarkdownPage]) -> str:
    inside = [page for path, page in pages.items() if (path.partition("/")[0] if "/" in path else "") == shelf]
    inside.sort(key=lambda page: (page.path != INDEX, page.title.casefold()))
    items = (
        f'<li><a href="{_address(page.path)}"{" aria-current=page" if page.path == current else ""}>{escape(page.title)}</a></li>'
        for page in inside
    )
    return f"{f'<h2>{escape(shelf.capitalize())}</h2>' if shelf else ''}<ul>{''.join(items)}</ul>"


# A page


def _render_page(page: MarkdownPage, pages: Mapping[str, MarkdownPage]) -> str:
    parser = markdown_parser()
    _name_headings(page.tokens)
    for link, closed in _links(page.tokens):
        target = _resolve(str(link.attrs.get("href", "")), page.path, pages)
        link.attrs = {} if target is None else {"href": target}
        link.tag = closed.tag = "span" if target is None else "a"
    body = parser.renderer.render(page.tokens, parser.options, {})
    has_heading = any(token.tag == "h1" for token in page.tokens)
    return f"<main>{'' if has_heading else f'<h1>{escape(page.title)}</h1>'}{body}</main>"


def _name_headings(tokens: list[Token]) -> None:
    """Gives headings the ids that links between pages expect: those of GitHub, where the same files are read."""
    seen: Counter[str] = Counter()
    for opened, inline in pairwise(tokens):
        if opened.type == "heading_open":
            text = "".join(child.content for child in inline.children or ())
            name = re.sub(r"[^\w -]", "", text.lower()).strip().replace(" ", "-")
            opened.attrs = {"id": f"{name}-{seen[name]}" if seen[name] else name}
            seen[name] += 1


def _links(tokens: list[Token]) -> Iterator[tuple[Token, Token]]:
    """Opening and closing token of each link; links do not nest (CommonMark 0.31, section 6.3)."""
    for block in tokens:
        inside = [token for token in block.children or () if token.type in {"link_open", "link_close"}]
        yield from zip(inside[::2], inside[1::2], strict=True)


def _resolve(href: str, path: str, pages: Mapping[str, MarkdownPage]) -> str | None:
    """The address of what a page links to; None for a file that is not served."""
    try:
        link = urlsplit(href)
    except ValueError:
        return None
    if link.scheme in {"http", "https", "mailto"}:
        return href
    if link.scheme or link.netloc:
        return None
    fragment = f"#{link.fragment}" if link.fragment else ""
    if not link.path:
        return fragment or None
    target, extension = posixpath.splitext(posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(link.path))))
    return _address(target) + fragment if extension == ".md" and target in pages else None
