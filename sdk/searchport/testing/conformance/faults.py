"""A vendor's bad day: the right code, the provider named, and never an empty answer."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Final

from searchport.errors import ErrorCode
from searchport.testing.fake_web import FakeAnswer

from .answers import EMPTY, Scenario
from .bench import Asked, Bench, Script
from .promise import Finding, NotApplicable, check

__all__ = [
    "answers_mean", "connection_lost", "not_the_vendors_page", "oversized_body", "redirect_refused", "status_rate_limited",
    "status_rejected", "status_unauthorized", "status_unavailable", "time_out", "truncated_body",
]  # fmt: skip

_LET_THROUGH: Final = (
    "catch no SearchError of context.http, and map a status in `refusals` only where the vendor means another thing"
)
_READ_REFUSAL: Final = "find the vendor's code with read_refusal, and say in `refusals` what it means"
_HTML: Final = "<!doctype html><html><head><title>One moment</title></head><body><h1>Are you human?</h1></body></html>"
_FIVE_MIB: Final = 5 * 1024 * 1024


def _find_faults(bench: Bench, asked: Asked, codes: set[ErrorCode], what: str, change: str = _LET_THROUGH) -> Iterator[Finding]:
    """What is wrong with a call that must end with one of these codes."""
    expected = " or ".join(sorted(codes))
    if asked.error is None:
        rows = "nothing" if asked.response is None else f"{len(asked.response.results)} results"
        yield Finding(f"{what} gave {rows} and no error; {expected} was due", change)
        return
    if asked.error.code not in codes:
        yield Finding(f"{what} ended with {asked.error.code}, not {expected}", change)
    if asked.error.provider != bench.toolkit.id:
        yield Finding(f"{what} named provider {asked.error.provider!r}", "leave `provider` to the SDK")
    if asked.defects:
        yield Finding(f"{what} made the toolkit raise {asked.defects[0]}", "let SearchError through, and raise nothing else")


def _status(bench: Bench, status: int, headers: dict[str, str] | None = None) -> Asked:
    answer = FakeAnswer(text="{}", status=status, headers=headers or {}, content_type="application/json")
    return bench.ask(script=bench.always(answer))


def _codes(bench: Bench, status: int, usual: ErrorCode) -> set[ErrorCode]:
    """The codes that a status may have: the usual one, or the one that the toolkit's own table names for it."""
    meaning = bench.declared.refusals.find(status, None)
    if meaning is None:
        return {usual}
    return {meaning if isinstance(meaning, ErrorCode) else meaning.code}


def _find_status_faults(bench: Bench, statuses: tuple[int, ...], usual: ErrorCode) -> Iterator[Finding]:
    for status in statuses:
        yield from _find_faults(bench, _status(bench, status), _codes(bench, status, usual), f"status {status}")


@check("status-unauthorized", "A refused key is provider_unauthorized.")
def status_unauthorized(bench: Bench) -> Iterator[Finding]:
    yield from _find_faults(bench, _status(bench, 401), {ErrorCode.PROVIDER_UNAUTHORIZED}, "status 401")
    yield from _find_status_faults(bench, (403,), ErrorCode.PROVIDER_UNAUTHORIZED)


@check("status-rate-limited", "Status 429 is provider_rate_limited, and says how long to wait where the vendor does.")
def status_rate_limited(bench: Bench) -> Iterator[Finding]:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    for headers, least, most in (({}, None, None), ({"Retry-After": "37"}, 37, 37), ({"Retry-After": later}, 60, 91)):
        what = f"status 429 with {headers or 'no Retry-After'}"
        asked = _status(bench, 429, dict(headers))
        yield from _find_faults(bench, asked, {ErrorCode.PROVIDER_RATE_LIMITED}, what)
        wait = asked.error.retry_after if asked.error is not None else None
        if least is not None and most is not None and (wait is None or not least <= wait <= most):
            yield Finding(f"{what} carried retry_after={wait}", "let the SDK read Retry-After")


@check("status-rejected", "Any other status from 400 to 499 is a refused request, or what the toolkit's table says of it.")
def status_rejected(bench: Bench) -> Iterator[Finding]:
    yield from _find_status_faults(bench, (400, 404, 410, 418, 422), ErrorCode.PROVIDER_REJECTED)


@check(
    "status-unavailable", "A status from 500 to 599 is provider_unavailable, or a rate limit where the toolkit's table says so."
)
def status_unavailable(bench: Bench) -> Iterator[Finding]:
    for status in (500, 502, 503, 504):
        allowed = {ErrorCode.PROVIDER_UNAVAILABLE, ErrorCode.PROVIDER_RATE_LIMITED}
        codes = allowed & _codes(bench, status, ErrorCode.PROVIDER_UNAVAILABLE) or {ErrorCode.PROVIDER_UNAVAILABLE}
        yield from _find_faults(bench, _status(bench, status), codes, f"status {status}")


