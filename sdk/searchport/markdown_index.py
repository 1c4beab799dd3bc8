"""A folder of Markdown files: its pages, and a full-text index of them in which SQLite's FTS5 does the work.

What is read as a page: files named `*.md`, of at most 1 MiB of UTF-8. Links that lead out of the folder, linked folders and
names that begin with a point are not followed. Needs `markdown-it-py`, which `searchport[platform]` installs.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from html import escape
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from searchport.published_date import first_stated, not_before

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["MarkdownIndex", "MarkdownPage", "Match", "markdown_parser", "read_page", "read_pages"]

MAX_FILE_BYTES = 1024 * 1024

DATE_KEYS = (
    "date", "published", "published_at", "publish_date", "publishdate", "date_published", "datepublished", "pubdate",
    "updated", "updated_at", "last_updated", "modified", "date_modified", "last_modified", "lastmod",
)  # fmt: skip
"""Keys of a front matter that hold a date, lower case: published before changed, as a page's metatags are read."""

PASSAGE_CHARACTERS = 4_000
"""A page is indexed in passages: the time of FTS5's `snippet()` grows with the square of the words found in a row."""
SNIPPET_WORDS = 40

_log = logging.getLogger("searchport.markdown_index")


@cache
def markdown_parser() -> MarkdownIt:
    """CommonMark with tables; HTML in a page is text, as everything that a page's author did not write in Markdown."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


# Pages


@attrs.frozen(kw_only=True)
class MarkdownPage:
    """One page. path: within the folder, with `/`, without `.md`. title: of the front matter, else the first `# ` heading,
    else the file's name. date: the front matter's own text. text: what a reader sees, the title left out, on one line.
    tokens: the parsed Markdown, the front matter left out.
    """

    path: str
    title: str
    date: str | None
    text: str = attrs.field(repr=False)
    tokens: list[Token] = attrs.field(repr=False)


def read_page(path: str, source: str) -> MarkdownPage:
    """The page that `source` holds. path: its name in the folder, without `.md`."""
    fields, body = _split_front_matter(source)
    tokens = markdown_parser().parse(body)
    headings = (inline for opened, inline in pairwise(tokens) if opened.tag == "h1" and opened.nesting == 1)
    heading = next(headings, None)
    headline = "" if heading is None else _fold(_inline_text(heading))
    title = _fold(fields.get("title", "")) or headline or path.rpartition("/")[2]
    text = _fold(" ".join(_block_texts(token for token in tokens if token is not heading or headline != title)))
    return MarkdownPage(path=path, title=title, date=_stated_date(fields), text=text, tokens=tokens)


def read_pages(folder: Path, *, leave_out: Collection[str] = ()) -> Iterator[MarkdownPage]:
    """Every page of the folder, by path; what cannot be read as one is left out, with one warning that says how many.

    leave_out: names of folders at its top. Raises OSError where the folder itself cannot be read.
    """
    root = folder.resolve(strict=True)
    os.listdir(root)  # raises, where `os.walk` would find nothing  # noqa: PTH208
    skipped: list[OSError | ValueError] = []
    for file in _list_files(root, leave_out, skipped):
        try:
            yield read_page(file.relative_to(root).with_suffix("").as_posix(), _read_source(root, file))
        except (OSError, ValueError) as error:
            skipped.append(error)
    if skipped:
        _log.warning("%d left out of a folder of Markdown files: not UTF-8, above 1 MiB, unreadable, or a link", len(skipped))


def _list_files(root: Path, leave_out: Collection[str], skipped: list[OSError | ValueError]) -> Iterator[Path]:
    for base, folders, files in os.walk(root, onerror=skipped.append):
        here = Path(base)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and not (here == root and name in leave_out))
        skipped.extend(ValueError("a linked folder") for name in folders if (here / name).is_symlink())
        yield from (here / name for name in sorted(files) if name.lower().endswith(".md") and not name.startswith("."))


def _read_source(root: Path, file: Path) -> str:
    """Raises OSError, ValueError where it is no page."""
    real = file.resolve(strict=True)
    if not (real.is_relative_to(root) and real.is_file()):
        raise ValueError("not a file of this folder")
    file.name.encode()  # raises on a name that is not UTF-8, which no URL and no database takes
    with real.open("rb") as opened:
        data = opened.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ValueError("too large")
    return data.decode("utf-8-sig")


_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"""([\w-]+)[ \t]*:[ \t]+(?:"([^"]*)"|'([^']*)'|(.*?))[ \t]*(?:[ \t]#.*)?""")
_MAX_FIELD = 1_000  # the time of a match grows with the square of a run of white space


def _split_front_matter(source: str) -> tuple[dict[str, str], str]:
    """The `key: value` lines of a leading `---` block, keys in lower case, and what follows; no such line: no front matter."""
    block = _FRONT_MATTER.match(source)
    lines = block[1].splitlines() if block else []
    found = [_FIELD.fullmatch(line) for line in lines if len(line) <= _MAX_FIELD]
    fields = {line[1].lower(): line[2] or line[3] or line[4] or "" for line in found if line}
    return fields, source[block.end() :] if block and fields else source


def _stated_date(fields: dict[str, str]) -> str | None:
    """The first date that the front matter states; None for an age (`today`), since no one knows when that was written."""
    date = first_stated(fields, DATE_KEYS)
    return date if _instant(date, datetime(2000, 1, 1, tzinfo=UTC)) == _instant(date, datetime(2001, 1, 1, tzinfo=UTC)) else None


