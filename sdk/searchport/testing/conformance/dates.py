"""Dates: as the vendor states them, or none; never guessed, never the time of a crawl."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

import attrs

from searchport import published_date
from searchport.errors import shorten

from .answers import DateCase
from .bench import NOW, Bench
from .promise import Finding, NotApplicable, check
from .results import ask_rows
from .rows import CRAWLED

__all__ = ["crawl_time", "date_guesses", "date_published", "freshness_drops", "freshness_keeps"]

_BAITS: Final = ("2031-03-02T10:20:30", "3 days ago", "03/02/2031", "2031", "March 2031", "1929200400", "02.03.31")
_OLD_BAITS: Final = ("3 years ago", "2019-01-02T03:04:05", "2019")
_AS_STATED: Final = (
    "pass the vendor's own text as published_date, or convert a format that it documents with "
    "searchport.published_date.from_format or from_epoch"
)


def _need_dates(bench: Bench) -> None:
    if not bench.answers.has_dates:
        raise NotApplicable("the vendor's rows have no date")


def _published(bench: Bench, given: object) -> str | None:
    """The published date of a row whose date field holds `given`."""
    row = attrs.evolve(bench.answers.rows(1, 1)[0], date=given)
    results = ask_rows(bench, [row]).results()
    return published_date.normalize(results[0].published_date) if results else None


@check("date-published", "A date that the vendor states becomes the published date, as precise as it was.")
def date_published(bench: Bench) -> Iterator[Finding]:
    _need_dates(bench)
    for case in bench.answers.dates:
        found = _published(bench, case.given)
        if case.published is not None and found != case.published:
            yield Finding(f"{shorten(case.given)} became {found!r}, not {case.published!r}", _AS_STATED)


@check("date-guesses", "A date that is vague becomes no published date: no zone, an age, two orders, a year alone.")
def date_guesses(bench: Bench) -> Iterator[Finding]:
    _need_dates(bench)
    stated = {case.given for case in bench.answers.dates if case.published is not None and isinstance(case.given, str)}
    vague = [case.given for case in bench.answers.dates if case.published is None]
    for given in [*vague, *(bait for bait in _BAITS if bait not in stated)]:
        found = _published(bench, given)
        if found is not None:
            yield Finding(f"{shorten(given)} became {found!r}", f"do not read it yourself: {_AS_STATED}")


@check("crawl-time", "The time at which a vendor visited a page is never its date, not even as a bound.")
def crawl_time(bench: Bench) -> Iterator[Finding]:
    row = attrs.evolve(bench.answers.rows(1, 1)[0], date=None)
    results = ask_rows(bench, [row]).results()
    seen = datetime.fromisoformat(CRAWLED)
    for result in results:
        bound = published_date.not_before(result.published_date, NOW)
        if bound is not None and abs(bound - seen) < timedelta(days=2):
            change = "fill published_date from the field in which the page's own date stands, and from no other"
            yield Finding(f"a row without a date got {result.published_date!r} from the crawl time {CRAWLED}", change)
        elif result.published_date is not None and published_date.normalize(result.published_date):
            yield Finding(f"a row without a date got {shorten(result.published_date)}", "leave published_date None")


def _dated(bench: Bench) -> list[tuple[DateCase, datetime]]:
    """The cases that have a published date, and the instant that each counts as."""
    if "freshness" in bench.declared.unsupported:
        raise NotApplicable("freshness is declared unsupported")
    _need_dates(bench)
    found = [(case, published_date.not_before(case.published, NOW)) for case in bench.answers.dates if case.published]
    return [(case, instant) for case, instant in found if instant is not None]


def _is_kept(bench: Bench, given: object, now: datetime) -> bool:
    row = attrs.evolve(bench.answers.rows(1, 1)[0], date=given)
    return bool(bench.hold(ask_rows(bench, [row], freshness="P7D", now=now), now=now).results)


@check("freshness-keeps", "A row that is proven to be fresh enough stays.")
def freshness_keeps(bench: Bench) -> Iterator[Finding]:
    cases = _dated(bench)
    if not cases:
        raise NotApplicable("no date of this vendor is exact")
    for case, instant in cases:
        if not _is_kept(bench, case.given, instant + timedelta(days=2)):
            yield Finding(f"a row of {shorten(case.given)} was dropped two days later under freshness=P7D", _AS_STATED)


@check("freshness-drops", "A row that is too old, or of which nothing proves that it is not, goes.")
def freshness_drops(bench: Bench) -> Iterator[Finding]:
    for case, instant in _dated(bench):
        if _is_kept(bench, case.given, instant + timedelta(days=30)):
            yield Finding(f"a row of {shorten(case.given)} was kept thirty days later under freshness=P7D", _AS_STATED)
    for given in (None, *_OLD_BAITS):
        if _is_kept(bench, given, NOW):
            words = "a row without a date" if given is None else f"a row of {given!r}"
            yield Finding(f"{words} was kept under freshness=P7D", _AS_STATED)
