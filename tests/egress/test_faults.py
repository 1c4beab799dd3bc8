"""From outside to the catalogue, completely."""

from __future__ import annotations

import email.utils
import errno
import math
import socket
import ssl
import time
from http import HTTPStatus
from typing import TYPE_CHECKING

import aiohttp
import aiohttp.client_exceptions
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from searchport.egress import JsonBody, Refusals
from searchport.egress.connections import RefusedAddressError
from searchport.egress.faults import fault_of, refusal_of, retry_after_seconds, status_code_of
from searchport.errors import ErrorCode, SearchError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CANARY = "CANARY"
REQUEST = aiohttp.RequestInfo(
    URL(f"https://api.acme.example/?key={CANARY}"), "GET", CIMultiDictProxy(CIMultiDict({"X-API-KEY": CANARY}))
)
KEY = aiohttp.client_reqrep.ConnectionKey(CANARY, 443, True, True, None, None, None)
UNREACHABLE, UNAVAILABLE = ErrorCode.UPSTREAM_UNREACHABLE, ErrorCode.PROVIDER_UNAVAILABLE
TIMEOUT, REJECTED, LIMITED = ErrorCode.UPSTREAM_TIMEOUT, ErrorCode.PROVIDER_REJECTED, ErrorCode.PROVIDER_RATE_LIMITED

EXPECTED = {
    "ClientError": UNREACHABLE,
    "ClientConnectionError": UNREACHABLE,
    "ClientConnectionResetError": UNREACHABLE,
    "ClientOSError": UNREACHABLE,
    "ClientConnectorError": UNREACHABLE,
    "ClientProxyConnectionError": UNREACHABLE,
    "ClientSSLError": UNREACHABLE,
    "ClientConnectorDNSError": UNREACHABLE,
    "ClientConnectorSSLError": UNREACHABLE,
    "ClientConnectorCertificateError": UNREACHABLE,
    "UnixClientConnectorError": UNREACHABLE,
    "ServerConnectionError": UNREACHABLE,
    "ServerDisconnectedError": UNREACHABLE,
    "ServerFingerprintMismatch": UNREACHABLE,
    "ServerTimeoutError": TIMEOUT,
    "ConnectionTimeoutError": TIMEOUT,
    "SocketTimeoutError": TIMEOUT,
    "ClientPayloadError": UNREACHABLE,
    "UploadAbortedError": UNREACHABLE,
    "InvalidURL": UNREACHABLE,
    "InvalidUrlClientError": UNREACHABLE,
    "NonHttpUrlClientError": UNREACHABLE,
    "RedirectClientError": REJECTED,
    "InvalidUrlRedirectClientError": REJECTED,
    "NonHttpUrlRedirectClientError": REJECTED,
    "TooManyRedirects": REJECTED,
    "ClientResponseError": UNAVAILABLE,
    "ContentTypeError": UNAVAILABLE,
    "WSServerHandshakeError": UNAVAILABLE,
    "ClientHttpProxyError": UNREACHABLE,
    "NotRepeatedError": UNREACHABLE,
}
OTHERS = [
    (TimeoutError(CANARY), TIMEOUT),
    (TimeoutError(CANARY), TIMEOUT),
    (OSError(CANARY), UNREACHABLE),
    (socket.gaierror(-2, CANARY), UNREACHABLE),
    (ConnectionResetError(CANARY), UNREACHABLE),
    (ssl.SSLError(1, CANARY), UNREACHABLE),
    (ssl.SSLCertVerificationError(1, CANARY), UNREACHABLE),
    (RefusedAddressError("the address policy refuses x"), UNREACHABLE),
    (ValueError(CANARY), ErrorCode.INTERNAL_ERROR),
    (RuntimeError(CANARY), ErrorCode.INTERNAL_ERROR),
]


