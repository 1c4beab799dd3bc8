"""The catalogue of errors and the words made from it."""

import copy

import attrs
import pytest

import searchport.errors as catalogue
from searchport import ErrorCode, Fault, SearchError


def test_the_documented_table_is_the_catalogue() -> None:
    rows = [row.strip("| ").split(" | ") for row in (catalogue.__doc__ or "").splitlines() if row.startswith("| `")]
    documented = {
        code.strip("`"): (int(status), actor, retry == "yes")
        for codes, status, actor, retry in rows
        for code in codes.split(", ")
    }
    assert documented == {str(c): (c.status, str(c.actor), c.is_retryable) for c in ErrorCode}


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_error_says_what_happened_where_and_what_to_do_next(code: ErrorCode) -> None:
    text = str(SearchError(code, provider="acme"))
    assert text.startswith(code.meaning)
    assert "provider 'acme'" in text
    assert text.endswith(code.next_step)
    assert "\n" not in text


def test_an_error_names_the_providers_that_could_answer() -> None:
    error = SearchError(
        ErrorCode.UNSUPPORTED_OPTION,
        faults=[Fault("$.safe", "option 'safe' is not supported by provider 'acme'")],
        provider="acme",
        alternatives=["brave", "google-cse"],
    )
    assert str(error) == (
        "$.safe: option 'safe' is not supported by provider 'acme' (provider 'acme'); "
        "remove the option, or choose one of: brave, google-cse"
    )


def test_an_error_says_when_to_try_again() -> None:
    assert "try again in 30 s" in str(SearchError(ErrorCode.PROVIDER_RATE_LIMITED, retry_after=30))


@pytest.mark.parametrize(
    "code", ["the query was: red pandas", "https://vendor.example/?key=1", "x" * 65, "", " A", "<html>", "A\nB"]
)
def test_a_vendors_words_are_no_vendor_code(code: str) -> None:
    assert SearchError(ErrorCode.PROVIDER_REJECTED, vendor_code=code).vendor_code is None


@pytest.mark.parametrize("code", ["SUBSCRIPTION_TOKEN_INVALID", "42206", "rateLimitExceeded", "Q1"])
def test_a_vendors_code_is_kept(code: str) -> None:
    assert SearchError(ErrorCode.PROVIDER_REJECTED, vendor_code=code).vendor_code == code


def test_an_error_can_be_changed_into_another_and_copied() -> None:
    error = SearchError(ErrorCode.UPSTREAM_TIMEOUT)
    assert attrs.evolve(error, provider="acme").provider == "acme"
    assert copy.copy(error).code is error.code


def test_a_value_that_is_shown_is_cut() -> None:
    assert len(catalogue.shorten("x" * 1_000)) <= 90
    assert catalogue.shorten({"key": "secret"}) == "dict"
