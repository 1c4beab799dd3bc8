"""Pages: how many requests a call makes, and what each of them asks for."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from searchport.request import MAX_RESULTS

from .answers import cursor_of
from .bench import Bench
from .promise import Finding, NotApplicable, check
from .traffic import Sent, changed_places

__all__ = [
    "paging_advances", "paging_bounded", "paging_complete", "paging_cursor", "paging_same_size", "paging_stops_at_empty",
    "paging_stops_when_told",
]  # fmt: skip

_NO_LOOP = "ask the vendor once a call of the function; the SDK calls it again for each page"


def _several_pages(bench: Bench) -> int:
    """A max_results that takes two pages or more."""
    wanted = min(MAX_RESULTS, 3 * bench.declared.page_size)
    if bench.declared.page_limit(wanted) < 2:
        raise NotApplicable("one request gives all that a call can ask for")
    return wanted


def _ask_pages(bench: Bench) -> list[Sent]:
    sent = bench.ask(max_results=_several_pages(bench)).sent
    if len(sent) < 2:
        raise NotApplicable("no second page was asked for; see paging-complete")
    return list(sent)


@check("paging-advances", "Each page is another part of the answer: no two requests of a call are the same.")
def paging_advances(bench: Bench) -> Iterator[Finding]:
    sent = _ask_pages(bench)
    if len(set(sent)) < len(sent):
        yield Finding("a later page sends the same request again", "send context.page.number, .offset or .cursor")


@check("paging-same-size", "Every page of a call has the same size.")
def paging_same_size(bench: Bench) -> Iterator[Finding]:
    if bench.declared.page_size < 3:
        raise NotApplicable("its pages are too small to tell a size")
    small, other = (bench.ask(max_results=size).first() for size in (1, 2))
    pages = _ask_pages(bench)
    for place in sorted(changed_places(small, other)):
        values = [page.value(place) for page in pages]
        if len(set(values)) > 1:
            yield Finding(f"{place} is {values[0]!r} on the first page and {values[-1]!r} on the last", "send context.page.size")
        if values[0] == other.value(place):
            yield Finding(f"{place} did not grow with max_results", "send context.page.size")


@check("paging-bounded", "A call makes at most ceil(max_results / page_size) requests, whatever the vendor says of more.")
def paging_bounded(bench: Bench) -> Iterator[Finding]:
    short = max(1, bench.declared.page_size // 3)
    for wanted in {1, min(bench.declared.page_size, MAX_RESULTS), MAX_RESULTS}:
        limit = bench.declared.page_limit(wanted)
        for rows, what in ((min(wanted, bench.declared.page_size), "full"), (short, "short")):
            asked = bench.ask(max_results=wanted, script=bench.full_pages(rows))
            asked.answer()
            if len(asked.sent) > limit:
                yield Finding(
                    f"{len(asked.sent)} requests for max_results={wanted} over {what} pages; {limit} were allowed", _NO_LOOP
                )


@check("paging-complete", "Pages are fetched until max_results rows have come, where the vendor has as many.")
def paging_complete(bench: Bench) -> Iterator[Finding]:
    wanted = _several_pages(bench)
    got = len(bench.ask(max_results=wanted).results())
    size, limit = bench.declared.page_size, bench.declared.page_limit(wanted)
    if got < min(wanted, size * limit):
        change = "give more=None or True where another page may follow; `body` in the answers file is a page that others follow"
        yield Finding(f"{got} rows came of max_results={wanted}, though every page was full", change)


@check("paging-stops-at-empty", "An empty page ends the call.")
def paging_stops_at_empty(bench: Bench) -> Iterator[Finding]:
    asked = bench.ask(max_results=MAX_RESULTS, script=bench.always(bench.answers.nothing_found()))
    if asked.results():
        yield Finding("rows came of a page that has none", "read the vendor's list of results and nothing else")
    if len(asked.sent) != 1:
        yield Finding(f"{len(asked.sent)} requests were made though the first page was empty", _NO_LOOP)


@check("paging-stops-when-told", "A vendor's word that nothing follows ends the call.")
def paging_stops_when_told(bench: Bench) -> Iterator[Finding]:
    if bench.answers.page.last_body is None:
        raise NotApplicable("the answers file has no last_body: the vendor does not say where its pages end")
    wanted = _several_pages(bench)
    size = min(wanted, bench.declared.page_size)
    last = bench.answers.answer(bench.answers.write_page(bench.answers.rows(1, size), is_last=True))
    asked = bench.ask(max_results=wanted, script=bench.always(last))
    if len(asked.sent) != 1 or len(asked.results()) != size:
        happened = f"{len(asked.sent)} requests gave {len(asked.results())} rows of a last page that holds {size}"
        yield Finding(happened, "give more=False where the vendor says that nothing follows, and return the page's rows")


@check("paging-cursor", "What a page says of the next reaches the vendor with the next request.")
def paging_cursor(bench: Bench) -> Iterator[Finding]:
    if not bench.answers.has_cursor:
        raise NotApplicable("the vendor's pages have no cursor")
    for number, sent in enumerate(_ask_pages(bench)[1:], start=1):
        cursor = cursor_of(number)
        if not sent.places_with(cursor) and not sent.places_with(base64.b64encode(cursor.encode()).decode()):
            change = "return it as next_page, and send context.page.cursor"
            yield Finding(f"request {number + 1} does not hold the cursor of page {number}", change)
