"""One process, many organizations: what a call knows came with it, and nothing stays behind."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

import attrs

from searchport.errors import ErrorCode
from searchport.testing.fake_web import FakeAnswer
from searchport.toolkit import OPERATOR_ONLY

from .bench import Asked, Bench
from .options import given_options
from .promise import Finding, NotApplicable, check
from .traffic import changed_places

__all__ = ["models", "no_clock", "no_environment", "no_state", "operator_settings", "same_request_twice"]

_CANARY: Final = "canary-environment-0d44"
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "NETRC", "SEARCH_API_KEY", "API_KEY")


@check("same-request-twice", "The same call at the same instant sends and gives the same: nothing is drawn at random.")
def same_request_twice(bench: Bench) -> Iterator[Finding]:
    options = given_options(bench)
    first, second = (bench.ask(max_results=50, **options) for _ in range(2))
    if first.results() != second.results():
        yield Finding("the same answers gave different results", "read the answer alone, and draw nothing")
    for one, other in zip(first.sent, second.sent, strict=False):
        if one != other:
            places = ", ".join(sorted(changed_places(one, other)))
            yield Finding(f"{places} differed in two calls that were the same", "take time from context.now, and draw nothing")
            return


@check("no-clock", "Time comes from context.now alone.")
def no_clock(bench: Bench) -> Iterator[Finding]:
    today = datetime.now(UTC)
    for options in ({}, given_options(bench)):
        for sent in bench.ask(**options).sent:
            for moment in (today, today - timedelta(days=1), today - timedelta(days=7)):
                for text in (moment.strftime("%Y-%m-%d"), moment.strftime("%Y%m%d"), moment.strftime("%m/%d/%Y")):
                    for place in sent.places_with(text):
                        yield Finding(f"{place} counts from this machine's clock, not from context.now", "use context.now")


@check("no-state", "Nothing of one call is in the next: no key, no query, no cookie, no cursor.")
def no_state(bench: Bench) -> Iterator[Finding]:
    first = bench.ask("first query", credential="first-key-77aa")
    page = bench.answers.answer(bench.write_page(1, 1))
    headers = {**page.headers, "Set-Cookie": "session=first-cookie-77bb; Path=/"}
    cookie = FakeAnswer(text=page.text, headers=headers, status=page.status, content_type=page.content_type)
    bench.ask("first query", credential="first-key-77aa", script=bench.always(cookie), max_results=50)
    second = bench.ask("second words", credential="second-key-88cc", max_results=50)
    for sent in second.sent:
        for trace in ("first-key-77aa", "first query", "first-cookie-77bb"):
            for place in sent.places_with(trace):
                yield Finding(f"{place} holds {trace!r} of an earlier call", "keep nothing outside of the function")
    again = bench.ask("first query", credential="first-key-77aa")
    for one, other in zip(first.sent, again.sent, strict=False):
        for place in sorted(changed_places(one, other)):
            yield Finding(f"{place} depends on the calls before", "keep nothing outside of the function")


class _WatchedEnvironment(dict[str, str]):
    """The environment, noting what the toolkit's own module reads of it."""

    def __init__(self, values: Mapping[str, str], module: str) -> None:
        super().__init__(values)
        self.read: set[str] = set()
        self._module = module

    def _note(self, name: object) -> None:
        frame = sys._getframe(2)
        for _ in range(4):
            if frame.f_code.co_filename == self._module:
                self.read.add(str(name))
            if frame.f_back is None:
                return
            frame = frame.f_back

    def __getitem__(self, name: str) -> str:
        self._note(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._note(name)
        return super().__contains__(name)

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]  # os.environ's own, narrower
        self._note(name)
        return super().get(name, default)


@contextmanager
def _environment(names: tuple[str, ...], module: str) -> Iterator[_WatchedEnvironment]:
    """The environment with a canary under these names."""
    real = os.environ
    before = {name: real.get(name) for name in names}
    real.update(dict.fromkeys(names, _CANARY))
    watched = _WatchedEnvironment(real, module)
    os.environ = watched  # type: ignore[assignment]  # noqa: B003  # watched for the length of a call
    try:
        yield watched
    finally:
        os.environ = real  # noqa: B003  # the object itself, not its values
        for name, value in before.items():
            real.pop(name) if value is None else real.update({name: value})


