"""The answers file: how one vendor answers, written down by the toolkit's author, and read strictly."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Self, TypeVar, cast

import attrs

from searchport import published_date
from searchport.errors import ErrorCode, Fault, SearchError, shorten
from searchport.testing.fake_web import FakeAnswer
from searchport.wire import OPTION, Option, nearest, structure

from .rows import Row, sample_rows
from .template import Format, fill, placeholders

__all__ = ["Answers", "AnswersError", "DateCase", "ModelsAnswer", "PageTemplate", "Scenario"]

EMPTY: Final = "empty"

_CONTENT_TYPE: Final[Mapping[Format, str]] = {"json": "application/json", "html": "text/html; charset=utf-8"}
_IN_BODY: Final = frozenset({"rows", "page", "cursor"})
_IN_ROW: Final = frozenset({"title", "url", "url|quote", "snippet", "date", "crawled", "rank"})


class AnswersError(ValueError):
    """An answers file that cannot be used; `faults` has every mistake with its place, and the text all of them."""

    def __init__(self, place: str, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join([f"{place} cannot be used:", *(f"  {fault}" for fault in faults)]))


def _parse_given(value: object) -> object:
    if isinstance(value, str | int | float):
        return value
    raise SearchError.invalid("given", f"expected a text, a number or a boolean, got {shorten(value)}; quote a date")


def _parse_status(value: object) -> int:
    if type(value) is int and 200 <= value <= 599:
        return value
    raise SearchError.invalid("status", f"{shorten(value)} is no HTTP status from 200 to 599")


def _parse_headers(value: object) -> Mapping[str, str]:
    if isinstance(value, dict) and all(isinstance(text, str) for text in value.values()):
        return cast("Mapping[str, str]", value)
    raise SearchError.invalid("headers", f'expected a table of texts such as {{ "Retry-After" = "30" }}, got {shorten(value)}')


def _parse_expect(value: object) -> str:
    allowed = (EMPTY, *map(str, ErrorCode))
    if isinstance(value, str) and value in allowed:
        return value
    raise SearchError.invalid("expect", f"{shorten(value)} is neither 'empty' nor an error code{nearest(str(value), allowed)}")


def _parse_published(value: object) -> str:
    if isinstance(value, str) and published_date.normalize(value) == value:
        return value
    raise SearchError.invalid(
        "published", f"{shorten(value)} is no published date; write YYYY-MM-DD or 2026-09-20T08:15:00Z, or leave it out"
    )


_GIVEN: Final = {OPTION: Option(_parse_given, "")}
_STATUS: Final = {OPTION: Option(_parse_status, "")}
_HEADERS: Final = {OPTION: Option(_parse_headers, "")}


@attrs.frozen(kw_only=True)
class PageTemplate:
    """A page of results. last_body: the same as the vendor writes it where no page follows. undated_row: a row without a date."""

    body: str
    row: str
    undated_row: str | None = None
    last_body: str | None = None
    status: int = attrs.field(default=200, metadata=_STATUS)
    headers: Mapping[str, str] = attrs.field(factory=dict, metadata=_HEADERS)


@attrs.frozen(kw_only=True)
class DateCase:
    """What the vendor's date field can hold. published: what must become of it; None: no published date."""

    given: object = attrs.field(metadata=_GIVEN)
    published: str | None = attrs.field(default=None, metadata={OPTION: Option(_parse_published, "")})


@attrs.frozen(kw_only=True)
class Scenario:
    """One answer that is no page of results. expect: `empty`, or the code of the error that it means."""

    scenario: str
    expect: str = attrs.field(metadata={OPTION: Option(_parse_expect, "")})
    body: str = ""
    status: int = attrs.field(default=200, metadata=_STATUS)
    headers: Mapping[str, str] = attrs.field(factory=dict, metadata=_HEADERS)
    retry_after: float | None = None
    vendor_code: str | None = None


@attrs.frozen(kw_only=True)
class ModelsAnswer:
    """What the vendor answers when it is asked for its models."""

    body: str
    status: int = attrs.field(default=200, metadata=_STATUS)
    headers: Mapping[str, str] = attrs.field(factory=dict, metadata=_HEADERS)


