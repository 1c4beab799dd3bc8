"""Rows: every one arrives as the vendor has it, and the guarantees can do their work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import attrs

from .bench import Asked, Bench
from .promise import Finding, NotApplicable, check
from .rows import Row

__all__ = ["plain_text_kept", "results_refused", "rows_arrive", "text_clean", "text_decoded_once"]

_HANDOVER: Final = "hand over the vendor's own field, unedited"
_BAD_URLS: Final = (
    "http://169.254.169.254/latest/meta-data",
    "http://localhost/admin",
    "http://10.0.0.7/",
    "https://user:secret@example.com/",
    "javascript:alert(1)",
    "ftp://example.com/file",
)


def ask_rows(bench: Bench, rows: list[Row], **options: Any) -> Asked:
    """A call that the vendor answers with these rows; every further page is empty."""
    page, empty = bench.answers.answer(bench.answers.write_page(rows)), bench.answers.nothing_found()
    return bench.ask(script=bench.pages(lambda number: page if number == 1 else empty), **options)


@check("rows-arrive", "Every row of a page arrives with its title, URL and snippet, in the vendor's order, and no other.")
def rows_arrive(bench: Bench) -> Iterator[Finding]:
    size = min(10, bench.declared.page_size)
    rows = bench.answers.rows(1, size)
    kept = bench.hold(ask_rows(bench, rows, max_results=size)).results
    if [result.url for result in kept] != [row.url for row in rows]:
        yield Finding(f"{len(kept)} of {size} rows arrived, or in another order", "return a SearchResult for every row, in order")
        return
    for field in ("title", "snippet"):
        wrong = [row.rank for row, result in zip(rows, kept, strict=True) if getattr(result, field) != getattr(row, field)]
        is_there = "{{" + field + "}}" in bench.answers.page.row.replace(" ", "")
        if wrong and is_there:
            yield Finding(f"row {wrong[0]} lost its {field}", f"read it as `row` in the answers file has it: {_HANDOVER}")


@check("results-refused", "Results off the site, inside a network, with credentials or not of the web are dropped and counted.")
def results_refused(bench: Bench) -> Iterator[Finding]:
    good, off, *rest = bench.answers.rows(1, 2 + len(_BAD_URLS))
    off = attrs.evolve(off, url="https://notexample.com/lantern")
    bad = [attrs.evolve(row, url=url) for row, url in zip(rest, _BAD_URLS, strict=True)]
    options: dict[str, str] = {} if "site" in bench.declared.unsupported else {"site": "example.com"}
    held = bench.hold(ask_rows(bench, [*bad, off, good], max_results=len(bad) + 2, **options))
    expected = [good.url] if options else [off.url, good.url]
    if [result.url for result in held.results] != expected:
        yield Finding("the only row that may be shown was not, or others were", f"return every row: {_HANDOVER}")
    report = held.report
    counted = report.malformed + report.refused_address + report.off_site
    if bench.answers.format_ == "json" and counted != len(bad) + len(options):
        happened = f"{counted} of {len(bad) + len(options)} rows were counted as dropped"
        yield Finding(happened, f"filter nothing and edit no URL, the SDK drops and counts: {_HANDOVER}")


def _cleaned(bench: Bench, raw: str) -> tuple[str, str | None]:
    """What becomes of a title and a snippet that hold this text."""
    row = attrs.evolve(bench.answers.rows(1, 1)[0], title=raw, snippet=raw)
    kept = bench.hold(ask_rows(bench, [row])).results
    return (kept[0].title, kept[0].snippet) if kept else ("", None)


def _find_text_faults(bench: Bench, raw: str, wanted: str, change: str) -> Iterator[Finding]:
    for field, found in zip(("title", "snippet"), _cleaned(bench, raw), strict=True):
        is_there = "{{" + field + "}}" in bench.answers.page.row.replace(" ", "")
        if found != wanted and is_there:
            yield Finding(f"a {field} {raw!r} became {found!r}, not {wanted!r}", change)


@check("text-clean", "Markup and hidden characters are gone from titles and snippets, words stay whole.")
def text_clean(bench: Bench) -> Iterator[Finding]:
    hidden = "Tea\u200b house\u202e\U000e0041 open"
    yield from _find_text_faults(bench, hidden, "Tea house open", _HANDOVER)
    if bench.declared.text == "html":
        raw = "un<strong>expected</strong> tea &amp; a &lt; b &#39;now&#39;"
        change = f"declare what the vendor's text is (text='html' or 'plain') and {_HANDOVER}"
        yield from _find_text_faults(bench, raw, "unexpected tea & a < b 'now'", change)


@check("text-decoded-once", "Text that a page escaped twice is decoded once.")
def text_decoded_once(bench: Bench) -> Iterator[Finding]:
    raw = "How &amp;lt;b&amp;gt; works"
    wanted = "How &lt;b&gt; works" if bench.declared.text == "html" else raw
    yield from _find_text_faults(bench, raw, wanted, f"decode nothing in the toolkit; {_HANDOVER}")


@check("plain-text-kept", "Text of a vendor that sends plain text keeps what looks like markup.")
def plain_text_kept(bench: Bench) -> Iterator[Finding]:
    if bench.declared.text == "html":
        raw, wanted = "if a < b and b <3 then", "if a < b and b <3 then"
        if bench.answers.format_ == "html":
            raise NotApplicable("its pages are markup")
        yield from _find_text_faults(bench, raw, wanted, f"strip nothing in the toolkit; {_HANDOVER}")
        return
    raw = "The <form> element & its <b>use</b>"
    yield from _find_text_faults(bench, raw, raw, f"strip nothing in the toolkit; {_HANDOVER}")