def _instant(date: str | None, now: datetime) -> float | None:
    """Seconds since 1970 of the earliest instant that the date allows."""
    instant = not_before(date, now)
    return None if instant is None else instant.timestamp()


def _block_texts(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "inline":
            yield _inline_text(token)
        elif token.type in {"fence", "code_block"}:
            yield token.content


def _inline_text(inline: Token) -> str:
    return "".join(
        " " if child.type in {"softbreak", "hardbreak"} else _inline_text(child) if child.type == "image" else child.content
        for child in inline.children or ()
    )


def _fold(text: str) -> str:
    return " ".join(text.split())


# The index

_OPEN, _CLOSE = "\x02", "\x03"  # around the words found, until the text is escaped; no page's text keeps them
_NOT_INDEXED = {ord(mark): None for mark in (_OPEN, _CLOSE, "\0")}

_CREATE = """
CREATE VIRTUAL TABLE passages USING fts5(
    title, body, path UNINDEXED, date UNINDEXED, not_before UNINDEXED, tokenize = 'porter unicode61 remove_diacritics 2'
)
"""
_WEIGH = "INSERT INTO passages (passages, rank) VALUES ('rank', 'bm25(10.0, 1.0)')"
_INSERT = "INSERT INTO passages (title, body, path, date, not_before) VALUES (?, ?, ?, ?, ?)"
_FIND = """
SELECT rowid, path, title, date FROM passages WHERE passages MATCH ?1 AND (?2 IS NULL OR not_before >= ?2) ORDER BY rank
"""
_EXCERPT = "SELECT snippet(passages, 1, ?1, ?2, '…', ?3) FROM passages WHERE passages MATCH ?4 AND rowid = ?5"


@attrs.frozen(kw_only=True)
class Match:
    """A page that holds words of the query. title, snippet: HTML, with `<b>` around the words found in the snippet."""

    path: str
    title: str
    snippet: str
    date: str | None


class MarkdownIndex:
    """Full-text search of one folder, as it was when the index was built: on `build`, or by the first `find`.

    Safe to share between threads; neither method belongs on an event loop. The index is a temporary file that SQLite
    deletes itself, and holds in memory while it is small.
    """

    def __init__(self, folder: Path, *, leave_out: Collection[str] = ()) -> None:
        """leave_out: names of folders at its top."""
        self._folder = folder
        self._leave_out = leave_out
        self._lock = threading.Lock()  # one connection, one thread at a time
        self._connection: sqlite3.Connection | None = None

    def build(self) -> None:
        """Reads the folder, once. Raises OSError where it cannot be read, or holds no page."""
        with self._lock:
            self._open()

    def find(self, query: str, *, limit: int, offset: int = 0, since: datetime | None = None) -> list[Match]:
        """The pages that hold any word of the query, in the order of their best passage's BM25, a title's words counting ten.

        query: literal text; what stands together in it (`key:value`) is found together. No word in it: no page.
        since: leaves out pages whose date does not prove that they are not older. Raises OSError, as `build` does.
        """
        expression = _match_any(query)
        with self._lock:
            connection = self._open()
            if not expression:
                return []
            best: dict[str, tuple[int, str, str | None]] = {}
            for row, path, title, date in connection.execute(_FIND, (expression, None if since is None else since.timestamp())):
                best.setdefault(path, (row, title, date))
                if len(best) == offset + limit:
                    break
            return [
                Match(path=path, title=escape(title, quote=False), snippet=_excerpt(connection, expression, row), date=date)
                for path, (row, title, date) in islice(best.items(), offset, None)
            ]

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect("", check_same_thread=False)
            try:
                self._fill(connection)
            except BaseException:
                connection.close()
                raise
            weakref.finalize(self, connection.close)
            self._connection = connection
        return self._connection

    def _fill(self, connection: sqlite3.Connection) -> None:
        with connection:
            connection.execute(_CREATE)
            connection.execute(_WEIGH)
            pages = read_pages(self._folder, leave_out=self._leave_out)
            stored = connection.executemany(_INSERT, (row for page in pages for row in _rows(page)))
            if stored.rowcount < 1:
                raise FileNotFoundError(errno.ENOENT, "no Markdown file is in it")


def _rows(page: MarkdownPage) -> Iterator[tuple[str, str, str, str | None, float | None]]:
    title, text = page.title.translate(_NOT_INDEXED), page.text.translate(_NOT_INDEXED)
    earliest = _instant(page.date, datetime(2000, 1, 1, tzinfo=UTC))
    for passage in _cut(text):
        yield title, passage, page.path, page.date, earliest


def _cut(text: str) -> Iterator[str]:
    """Passages cut at white space, so that no word is; one that is longer than a passage is."""
    start = 0
    while len(text) - start > PASSAGE_CHARACTERS:
        end = text.rfind(" ", start, start + PASSAGE_CHARACTERS)
        end = end if end > start else start + PASSAGE_CHARACTERS
        yield text[start:end]
        start = end
    yield text[start:]


def _match_any(query: str) -> str:
    """An FTS5 expression in which everything that the user wrote is quoted, hence text and never an operator; "" for none."""
    words = dict.fromkeys(query.replace("\0", " ").split())
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in words)


def _excerpt(connection: sqlite3.Connection, expression: str, row: int) -> str:
    (text,) = connection.execute(_EXCERPT, (_OPEN, _CLOSE, SNIPPET_WORDS, expression, row)).fetchone()
    return escape(text, quote=False).replace(_OPEN, "<b>").replace(_CLOSE, "</b>")