@attrs.frozen(kw_only=True)
class Answers:
    """A vendor, as a table of what it answers; `load` reads one.

    place: the file's name, for messages. is_markup: whether titles and snippets are markup, as the toolkit declares.
    """

    place: str
    page: PageTemplate
    format_: Format = "json"
    settings: Mapping[str, object] = attrs.field(factory=dict)
    dates: tuple[DateCase, ...] = ()
    scenarios: tuple[Scenario, ...] = ()
    models: ModelsAnswer | None = None
    is_markup: bool = True

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The answers of a file. Raises AnswersError with every mistake and its place; OSError where it cannot be read."""
        return cls.parse(Path(path).read_text(encoding="utf-8"), place=str(path))

    @classmethod
    def parse(cls, text: str, *, place: str = "answers.toml") -> Self:
        """The answers that TOML text holds. Raises AnswersError."""
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise AnswersError(place, [Fault("$", f"it is not TOML: {error}")]) from None
        reader = _Reader()
        answers = cls(
            place=place,
            format_=reader.format_(table.get("format", "json")),
            settings=reader.table("$.settings", table.get("settings", {})),
            page=reader.one(table.get("page"), PageTemplate, "$.page") or PageTemplate(body="", row=""),
            dates=reader.list_of(table.get("dates", []), DateCase, "$.dates"),
            scenarios=reader.list_of(table.get("answers", []), Scenario, "$.answers"),
            models=reader.one(table["models"], ModelsAnswer, "$.models") if "models" in table else None,
        )
        reader.unknown(table, ("format", "settings", "page", "dates", "answers", "models"))
        faults = reader.faults or [*_find_faults(answers)]
        if faults:
            raise AnswersError(place, faults)
        return answers

    @property
    def has_dates(self) -> bool:
        """True where the vendor has a field for a page's date."""
        return "date" in placeholders(self.page.row)

    @property
    def has_cursor(self) -> bool:
        """True where the vendor's answer says where the next page begins."""
        return "cursor" in placeholders(self.page.body)

    @property
    def usual_date(self) -> object:
        """The first of `dates` that is published, else the first, else None: what sample rows hold."""
        published = [case.given for case in self.dates if case.published is not None]
        return next(iter([*published, *(case.given for case in self.dates)]), None)

    def rows(self, first: int, count: int) -> list[Row]:
        """Sample rows with the vendor's usual date."""
        return sample_rows(first, count, self.usual_date if self.has_dates else None)

    def write_row(self, row: Row) -> str:
        """A row as the vendor writes it."""
        undated = self.page.undated_row if row.date is None else None
        raw = frozenset({"title", "snippet"}) if self.format_ == "html" and self.is_markup else frozenset()
        return fill(undated or self.page.row, attrs.asdict(row), format_=self.format_, raw=raw)

    def write_page(self, rows: Sequence[Row], *, number: int = 1, is_last: bool = False) -> str:
        """A page as the vendor writes it. number: from 1."""
        joined = (", " if self.format_ == "json" else "\n").join(map(self.write_row, rows))
        template = self.page.last_body if is_last and self.page.last_body is not None else self.page.body
        values = {"rows": joined, "page": number, "cursor": cursor_of(number)}
        return fill(template, values, format_=self.format_, raw=frozenset({"rows"}))

    def answer(self, text: str) -> FakeAnswer:
        """A text as the body of a page."""
        page = self.page
        return FakeAnswer(text=text, status=page.status, headers=page.headers, content_type=self._content_type(page.headers))

    def nothing_found(self) -> FakeAnswer:
        """A page with no rows: in HTML, where vendors say it in words, the first scenario of `answers` that is empty."""
        said = [case for case in self.scenarios if case.expect == EMPTY] if self.format_ == "html" else []
        return self.answer_of(said[0]) if said else self.answer(self.write_page([]))

    def answer_of(self, said: Scenario | ModelsAnswer) -> FakeAnswer:
        """The answer of a scenario."""
        content_type = self._content_type(said.headers)
        return FakeAnswer(text=said.body, status=said.status, headers=said.headers, content_type=content_type)

    def _content_type(self, headers: Mapping[str, str]) -> str:
        stated = [value for name, value in headers.items() if name.lower() == "content-type"]
        return stated[0] if stated else _CONTENT_TYPE[self.format_]


def cursor_of(number: int) -> str:
    """Where the fake vendor's page after `number` begins."""
    return f"cursor-{number}-4b1d"


T = TypeVar("T")


