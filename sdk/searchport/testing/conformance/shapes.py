"""Answers of any shape: nothing but SearchError, and never a result that the answer does not hold."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from html import unescape
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import attrs

from searchport.errors import ErrorCode, shorten
from searchport.result import SearchResult

from .bench import Asked, Bench
from .promise import Finding, NotApplicable, check

__all__ = ["any_answer", "body_without_a_key", "odd_values", "row_without_a_key", "wrong_shape"]

Path: TypeAlias = tuple[str | int, ...]

_GONE: Final = object()
_WORD: Final = re.compile(r"[^\W\d_]+")
_TAG: Final = re.compile(r"<[^<>]*>?")
_READERS: Final = "read answers with JsonBody (text, number, flag, rows): it never raises anything but SearchError"
_MOST_CPU_SECONDS: Final = 3.0
_PER_PAGE: Final = 3


def _json_page(bench: Bench) -> Any:
    if bench.answers.format_ != "json":
        raise NotApplicable("the vendor answers in HTML")
    return json.loads(bench.write_page(1, _PER_PAGE))


def _paths(value: Any, here: Path = ()) -> Iterator[Path]:
    """The path of every part of a JSON value, its own first."""
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _paths(item, (*here, key))


def _rows_path(bench: Bench) -> Path:
    """Where the list of rows stands."""
    marker = {"marker-of-a-row": 1}
    marked = attrs.evolve(bench.answers.page, row=json.dumps(marker), undated_row=None)
    body = json.loads(attrs.evolve(bench.answers, page=marked).write_page(bench.answers.rows(1, 1)))
    for path in _paths(body):
        if path and _find(body, path) == marker:
            return path[:-1]
    raise NotApplicable("the rows stand in no list")


def _find(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _replaced(value: Any, path: Path, new: object) -> Any:
    """A copy in which another value stands at a path, or nothing."""
    if not path:
        return None if new is _GONE else new
    changed = copy.deepcopy(value)
    parent = _find(changed, path[:-1])
    if new is _GONE:
        del parent[path[-1]]
    else:
        parent[path[-1]] = new
    return changed


def _spell(path: Path) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def _ask(bench: Bench, text: str) -> Asked:
    """One page of this text, then empty ones."""
    page, empty = bench.answers.answer(text), bench.answers.nothing_found()
    return bench.ask(script=bench.pages(lambda number: page if number == 1 else empty), max_results=_PER_PAGE)


def _find_faults(asked: Asked, text: str, what: str) -> Iterator[Finding]:
    """What no answer may cause."""
    if asked.defects:
        yield Finding(f"{what} made the toolkit raise {asked.defects[0]}", _READERS)
    elif asked.error is not None and asked.error.code is ErrorCode.INTERNAL_ERROR:
        yield Finding(f"{what} ended with {asked.error.code}: {asked.error}", _READERS)
    if asked.cpu_seconds > _MOST_CPU_SECONDS:
        yield Finding(f"{what} took {asked.cpu_seconds:.1f} s to read", "read in one pass, with no pattern that backtracks")
    if asked.response is not None:
        held = _Held.read(text)
        yield from (fault for result in asked.response.results for fault in _find_inventions(result, held, what))


def _find_inventions(result: SearchResult, held: _Held, what: str) -> Iterator[Finding]:
    for field in ("title", "url", "snippet", "published_date"):
        value = getattr(result, field)
        if value is not None and not isinstance(value, str):
            yield Finding(f"{what} gave a result whose {field} is {type(value).__name__}", f"{_READERS}, and gives text or None")
        elif value and field not in held.not_compared and not (held.has(value) or held.has(unescape(value))):
            yield Finding(f"{what} gave a result whose {field} is {shorten(value)}, which the answer does not hold", _READERS)


@attrs.frozen
class _Held:
    """What an answer holds, however it is written there.

    letters: of a page's text without its tags, in order; empty for JSON. not_compared: fields that a toolkit may convert; in a
    page a URL too, which vendors wrap.
    """

    words: frozenset[str]
    letters: str
    not_compared: frozenset[str]

    @classmethod
    def read(cls, text: str) -> _Held:
        letters = ""
        try:
            texts = list(_texts(json.loads(text)))
        except ValueError:
            texts = [text, _TAG.sub("", text)]
            letters = _letters(unescape(texts[1]))
        readings = {reading for found in texts for reading in (found, unescape(found), unquote(found), unquote(unescape(found)))}
        words = frozenset(word for reading in readings for word in _WORD.findall(reading))
        return cls(words, letters, frozenset({"published_date", "url"} if letters else {"published_date"}))

    def has(self, value: str) -> bool:
        """True where the value is made of words of the answer, or stands in its text with tags between its letters."""
        return set(_WORD.findall(value)) <= self.words or _letters(_TAG.sub("", value)) in self.letters


def _letters(text: str) -> str:
    return "".join(_WORD.findall(text))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value
    elif value is not None and not isinstance(value, bool):
        yield json.dumps(value)


@check("row-without-a-key", "A row of which a field is null, empty or missing harms no other row.")
def row_without_a_key(bench: Bench) -> Iterator[Finding]:
    others = [row.url for row in bench.answers.rows(1, _PER_PAGE) if row.rank != 2]
    for text, what in _hurt_pages(bench):
        asked = _ask(bench, text)
        yield from _find_faults(asked, text, what)
        left = [] if asked.response is None else [row.url for row in asked.response.results if row.url in others]
        if left != others:
            yield Finding(f"{what} cost other rows", "read each row on its own, with row.text(…) for its fields")


def _hurt_pages(bench: Bench) -> Iterator[tuple[str, str]]:
    """Pages whose second row lacks something, and what it lacks."""
    if bench.answers.format_ == "html":
        first, second, *rest = bench.answers.rows(1, _PER_PAGE)
        emptied = (attrs.evolve(second, title=""), attrs.evolve(second, url=""), attrs.evolve(second, snippet=""))
        for row, field in zip(emptied, ("title", "url", "snippet"), strict=True):
            yield bench.answers.write_page([first, row, *rest]), f"a row whose {field} is empty"
        return
    page, hurt = _json_page(bench), (*_rows_path(bench), 1)
    for path in list(_paths(_find(page, hurt)))[1:]:
        for new, words in ((None, "null"), (_GONE, "missing")):
            yield json.dumps(_replaced(page, (*hurt, *path), new)), f"a row whose {_spell(path)} is {words}"


@check("body-without-a-key", "An answer of which any part is null or missing gives its rows, none, or an error of the catalogue.")
def body_without_a_key(bench: Bench) -> Iterator[Finding]:
    page, rows = _json_page(bench), _rows_path(bench)
    for path in _paths(page):
        if path[: len(rows)] == rows and len(path) > len(rows):
            continue
        for new, words in ((None, "null"), (_GONE, "missing")):
            text = json.dumps(_replaced(page, path, new))
            yield from _find_faults(_ask(bench, text), text, f"an answer whose {_spell(path)} is {words}")


@check("wrong-shape", "Where something else stands in the place of the results, that is an error and no empty answer.")
def wrong_shape(bench: Bench) -> Iterator[Finding]:
    page, rows = _json_page(bench), _rows_path(bench)
    for path in {rows, ()}:
        for new in ("text", 5, True, {"a": 1} if path else [], *(() if path else (None,))):
            asked = _ask(bench, json.dumps(_replaced(page, path, new)))
            if asked.error is None:
                happened = f"{json.dumps(new)} at {_spell(path)} gave {len(asked.results())} results and no error"
                yield Finding(happened, "read the list with answer.rows(…), which tells a missing list from another value")


_ODD_VALUES: Final[tuple[tuple[str, str], ...]] = (
    ("5", "a number"),
    ("true", "true"),
    ('"x"', "a short text"),
    ("[]", "an empty list"),
    ("{}", "an empty object"),
    ("[5, null]", "a list"),
    ('{"a": {"b": 5}}', "an object"),
    ("[" * 60 + "]" * 60, "60 nested lists"),
    ('{"a":' * 55 + "1" + "}" * 55, "55 nested objects"),
    ("9" * 999, "an integer of 999 digits"),
    ("-1e308", "a huge number"),
    ('"' + "<" * 20_000 + '"', "20,000 opening brackets"),
    ('"' + "a " * 10_000 + '"', "10,000 words"),
    ('"\\ud800\\u0000\\u202e"', "a lone surrogate, a null character and an override"),
    ('"http://[::1"', "a broken URL"),
)


@check("odd-values", "Values of any type, depth and length in a row are read in bounded time and harm no other row.")
def odd_values(bench: Bench) -> Iterator[Finding]:
    page, rows = _json_page(bench), _rows_path(bench)
    row = _find(page, (*rows, 1))
    leaves = [path for path in _paths(row) if path and not isinstance(_find(row, path), dict | list)]
    for written, what in _ODD_VALUES:
        changed = page
        for path in leaves:
            changed = _replaced(changed, (*rows, 1, *path), "marker-of-a-value")
        text = json.dumps(changed).replace('"marker-of-a-value"', written)
        asked = _ask(bench, text)
        yield from _find_faults(asked, text, f"a row in which every value is {what}")
        others = [other.url for other in bench.answers.rows(1, _PER_PAGE) if other.rank != 2]
        if asked.response is not None and [found.url for found in bench.hold(asked).results if found.url in others] != others:
            yield Finding(f"a row in which every value is {what} cost other rows", _READERS)


# Any answer: drawn at random from a fixed seed, so that every run tries the same ones.

_SEED: Final = 20260920
_MOST_FINDINGS: Final = 5
_ODD_TEXTS: Final = (
    "", " ", "null", "0", "-1", "https://", "//x", "javascript:", "2031-02-30", "{}", "[]", "%", "%zz", "\x00", "\ud800",
    "\u202e", "İ", "ß", "\U0010ffff", "&#0;", "&#9999999999;", "<", "</", "<!--", "<script>", "a" * 3_000, "\n", "1e999", "Ω",
)  # fmt: skip
_ODD_NUMBERS: Final = (0, -1, 1, 2**31, -(2**63), 2**64, 10**40, 0.1, -0.0, 1e308, 5e-324)
_JUNK: Final = (
    "<", ">", '"', "'", "&", "</div>", "<a href=", "<!--", "-->", "&#", "%", "\x00", "<script>", " ", "</", "<div class=",
)  # fmt: skip


@check("any-answer", "Whatever a vendor answers, a call gives rows that the answer holds or an error of the catalogue.")
def any_answer(bench: Bench) -> Iterator[Finding]:
    draw = random.Random(_SEED)  # noqa: S311  # the same answers in every run
    page = bench.write_page(1, _PER_PAGE)
    found = 0
    for number in range(bench.examples):
        changes = 1 + number % 2
        text, what = _any_json(page, changes, draw) if bench.answers.format_ == "json" else _any_html(page, changes, draw)
        for finding in _find_faults(_ask(bench, text), text, what):
            yield finding
            found += 1
        if found >= _MOST_FINDINGS:
            return


def _any_json(page: str, changes: int, draw: random.Random) -> tuple[str, str]:
    """A page of which some parts are something else, and what was done to it."""
    value = json.loads(page)
    parts = [_find(value, path) for path in _paths(value)]
    done = []
    for _ in range(changes):
        path = draw.choice(list(_paths(value)))
        new = copy.deepcopy(draw.choice(parts)) if draw.random() < 0.25 else _any_value(draw, depth=3)
        value = _replaced(value, path, new)
        done.append(f"{_spell(path)} is {shorten(json.dumps(new))}")
    return json.dumps(value), f"an answer in which {' and '.join(done)}"


def _any_value(draw: random.Random, *, depth: int) -> object:
    kind = draw.randrange(6 if depth else 4)
    if kind == 0:
        return draw.choice([None, True, False])
    if kind == 1:
        return draw.choice(_ODD_NUMBERS)
    if kind < 4:
        return draw.choice(_ODD_TEXTS)
    inner = [_any_value(draw, depth=depth - 1) for _ in range(draw.randrange(4))]
    return inner if kind == 4 else {draw.choice(_ODD_TEXTS[:9]): item for item in inner}


def _any_html(page: str, changes: int, draw: random.Random) -> tuple[str, str]:
    """A page of which some stretches are cut out or became something else, and what was done to it."""
    done = []
    for _ in range(changes):
        start, length = draw.randrange(len(page) + 1), draw.choice([0, 0, 1, 5, 40, 200, len(page)])
        junk = draw.choice(_JUNK)
        page = page[:start] + junk + page[start + length :]
        done.append(f"{length} characters from {start} on became {junk!r}")
    return page, f"a page in which {' and '.join(done)}"
