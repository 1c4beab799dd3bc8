"""What would change, in numbers. Nothing here holds a query, a key or an address, but where queries were asked for."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import cast

import attrs

from searchport.errors import SearchError
from searchport.wire import camel_case
from searchport_platform.metering.prices import Prices
from searchport_platform.migration.calls import GoogleCall, UnreadLine
from searchport_platform.migration.likeness import find_overlap, find_percentile
from searchport_platform.migration.replay import Outcome, Replay
from searchport_platform.migration.sides import GOOGLE, Answer, price_of
from searchport_platform.migration.translation import Becomes, Change
from searchport_platform.registry import Registry

__all__ = ["CallNumbers", "ChangeNumbers", "Report", "SideNumbers", "build_report", "render_report"]


@attrs.frozen(kw_only=True)
class ChangeNumbers:
    """A parameter that the new side does not honour as Google does. calls: lines of the file."""

    parameter: str
    becomes: str
    why: str
    calls: int


@attrs.frozen(kw_only=True)
class SideNumbers:
    """How one side answered. failed: error code -> calls. dated_share: of its results. Seconds: of the calls that it answered."""

    answered: int
    failed: dict[str, int]
    without_results: int
    results_per_call: float | None
    dated_share: float | None
    median_seconds: float | None
    p95_seconds: float | None
    vendor_requests: int | None
    cost_microusd: int | None


@attrs.frozen(kw_only=True)
class CallNumbers:
    """One call that was asked. line: where it first stands in the file. outcome: `ok`, or an error's code. seconds: of it.

    google: Google's outcome; None where it was not asked. query: None unless queries are to be shown.
    """

    line: int
    times: int
    outcome: str
    google: str | None
    overlap: float | None
    results: int | None
    results_before: int | None
    seconds: float | None
    query: str | None


@attrs.frozen(kw_only=True)
class Report:
    """What a run found.

    calls, distinct_calls: of the file. examined: lines whose calls were held against the new side: all, or the limit's. refused:
    of these, lines whose call would be refused. expected_cost_microusd: at most, of the examined calls that would go out;
    google_cost_microusd: of the same. overlap: mean share of Google's first ten results that the new side has among its own.
    """

    source: str
    target: str
    is_dry_run: bool
    is_interrupted: bool
    calls: int
    distinct_calls: int
    other_requests: int
    skipped_lines: int
    unread: tuple[UnreadLine, ...]
    examined: int
    refused: int
    refusals: dict[str, int]
    changes: tuple[ChangeNumbers, ...]
    expected_cost_microusd: int | None
    google_cost_microusd: int | None
    to_ask: int
    asked: int
    compared: int
    overlap: float | None
    target_numbers: SideNumbers | None
    google_numbers: SideNumbers | None
    asked_calls: tuple[CallNumbers, ...]


def build_report(replay: Replay, prices: Prices, registry: Registry, *, interrupted: bool, dry: bool, queries: bool) -> Report:
    """The numbers of what the replay has found so far. queries: shows them."""
    file = replay.file
    outcomes = sorted(replay.outcomes, key=lambda outcome: _rank(outcome.translation.call))
    overlaps = [share for outcome in outcomes if (share := _overlap(outcome)) is not None]
    before = [outcome.before for outcome in outcomes if outcome.before is not None]
    refusals = _count_refusals(replay)
    going = [each for each in replay.expected if each.goes_out]
    return Report(
        source=GOOGLE,
        target=replay.side.name,
        is_dry_run=dry,
        is_interrupted=interrupted,
        calls=file.total,
        distinct_calls=len(file.calls),
        other_requests=file.others,
        skipped_lines=file.skipped,
        unread=file.unread,
        examined=sum(each.times for each in replay.expected),
        refused=refusals.total(),
        refusals=dict(refusals.most_common()),
        changes=_count_changes(replay),
        expected_cost_microusd=_sum(each.cost_microusd for each in going),
        google_cost_microusd=_price(prices, registry, GOOGLE, sum(each.times for each in going)),
        to_ask=0 if dry else len(replay.sample),
        asked=len(outcomes),
        compared=len(overlaps),
        overlap=_mean(overlaps),
        target_numbers=_count([o.after for o in outcomes], replay.side.name, prices, registry) if outcomes else None,
        google_numbers=_count(before, GOOGLE, prices, registry) if before else None,
        asked_calls=tuple(_read_outcome(outcome, queries=queries) for outcome in outcomes),
    )


def _count_refusals(replay: Replay) -> Counter[str]:
    counted: Counter[str] = Counter()
    for each in replay.expected:
        if not each.goes_out:
            counted[each.refusal_code] += each.times
    return counted


def _count_changes(replay: Replay) -> tuple[ChangeNumbers, ...]:
    """Each change with the lines that it concerns; those of the answers too, which a provider may tell only then."""
    told = {each.translation.call.line: dict.fromkeys(each.changes, each.times) for each in replay.expected}
    for outcome in replay.outcomes:
        if isinstance(outcome.after, Answer):
            known = told[outcome.translation.call.line]
            new = set(outcome.after.ignored) - {change.parameter for change in known}
            known |= {Change(name, Becomes.IGNORED, _TOLD): outcome.translation.call.times for name in sorted(new)}
    counted: Counter[Change] = Counter()
    for of_call in told.values():
        counted.update(of_call)
    order = list(Becomes)
    ranked = sorted(counted.items(), key=lambda item: (order.index(item[0].becomes), -item[1], item[0].parameter))
    return tuple(
        ChangeNumbers(parameter=change.parameter, becomes=str(change.becomes), why=change.why, calls=calls)
        for change, calls in ranked
    )


_TOLD = "the answer says that it was not honoured"


def _count(answers: Sequence[Answer | SearchError], provider: str, prices: Prices, registry: Registry) -> SideNumbers:
    pages = [answer for answer in answers if isinstance(answer, Answer)]
    failed = Counter(str(answer.code) for answer in answers if isinstance(answer, SearchError))
    results = sum(len(page.urls) for page in pages)
    seconds = [page.seconds for page in pages]
    requests = _sum(page.vendor_requests for page in pages)
    return SideNumbers(
        answered=len(pages),
        failed=dict(failed.most_common()),
        without_results=sum(not page.urls for page in pages),
        results_per_call=results / len(pages) if pages else None,
        dated_share=sum(page.dated for page in pages) / results if results else None,
        median_seconds=statistics.median(seconds) if seconds else None,
        p95_seconds=find_percentile(seconds, 0.95),
        vendor_requests=requests,
        cost_microusd=None if requests is None else _price(prices, registry, provider, requests),
    )


def _rank(call: GoogleCall) -> tuple[int, int]:
    """The order of the file's calls, whichever was answered first."""
    return -call.times, call.line


