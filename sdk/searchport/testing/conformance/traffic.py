"""What a toolkit sent, taken apart into places and values, so that two requests can be compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

import attrs
from yarl import URL

from searchport.testing.fake_web import FakeRequest

__all__ = ["Sent", "changed_places", "read_sent"]

_OF_THE_CLIENT: Final = frozenset({"host", "user-agent", "accept-encoding", "content-length", "connection"})


@attrs.frozen
class Sent:
    """One request. parts: (place, value), such as (`query.q`, `tea`), (`header.x-key`, …), (`body.filters[0].site`, …)."""

    origin: str
    parts: tuple[tuple[str, str], ...] = attrs.field(repr=False)

    def values(self) -> list[str]:
        """Every value, the origin among them."""
        return [self.origin, *(value for _, value in self.parts)]

    def places_of(self, value: str) -> list[str]:
        """Where exactly this value stands."""
        return [place for place, found in self.parts if found == value]

    def places_with(self, text: str) -> list[str]:
        """Where this text stands, alone or within a value or a name."""
        return [place for place, found in [*self.parts, ("origin", self.origin)] if text in found or text in place]

    def value(self, place: str) -> str | None:
        """What stands at a place; None for nothing."""
        return dict(self.parts).get(place)


def changed_places(one: Sent, other: Sent) -> set[str]:
    """The places whose values differ, or that only one of the two has."""
    return {place for place, _ in set(one.parts) ^ set(other.parts)} | ({"origin"} if one.origin != other.origin else set())


def read_sent(request: FakeRequest) -> Sent:
    """A request as it arrived at the fake web."""
    url = URL(request.url, encoded=True)
    return Sent(str(url.origin()), (("method", request.method), *_read_url(url), *_read_headers(request), *_read_body(request)))


def _read_url(url: URL) -> Iterator[tuple[str, str]]:
    for index, segment in enumerate(url.raw_path.split("/")[1:]):
        yield f"path[{index}]", unquote(segment)
    yield from _numbered("query", list(url.query.items()))


def _numbered(root: str, pairs: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    seen: dict[str, int] = {}
    for name, value in pairs:
        seen[name] = seen.get(name, 0) + 1
        yield f"{root}.{name}" + (f"#{seen[name]}" if seen[name] > 1 else ""), value


def _read_headers(request: FakeRequest) -> Iterator[tuple[str, str]]:
    pairs = [(name.lower(), value) for name, value in request.headers.items()]
    yield from _numbered("header", [pair for pair in pairs if pair[0] not in _OF_THE_CLIENT])


def _read_body(request: FakeRequest) -> Iterator[tuple[str, str]]:
    if not request.body:
        return
    if "form" in request.headers.get("Content-Type", ""):
        yield from _numbered("form", list(URL.build(query_string=request.body.decode("ascii"), encoded=True).query.items()))
        return
    try:
        yield from _flatten("body", json.loads(request.body))
    except ValueError:
        yield "body", request.body.decode("utf-8", "replace")


def _flatten(place: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _flatten(f"{place}.{name}", item)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _flatten(f"{place}[{index}]", item)
    else:
        yield place, value if isinstance(value, str) else json.dumps(value)
