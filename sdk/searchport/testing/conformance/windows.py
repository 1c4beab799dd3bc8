"""Recency and freshness: what a vendor is told of them."""

from __future__ import annotations

from collections.abc import Iterator

from searchport.request import Recency

from .bench import Asked, Bench
from .promise import Finding, NotApplicable, check
from .traffic import Sent, changed_places

__all__ = ["freshness_sent", "recency_distinct", "recency_sent", "window_unasked"]

_SEND = "send context.window.value (or a range from context.window.since) where context.window is not None"


def _ask_each(bench: Bench) -> dict[Recency, Asked]:
    """A call for each window that the vendor has."""
    if "recency" in bench.declared.unsupported or bench.declared.recency is None:
        raise NotApplicable("the vendor has no windows")
    return {recency: bench.ask(recency=recency) for recency, value in bench.declared.recency.items() if value is not None}


@check("no-window-unasked", "Without recency and freshness nothing of a window is sent.")
def window_unasked(bench: Bench) -> Iterator[Finding]:
    plain = bench.ask().first()
    for place in sorted(_window_places([asked.first() for asked in _ask_each(bench).values()])):
        if plain.value(place):
            yield Finding(
                f"{place} holds {plain.value(place)!r} though no window was asked for", "leave it out: None is not sent"
            )


def _window_places(windows: list[Sent]) -> set[str]:
    """Where the windows' own values stand: what differs from one window to another."""
    return {place for one in windows for other in windows for place in changed_places(one, other)}


@check("recency-sent", "Each recency reaches the vendor, or is named in the answer's `ignored`.")
def recency_sent(bench: Bench) -> Iterator[Finding]:
    if "recency" in bench.declared.unsupported:
        raise NotApplicable("recency is declared unsupported")
    plain = bench.ask().first()
    for recency in Recency:
        asked = bench.ask(recency=recency)
        is_ignored, is_sent = "recency" in asked.answer().ignored, bool(changed_places(plain, asked.first()))
        lacks = bench.declared.recency is None or bench.declared.recency[recency] is None
        if lacks and is_sent:
            yield Finding(
                f"recency={recency} changes the request, though the declaration has no such window", "declare its value"
            )
        if not is_sent and not is_ignored:
            yield Finding(f"recency={recency} neither changed the request nor was named in `ignored`", _SEND)
        if is_ignored and not lacks and "recency" not in bench.declared.best_effort:
            yield Finding(f"recency={recency} was ignored, though it is declared as honoured", _SEND)


@check("recency-distinct", "No two windows send the same.")
def recency_distinct(bench: Bench) -> Iterator[Finding]:
    seen: dict[Sent, Recency] = {}
    for recency, asked in _ask_each(bench).items():
        other = seen.setdefault(asked.first(), recency)
        if other is not recency:
            yield Finding(
                f"recency={recency} sends the same as recency={other}", "give each its own value, or None for one it lacks"
            )


@check("freshness-sent", "A native freshness reaches the vendor, as the narrowest window that covers it.")
def freshness_sent(bench: Bench) -> Iterator[Finding]:
    if bench.declared.support("freshness") != "native":
        raise NotApplicable("freshness is not declared native; the SDK's own filter holds it")
    if not changed_places(bench.ask().first(), bench.ask(freshness="P5D").first()):
        yield Finding("freshness=P5D changed nothing in the request", _SEND + '; or take "freshness" out of `native`')