def _overlap(outcome: Outcome) -> float | None:
    """None where a side failed, or Google found nothing."""
    if not isinstance(outcome.before, Answer) or not isinstance(outcome.after, Answer):
        return None
    return find_overlap(outcome.before.urls, outcome.after.urls)


def _read_outcome(outcome: Outcome, *, queries: bool) -> CallNumbers:
    call, after, before = outcome.translation.call, outcome.after, outcome.before
    return CallNumbers(
        line=call.line,
        times=call.times,
        outcome=_name(after),
        google=None if before is None else _name(before),
        overlap=_overlap(outcome),
        results=len(after.urls) if isinstance(after, Answer) else None,
        results_before=len(before.urls) if isinstance(before, Answer) else None,
        seconds=after.seconds if isinstance(after, Answer) else None,
        query=call.given["q"] if queries else None,
    )


def _name(answer: Answer | SearchError) -> str:
    return "ok" if isinstance(answer, Answer) else str(answer.code)


def _price(prices: Prices, registry: Registry, provider: str, vendor_requests: int) -> int | None:
    toolkit = registry.toolkits.get(provider)
    return None if toolkit is None else price_of(prices, toolkit, vendor_requests)


def _sum(values: Iterable[int | None]) -> int | None:
    """None where one of them is not known."""
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def render_report(report: Report) -> dict[str, object]:
    """The report as a JSON object, camelCase; `query` only where queries are shown."""
    return _render(report)


def _render(value: attrs.AttrsInstance) -> dict[str, object]:
    fields = {field.name: getattr(value, field.name) for field in attrs.fields(type(value))}
    if isinstance(value, CallNumbers) and value.query is None:
        del fields["query"]
    return {camel_case(name): _plain(held) for name, held in fields.items()}


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return round(value, 4)
    return _render(cast("attrs.AttrsInstance", value)) if attrs.has(type(value)) else value
