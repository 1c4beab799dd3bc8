"""Keys, queries and snippets: where they may go, and where they never may."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any, Final

from searchport.errors import ErrorCode, SearchError
from searchport.testing.fake_web import FakeAnswer

from .bench import KEY, Asked, Bench, Script
from .promise import Finding, NotApplicable, check
from .traffic import Sent

__all__ = ["key_required", "key_sent", "keyless_sends_no_key", "one_vendor", "secrets_in_errors", "secrets_in_logs"]

_QUERY: Final = "canaryquery91ab harbour"
_SECRETS: Final = {"key": KEY, "query": "canaryquery91ab", "snippet": "Keeper 1 lit the lantern"}


def _holds_key(sent: Sent, key: str) -> list[str]:
    """Where the key stands, plain or in base64 as basic authentication has it."""
    found = sent.places_with(key)
    for place, value in sent.parts:
        try:
            decoded = base64.b64decode(value.rpartition(" ")[2], validate=True)
        except ValueError:
            continue
        found += [place] if key.encode() in decoded else []
    return found


@check("key-sent", "The organization's key reaches the vendor with every request.")
def key_sent(bench: Bench) -> Iterator[Finding]:
    if bench.toolkit.is_keyless:
        raise NotApplicable("the vendor takes no key")
    for number, sent in enumerate(bench.ask(max_results=50).sent, start=1):
        if not _holds_key(sent, KEY):
            yield Finding(f"request {number} of a call holds no key", "send context.credential where the vendor wants it")


@check("key-required", "Without a key nothing is sent, and the call is provider_not_configured.")
def key_required(bench: Bench) -> Iterator[Finding]:
    if bench.toolkit.is_keyless:
        raise NotApplicable("the vendor takes no key")
    asked = bench.ask(credential=None)
    if asked.sent:
        yield Finding(
            f"{len(asked.sent)} requests were sent without a key", "read context.credential, which refuses an absent key"
        )
    if asked.error is None or asked.error.code is not ErrorCode.PROVIDER_NOT_CONFIGURED:
        how = asked.error.code if asked.error is not None else "an answer"
        yield Finding(f"a call without a key ended with {how}", "read context.credential, which refuses an absent key")


@check("keyless-sends-no-key", "A toolkit that declares no key sends none.")
def keyless_sends_no_key(bench: Bench) -> Iterator[Finding]:
    if not bench.toolkit.is_keyless:
        raise NotApplicable("the vendor takes a key")
    for sent in bench.ask().sent:
        for place in _holds_key(sent, KEY):
            yield Finding(f"{place} holds a key", "declare credential_ref=SEARCH_API_KEY, or leave context.credential alone")


@check("one-vendor", "All requests of a call go to one host: nobody else learns the key or the query.")
def one_vendor(bench: Bench) -> Iterator[Finding]:
    origins = {sent.origin for sent in bench.ask(max_results=50).sent}
    if len(origins) > 1:
        yield Finding(f"a call went to {', '.join(sorted(origins))}", "ask the vendor alone")


def _bad_days(bench: Bench) -> Iterator[tuple[str, Script]]:
    """Every kind of failure, each answer repeating what it was sent, as some vendors do."""
    bodies = [case.body for case in bench.answers.scenarios if case.expect != "empty"]
    statuses = [case.status for case in bench.answers.scenarios if case.expect != "empty"]
    told = f"bad request: key {KEY}, q {_QUERY}, {_SECRETS['snippet']}"
    for secret in (KEY, _SECRETS["query"], told):
        for status, body in zip(statuses, bodies, strict=True):
            answer = FakeAnswer(text=_echoing(body, secret), status=status, content_type="application/json")
            yield f"an answer of status {status} that repeats what was sent", bench.always(answer)
        for status in (200, 400, 401, 429, 500):
            answer = FakeAnswer(json={"error": {"code": secret, "message": secret, "detail": [secret]}}, status=status)
            yield f"an error of status {status} that repeats what was sent", bench.always(answer)
        yield "a page of text that repeats what was sent", bench.always(FakeAnswer(text=f"<html>{secret}</html>"))
    yield "half a page", bench.always(bench.answers.answer(bench.write_page(1, 3)[:-40]))
    yield "a reset connection", lambda web: web.drop("*")


def _echoing(body: str, secret: str) -> str:
    """A JSON body with the secret for every text in it; another body with the secret behind it."""

    def echo(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: echo(item) for key, item in value.items()}
        if isinstance(value, list):
            return [echo(item) for item in value]
        return secret if isinstance(value, str) else value

    try:
        return json.dumps(echo(json.loads(body)))
    except ValueError:
        return body + secret


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and all that it carries along."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        found = waiting.pop()
        if found is not None and id(found) not in seen:
            seen.add(id(found))
            yield found
            waiting += [found.__cause__, found.__context__]


def _told(error: BaseException) -> str:
    parts = [str(error), repr(error), repr(error.args)]
    return " ".join([*parts, str(error.vendor_code)] if isinstance(error, SearchError) else parts)


@check("secrets-in-errors", "No key, query or snippet is in an error: its text, its fields, or the exceptions behind it.")
def secrets_in_errors(bench: Bench) -> Iterator[Finding]:
    for what, script in _bad_days(bench):
        asked = bench.ask(_QUERY, script=script)
        told = " ".join(map(_told, _chain(asked.error)))
        for name, secret in _SECRETS.items():
            if secret in told:
                change = "put nothing of the request or the answer into an error but the vendor's own code"
                yield Finding(f"{what}: the {name} is in the error, or in an exception behind it", change)


@check("secrets-in-logs", "No key, query or snippet is logged or printed, whatever happens.")
def secrets_in_logs(bench: Bench) -> Iterator[Finding]:
    calls: list[tuple[str, Asked]] = [("a call that is answered", bench.ask(_QUERY))]
    calls += [(what, bench.ask(_QUERY, script=script)) for what, script in _bad_days(bench)]
    for what, asked in calls:
        for name, secret in _SECRETS.items():
            if secret in asked.written:
                yield Finding(f"{what}: the {name} was logged or printed", "log and print nothing of a call")