@check("no-environment", "No environment variable is read: no key, no address and no proxy comes from there.")
def no_environment(bench: Bench) -> Iterator[Finding]:
    own = bench.toolkit.id.upper().replace("-", "_")
    names = (*_PROXIES, f"{own}_API_KEY", f"{own}_KEY", f"{own}_BASE_URL", f"{own}_URL", f"{own}_TOKEN")
    code = getattr(inspect.unwrap(bench.toolkit.web_search.function), "__code__", None)
    module = "" if code is None else code.co_filename
    with _environment(names, module) as watched:
        asked = bench.ask()
    for sent in asked.sent:
        for place in sent.places_with(_CANARY):
            yield Finding(f"{place} holds an environment variable", "take it from context.settings or context.credential")
    for name in sorted(watched.read):
        yield Finding(f"the environment variable {name} is read", "take it from context.settings or context.credential")
    if not asked.sent:
        yield Finding("with proxies in the environment the vendor was not reached", "ask through context.http alone")


@check("models", "Models are named, each by an id of its own, and the chosen one reaches the vendor.")
def models(bench: Bench) -> Iterator[Finding]:
    if bench.declared.fetch_models is None:
        raise NotApplicable("the vendor has no models")
    answer = bench.answers.models
    script = bench.full_pages(0) if answer is None else bench.always(bench.answers.answer_of(answer))
    found, asked = bench.list_models(script)
    if asked.sent and answer is None:
        yield Finding("fetch_models asks the vendor, and the answers file has no answer for it", "add [models] with a body")
    ids = [model.id for model in found]
    if not ids:
        yield Finding(f"fetch_models gave none ({asked.error or 'an empty list'})", "return at least one SearchModel")
    if len(set(ids)) < len(ids) or not all(ids):
        yield Finding("two models have one id, or one has none", "give each SearchModel an id of its own")
    yield from _find_unsent_models(bench, ids)


def _find_unsent_models(bench: Bench, ids: list[str]) -> Iterator[Finding]:
    requests = {model: bench.ask(model=model).first() for model in ids[:3]}
    if len(requests) == 1:
        requests["(none)"] = bench.ask().first()
    if len(set(requests.values())) < len(requests):
        yield Finding(f"{' and '.join(requests)} send the same", "send context.model")


@check("operator-settings", "What only an operator may set is honoured where stored and refused in a call's provider options.")
def operator_settings(bench: Bench) -> Iterator[Finding]:
    names = _operator_only_names(bench)
    if not names:
        raise NotApplicable("no setting is for operators only")
    for name in sorted(names):
        asked = bench.ask(provider_options={name: "https://attacker.example"})
        if asked.sent or not _is_invalid(asked):
            yield Finding(f"provider option {name!r} was taken", "declare the field with operator_only()")
    for name, value in bench.answers.settings.items():
        if name in names and isinstance(value, str) and value.startswith("http"):
            yield from _find_unmoved(bench, name)


def _operator_only_names(bench: Bench) -> set[str]:
    cls = bench.toolkit.settings
    return set() if cls is None else {field.name for field in attrs.fields(cls) if field.metadata.get(OPERATOR_ONLY)}


def _find_unmoved(bench: Bench, name: str) -> Iterator[Finding]:
    moved = bench.ask(settings={**bench.answers.settings, name: "https://moved.example"})
    elsewhere = sorted({sent.origin for sent in moved.sent} - {"https://moved.example"})
    if elsewhere or not moved.sent:
        where = ", ".join(elsewhere) or "nowhere"
        yield Finding(f"{name}='https://moved.example' was stored and the call went {where}", f"ask context.settings.{name}")


def _is_invalid(asked: Asked) -> bool:
    return asked.error is not None and asked.error.code is ErrorCode.VALIDATION_ERROR