def subclasses(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    yield kind
    for child in kind.__subclasses__():
        yield from subclasses(child)


def raised(kind: type[BaseException]) -> BaseException:
    """One of a kind, its fields full of what must not come out."""
    if issubclass(kind, aiohttp.client_exceptions.UnixClientConnectorError):
        return kind(CANARY, KEY, OSError(errno.ECONNREFUSED, CANARY))
    if issubclass(kind, aiohttp.ClientConnectorError):
        return kind(KEY, OSError(errno.ECONNREFUSED, CANARY))
    if issubclass(kind, aiohttp.ClientResponseError):
        return kind(REQUEST, (), status=400, message=CANARY)
    if issubclass(kind, aiohttp.ServerFingerprintMismatch):
        return kind(b"CANARY", b"CANARY", CANARY, 443)
    return kind(CANARY)


ALL = sorted(set(subclasses(aiohttp.ClientError)), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_exception_of_aiohttp_has_its_code(kind: type[BaseException]) -> None:
    fault = fault_of(raised(kind))
    assert fault.code is EXPECTED[kind.__name__]
    assert CANARY not in f"{fault} {fault!r}"


@pytest.mark.parametrize(("error", "code"), OTHERS, ids=lambda value: type(value).__name__)
def test_other_exceptions_have_their_code(error: BaseException, code: ErrorCode) -> None:
    fault = fault_of(error)
    assert fault.code is code
    assert CANARY not in f"{fault} {fault!r}"


@pytest.mark.parametrize("kind", [aiohttp.ClientConnectorDNSError, aiohttp.ClientConnectorError])
def test_a_refused_address_is_named_by_its_rule(kind: type[aiohttp.ClientConnectorError]) -> None:
    assert fault_of(kind(KEY, RefusedAddressError("the address policy refuses x"))).reason == "the address policy refuses x"


def test_a_connection_that_the_system_gave_up_is_unreachable() -> None:
    assert fault_of(aiohttp.ClientConnectorError(KEY, TimeoutError(errno.ETIMEDOUT, "x"))).code is UNREACHABLE


# Statuses.

STATUSES = {401: ErrorCode.PROVIDER_UNAUTHORIZED, 403: ErrorCode.PROVIDER_UNAUTHORIZED, 402: LIMITED, 429: LIMITED,
            408: UNAVAILABLE}  # fmt: skip


@pytest.mark.parametrize("status", range(300, 600))
def test_every_error_status_has_its_code(status: int) -> None:
    default = UNAVAILABLE if status >= 500 else REJECTED
    assert status_code_of(status) is STATUSES.get(status, default)


@pytest.mark.parametrize("status", [status.value for status in HTTPStatus if 200 <= status < 300])
def test_every_success_status_is_an_answer(status: int) -> None:
    assert refusal_of(status, JsonBody({}), {}, Refusals()) is None


@pytest.mark.parametrize("status", [999, 600, 0])
def test_a_status_outside_of_http_is_no_usable_answer(status: int) -> None:
    fault = refusal_of(status, None, {}, Refusals())
    assert fault is not None
    assert fault.code is UNAVAILABLE


# A vendor's own table.

TABLE = Refusals(
    table={
        "Q1": SearchError(LIMITED, reason="the plan is used up"),
        (403, "Q1"): REJECTED,
        400: ErrorCode.PROVIDER_UNAUTHORIZED,
        202: UNAVAILABLE,
    },
    read=lambda body: body.text("code"),
)


@pytest.mark.parametrize(
    ("status", "vendor_code", "code"),
    [
        (403, "Q1", REJECTED),
        (500, "Q1", LIMITED),
        (200, "Q1", LIMITED),
        (400, "Q9", ErrorCode.PROVIDER_UNAUTHORIZED),
        (400, None, ErrorCode.PROVIDER_UNAUTHORIZED),
        (202, None, UNAVAILABLE),
        (404, "Q9", REJECTED),
        (503, "Q9", UNAVAILABLE),
        (200, "Q9", REJECTED),
        (200, None, None),
        (200, "", None),
    ],
)
def test_the_most_exact_entry_of_a_vendors_table_counts(status: int, vendor_code: str | None, code: ErrorCode | None) -> None:
    fault = refusal_of(status, JsonBody({"code": vendor_code}), {}, TABLE)
    assert (fault and fault.code) is code
    assert fault is None or fault.vendor_code == (vendor_code or None)


@pytest.mark.parametrize("status", [200, 400, 404, 422, 500])
def test_a_code_for_nothing_found_is_no_refusal_whatever_the_status(status: int) -> None:
    refusals = Refusals(read=lambda body: body.text("code"), nothing_found={"NO_RESULT"})
    assert refusal_of(status, JsonBody({"code": "NO_RESULT"}), {}, refusals) is None


@pytest.mark.parametrize("body", [JsonBody({"code": "NO_RESULTS"}), JsonBody({}), None])
def test_another_code_or_none_is_no_word_of_nothing_found(body: JsonBody | None) -> None:
    fault = refusal_of(400, body, {}, Refusals(read=lambda body: body.text("code"), nothing_found={"NO_RESULT"}))
    assert fault is not None
    assert fault.code is REJECTED


def test_a_vendors_table_can_give_the_reason() -> None:
    fault = refusal_of(429, JsonBody({"code": "Q1"}), {}, TABLE)
    assert fault is not None
    assert fault.reason == "the plan is used up"


def test_a_reader_can_say_itself_what_an_answer_means() -> None:
    meaning = SearchError(REJECTED, reason="closed", vendor_code="forbidden")
    fault = refusal_of(403, JsonBody({}), {}, Refusals(read=lambda _: meaning))
    assert fault is not None
    assert fault is not meaning
    assert (fault.code, fault.reason, fault.vendor_code) == (REJECTED, "closed", "forbidden")


def test_a_payment_that_is_asked_for_says_what_is_spent() -> None:
    fault = refusal_of(402, None, {}, Refusals())
    assert fault is not None
    assert (fault.code, fault.reason) == (LIMITED, "HTTP status 402: its credit or quota is spent")


def test_without_a_reason_of_the_table_the_status_is_the_reason() -> None:
    fault = refusal_of(422, None, {}, TABLE)
    assert fault is not None
    assert fault.reason == "HTTP status 422"


def fail(_: JsonBody) -> str | None:
    raise KeyError(CANARY)


ODD = [fail, lambda body: body.rows("text") and None, lambda _: ["Q1"], lambda _: True, lambda _: 1.5, lambda _: b"Q1"]


@pytest.mark.parametrize("read", ODD)
def test_a_reader_that_fails_is_passed_over_on_an_error_status(read: object) -> None:
    fault = refusal_of(429, JsonBody({"text": "x"}), {}, Refusals(read=read))  # type: ignore[arg-type]
    assert fault is not None
    assert (fault.code, fault.vendor_code) == (LIMITED, None)


@pytest.mark.parametrize("read", ODD)
def test_a_reader_that_fails_on_a_success_status_means_no_usable_answer(read: object) -> None:
    fault = refusal_of(200, JsonBody({"text": "x"}), {}, Refusals(read=read))  # type: ignore[arg-type]
    assert fault is not None
    assert (fault.code, fault.reason) == (UNAVAILABLE, "an answer of the wrong shape")


def test_a_vendors_code_can_be_a_number() -> None:
    fault = refusal_of(200, JsonBody({"code": 7}), {}, Refusals({"7": LIMITED}, read=lambda b: b.number("code")))  # type: ignore[arg-type, return-value]
    assert fault is not None
    assert (fault.code, fault.vendor_code) == (LIMITED, "7")


def test_a_reader_is_not_asked_where_there_is_no_json() -> None:
    fault = refusal_of(500, None, {}, Refusals(read=fail))
    assert fault is not None
    assert fault.code is UNAVAILABLE


# Retry-After.


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0), ("120", 120.0), (" 7 ", 7.0), ("86400", 86400.0), ("2678401", 2678400.0), ("9" * 5000, 2678400.0),
        ("-5", None), ("1.5", None), ("", None), (None, None), ("soon", None), ("٣", None), ("1e3", None), ("+5", None),
        ("12:30", None), ("Mon, 99 Foo 2026 99:99:99 GMT", None),
    ],
)  # fmt: skip
def test_seconds_to_wait_are_read_strictly_and_bounded(text: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(text) == seconds


@pytest.fixture(params=["UTC", "America/New_York"])
def local_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("local_zone")
@pytest.mark.parametrize("form", ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"])
def test_each_form_of_an_http_date_is_read(form: str) -> None:
    text = time.strftime(form, time.gmtime(time.time() + 600))
    assert retry_after_seconds(text) == pytest.approx(600, abs=2)


def test_a_date_that_is_past_means_at_once_and_a_far_one_a_month() -> None:
    assert retry_after_seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert retry_after_seconds(email.utils.formatdate(time.time() + 10**7, usegmt=True)) == 2678400.0


@given(st.text())
def test_any_text_is_seconds_or_nothing(text: str) -> None:
    seconds = retry_after_seconds(text)
    assert seconds is None or 0 <= seconds <= 2678400


@pytest.mark.parametrize(("status", "seconds"), [(429, 7.0), (503, 7.0), (500, 7.0), (401, None), (404, None), (302, None)])
def test_waiting_is_told_only_where_waiting_helps(status: int, seconds: float | None) -> None:
    fault = refusal_of(status, None, {"Retry-After": "7"}, Refusals())
    assert fault is not None
    assert fault.retry_after == seconds


def wait(headers: dict[str, str], read: object, status: int = 429) -> float | None:
    fault = refusal_of(status, None, headers, Refusals(read_wait_seconds=read))  # type: ignore[arg-type]
    assert fault is not None
    return fault.retry_after


def test_a_vendors_own_headers_can_say_how_long_to_wait() -> None:
    def reset(headers: Mapping[str, str]) -> float | None:
        return float(headers["X-Reset"])

    assert wait({"X-Reset": "30"}, reset) == 30.0
    assert wait({"X-Reset": "0"}, reset) == 0.0
    assert wait({"X-Reset": "30", "Retry-After": "7"}, reset) == 7.0
    assert wait({"X-Reset": "30"}, reset, status=401) is None


@pytest.mark.parametrize(
    ("read", "seconds"),
    [(fail, None), (lambda _: None, None), (lambda _: "soon", None), (lambda _: [], None), (lambda _: math.nan, None),
     (lambda _: math.inf, 2678400.0), (lambda _: -5, 0.0)],
)  # fmt: skip
def test_a_wait_that_cannot_be_read_is_not_said(read: object, seconds: float | None) -> None:
    assert wait({}, read) == seconds


@pytest.mark.parametrize(("headers", "seconds"), [({}, 600), ({"Retry-After": "5"}, 5)])
def test_the_wait_of_a_vendors_table_holds_where_its_headers_state_none(headers: dict[str, str], seconds: float) -> None:
    table = Refusals({403: SearchError(UNAVAILABLE, reason="a challenge", retry_after=600)})
    fault = refusal_of(403, None, headers, table)
    assert fault is not None
    assert (fault.code, fault.reason, fault.retry_after) == (UNAVAILABLE, "a challenge", seconds)