class _Reader:
    """Reads the file's tables and notes every mistake."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def format_(self, value: object) -> Format:
        if value in ("json", "html"):
            return value
        self.faults.append(Fault("$.format", f"{shorten(value)} is neither 'json' nor 'html'"))
        return "json"

    def table(self, place: str, value: object) -> Mapping[str, object]:
        if isinstance(value, dict):
            return value
        self.faults.append(Fault(place, f"expected a table, got {shorten(value)}"))
        return {}

    def one(self, value: object, cls: type[T], place: str) -> T | None:
        if value is None:
            self.faults.append(Fault(place, "required, but not given"))
            return None
        try:
            return structure(value, cls, root=place)
        except SearchError as error:
            self.faults += error.faults
            return None

    def list_of(self, value: object, cls: type[T], place: str) -> tuple[T, ...]:
        if not isinstance(value, list):
            self.faults.append(Fault(place, f"expected tables, each headed [[{place[2:]}]], got {shorten(value)}"))
            return ()
        found = [self.one(item, cls, f"{place}[{index}]") for index, item in enumerate(value)]
        return tuple(item for item in found if item is not None)

    def unknown(self, table: Mapping[str, object], known: Sequence[str]) -> None:
        for name in sorted(set(table) - set(known)):
            self.faults.append(Fault(f"$.{name}", f"unknown{nearest(name, known)} (known: {', '.join(known)})"))


def _find_faults(answers: Answers) -> Iterator[Fault]:
    """What is wrong though every field is of its type."""
    faults = [*_find_placeholder_faults(answers.page), *_find_case_faults(answers)]
    yield from faults
    if not faults and answers.format_ == "json":
        yield from _find_json_faults(answers)


def _find_placeholder_faults(page: PageTemplate) -> Iterator[Fault]:
    for name, known, needed in (
        ("body", _IN_BODY, ["rows"]),
        ("last_body", _IN_BODY, ["rows"]),
        ("row", _IN_ROW, ["title", "url"]),
        ("undated_row", _IN_ROW, ["title", "url"]),
    ):
        template = getattr(page, name)
        if template is None:
            continue
        found = placeholders(template)
        for unknown in sorted(set(found) - known):
            yield Fault(f"$.page.{name}", f"{{{{{unknown}}}}} is unknown here (known: {', '.join(sorted(known))})")
        for missing in needed:
            if missing not in {place.partition("|")[0] for place in found}:
                yield Fault(f"$.page.{name}", f"it has no place for {{{{{missing}}}}}")
    if page.undated_row is not None and "date" in placeholders(page.undated_row):
        yield Fault("$.page.undated_row", "it holds {{date}}, though it is a row without one")


def _find_case_faults(answers: Answers) -> Iterator[Fault]:
    if answers.dates and not answers.has_dates:
        yield Fault("$.dates", "the row has no place for {{date}}")
    if answers.has_dates and not answers.dates:
        yield Fault("$.dates", "the row has a {{date}}, but no [[dates]] says what that field can hold")
    seen: set[str] = set()
    for index, case in enumerate(answers.scenarios):
        if case.scenario in seen:
            yield Fault(f"$.answers[{index}].scenario", f"{shorten(case.scenario)} is there twice")
        seen.add(case.scenario)
        for name in ("retry_after", "vendor_code"):
            if case.expect == EMPTY and getattr(case, name) is not None:
                yield Fault(f"$.answers[{index}].{name}", "an empty answer carries none")
    for index, date in enumerate(answers.dates):
        if any(_same(date.given, earlier.given) for earlier in answers.dates[:index]):
            yield Fault(f"$.dates[{index}].given", f"{shorten(date.given)} is there twice")


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def _find_json_faults(answers: Answers) -> Iterator[Fault]:
    """Whether what is filled in gives JSON: rows first, since a page of broken rows is broken too."""
    row = answers.rows(1, 1)[0]
    for name, written in (
        ("row", answers.write_row(attrs.evolve(row, date="2026-09-20"))),
        ("undated_row", answers.write_row(attrs.evolve(row, date=None))),
        ("body", answers.write_page(answers.rows(1, 2))),
        ("body", answers.write_page([])),
        ("last_body", answers.write_page([row], is_last=True)),
    ):
        try:
            json.loads(written)
        except ValueError as error:
            yield Fault(f"$.page.{name}", f"it gives no JSON once it is filled: {error}")
            return