@check("redirect-refused", "A redirect is not followed: the key would go to another host.")
def redirect_refused(bench: Bench) -> Iterator[Finding]:
    for status in (301, 302, 307):
        asked = _status(bench, status, {"Location": "https://elsewhere.example/find"})
        yield from _find_faults(bench, asked, _codes(bench, status, ErrorCode.PROVIDER_REJECTED), f"status {status}")
        if len(asked.sent) != 1:
            yield Finding(f"status {status} was followed by {len(asked.sent) - 1} more requests", "send nothing after a redirect")


def _find_wire_faults(bench: Bench, script: Script, code: ErrorCode, what: str, seconds: float = 10.0) -> Iterator[Finding]:
    yield from _find_faults(bench, bench.ask(script=script, seconds=seconds), {code}, what)


@check("time-out", "A vendor that never answers is upstream_timeout at the deadline.")
def time_out(bench: Bench) -> Iterator[Finding]:
    what = "a vendor that takes the request and is silent"
    yield from _find_wire_faults(bench, lambda web: web.stall("*"), ErrorCode.UPSTREAM_TIMEOUT, what, seconds=0.15)


@check("connection-lost", "A connection that is reset is upstream_unreachable, and the request is not sent again.")
def connection_lost(bench: Bench) -> Iterator[Finding]:
    asked = bench.ask(script=lambda web: web.drop("*"))
    yield from _find_faults(bench, asked, {ErrorCode.UPSTREAM_UNREACHABLE}, "a reset connection")
    if len(asked.sent) > 1:
        yield Finding(f"{len(asked.sent)} requests were sent over reset connections", "retry nothing: that is the platform's")


@check("truncated-body", "An answer that is cut short is an error and never the part that came.")
def truncated_body(bench: Bench) -> Iterator[Finding]:
    body = bench.write_page(1, 3).encode()
    what = "an answer whose connection ended half-way"
    cut = body[: len(body) // 2]
    yield from _find_wire_faults(bench, lambda web: web.cut("*", body=cut), ErrorCode.UPSTREAM_UNREACHABLE, what)
    if bench.answers.format_ == "json":
        half = bench.always(bench.answers.answer(cut.decode("utf-8", "ignore")))
        yield from _find_wire_faults(bench, half, ErrorCode.PROVIDER_UNAVAILABLE, "half of a JSON text")


@check("not-the-vendors-page", "A page of someone else's at status 200, such as a bot wall, is provider_unavailable.")
def not_the_vendors_page(bench: Bench) -> Iterator[Finding]:
    for text, what in ((_HTML, "a bot wall"), ("", "an empty body"), ("Service down", "a plain sentence")):
        answer = FakeAnswer(text=text, content_type="text/html")
        yield from _find_wire_faults(bench, bench.always(answer), ErrorCode.PROVIDER_UNAVAILABLE, f"{what} at status 200")


@check("oversized-body", "An answer of more than 4 MiB, packed or not, is provider_unavailable.")
def oversized_body(bench: Bench) -> Iterator[Finding]:
    body = bench.write_page(1, 3).encode() + b" " * _FIVE_MIB
    for payload, headers in ((body, {}), (gzip.compress(body, 1), {"Content-Encoding": "gzip"})):
        script = bench.always(FakeAnswer(body=payload, headers=headers, content_type="application/json"))
        yield from _find_wire_faults(bench, script, ErrorCode.PROVIDER_UNAVAILABLE, f"5 MiB {'packed' if headers else 'in full'}")


@check("answers", "Every other answer that the vendor is known to give means what the answers file says.")
def answers_mean(bench: Bench) -> Iterator[Finding]:
    if not bench.answers.scenarios:
        raise NotApplicable("the answers file has no [[answers]]")
    for case in bench.answers.scenarios:
        asked = bench.ask(script=bench.always(bench.answers.answer_of(case)))
        yield from _find_empty_faults(asked, case) if case.expect == EMPTY else _find_case_faults(bench, asked, case)


def _find_empty_faults(asked: Asked, case: Scenario) -> Iterator[Finding]:
    if asked.error is not None:
        yield Finding(
            f"{case.scenario!r} ended with {asked.error.code}; an empty answer was due", "tell no results from no answer"
        )
    elif asked.results():
        yield Finding(f"{case.scenario!r} gave {len(asked.results())} results", "return an empty list")


def _find_case_faults(bench: Bench, asked: Asked, case: Scenario) -> Iterator[Finding]:
    yield from _find_faults(bench, asked, {ErrorCode(case.expect)}, repr(case.scenario), _READ_REFUSAL)
    if asked.error is None:
        return
    if case.retry_after is not None and asked.error.retry_after != case.retry_after:
        change = "read it with read_wait_seconds, or raise a SearchError with retry_after"
        yield Finding(f"{case.scenario!r} carried retry_after={asked.error.retry_after}, not {case.retry_after}", change)
    if case.vendor_code is not None and asked.error.vendor_code != case.vendor_code:
        change = "return the vendor's own code from read_refusal"
        yield Finding(f"{case.scenario!r} carried vendor_code={asked.error.vendor_code!r}, not {case.vendor_code!r}", change)
