"""Which calls a file holds."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport_platform.migration.calls import LONGEST_LINE, CallFile, read_calls


def read(*lines: str | bytes) -> CallFile:
    return read_calls(io.BytesIO(b"\n".join(line.encode() if isinstance(line, str) else line for line in lines)))


LOGGED = '10.0.0.7 - frank [30/Nov/2026:10:00:00 +0000] "{}" 200 2326 "-" "curl/8"'


@pytest.mark.parametrize(
    "line",
    [
        "https://www.googleapis.com/customsearch/v1?q=red+pandas&cx=abc&key=K",
        "https://customsearch.googleapis.com/customsearch/v1?key=K&cx=abc&q=red%20pandas",
        "https://www.googleapis.com/customsearch/v1/siterestrict?q=red+pandas&cx=abc",
        "http://search.example.com/compat/google/customsearch/v1?q=red+pandas&cx=abc",
        "https://www.googleapis.com/customsearch/v1/?q=red+pandas&cx=abc",
        LOGGED.format("GET /customsearch/v1?q=red+pandas&cx=abc&key=K HTTP/1.1"),
        LOGGED.format("GET https://www.googleapis.com/customsearch/v1?q=red+pandas&cx=abc HTTP/1.1"),
        LOGGED.format("GET /customsearch/v1?q=red+pandas&cx=abc"),
        "\ufeffhttps://www.googleapis.com/customsearch/v1?q=red+pandas&cx=abc\r",
    ],
)
def test_a_call_is_read_from_its_url_or_from_a_line_of_a_log(line: str) -> None:
    (found,) = read(line).calls
    assert (found.line, found.times, dict(found.given)) == (1, 1, {"q": "red pandas", "cx": "abc"})


def test_bytes_that_a_server_wrote_as_hexadecimal_are_read_back() -> None:
    (found,) = read(LOGGED.format(r"GET /customsearch/v1?q=caf\xC3\xA9+\x22x\x22 HTTP/1.1")).calls
    assert found.given["q"] == 'café "x"'


def test_calls_that_differ_in_nothing_that_can_change_the_results_are_one() -> None:
    first, second = read(
        "https://www.googleapis.com/customsearch/v1?q=b&cx=abc",
        "https://www.googleapis.com/customsearch/v1?q=a&cx=abc&key=K1&quotaUser=u1&alt=json",
        "https://www.googleapis.com/customsearch/v1?cx=abc&q=a&key=K2&quotaUser=u2&prettyPrint=false&siteSearchFilter=i",
    ).calls
    assert (first.given["q"], first.times, first.line) == ("a", 2, 2)
    assert (second.given["q"], second.times, second.line) == ("b", 1, 1)


def test_calls_that_differ_in_what_changes_the_results_are_several() -> None:
    base = "https://www.googleapis.com/customsearch/v1?q=a&siteSearch=x.example"
    assert [call.times for call in read(base, f"{base}&siteSearchFilter=e", f"{base}&num=3").calls] == [1, 1, 1]


def test_the_most_frequent_calls_come_first() -> None:
    lines = [f"https://www.googleapis.com/customsearch/v1?q={q}" for q in "abcbcc"]
    assert [(call.given["q"], call.times) for call in read(*lines).calls] == [("c", 3), ("b", 2), ("a", 1)]


def test_blank_lines_and_comments_say_nothing() -> None:
    assert read("# calls of June", "", "   ") == CallFile(calls=(), unread=(), skipped=0, others=0)


@pytest.mark.parametrize("request_line", ["GET /healthz HTTP/1.1", "GET /customsearch/v2?q=a HTTP/1.1", "-", r"\x16\x03\x01"])
def test_other_requests_of_a_log_are_counted_apart(request_line: str) -> None:
    assert read(LOGGED.format(request_line)) == CallFile(calls=(), unread=(), skipped=0, others=1)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("canary red pandas", "neither a URL nor a line of an access log"),
        ("https://[canary/customsearch/v1?q=a", "neither a URL nor a line of an access log"),
        (b"https://www.googleapis.com/customsearch/v1?q=canary\xff", "not UTF-8"),
        ("https://www.googleapis.com/customsearch/v1?q=canary%ff", "one is repeated, or they are not UTF-8"),
        ("https://www.googleapis.com/customsearch/v1?q=canary&q=b", "one is repeated, or they are not UTF-8"),
        ("https://www.googleapis.com/customsearch/v1?cx=canary", "it has no `q`"),
        ("https://www.googleapis.com/customsearch/v1?q=+&cx=canary", "it has no `q`"),
        (LOGGED.format("POST /customsearch/v1 HTTP/1.1"), "does not hold what was sent as a form"),
        ("https://www.googleapis.com/customsearch/v1?q=" + "canary" * LONGEST_LINE, "longer than 32,768 bytes"),
    ],
)
def test_a_line_that_cannot_be_read_is_told_by_its_number_alone(line: str | bytes, why: str) -> None:
    found = read("https://www.googleapis.com/customsearch/v1?q=a", line, "https://www.googleapis.com/customsearch/v1?q=b")
    assert [call.line for call in found.calls] == [1, 3]
    assert (found.skipped, [unread.number for unread in found.unread]) == (1, [2])
    assert why in found.unread[0].why
    assert "canary" not in repr(found)


def test_no_credential_of_a_call_is_kept() -> None:
    found = read("https://user:canary@www.googleapis.com/customsearch/v1?q=a&key=canary&access_token=canary&oauth_token=canary")
    assert dict(found.calls[0].given) == {"q": "a", "access_token": "", "oauth_token": ""}


def test_many_unreadable_lines_are_counted_and_the_first_are_told() -> None:
    found = read(*["x"] * 150)
    assert (found.skipped, len(found.unread)) == (150, 100)


@given(st.lists(st.binary(max_size=60), max_size=20))
def test_any_bytes_are_read_or_counted(lines: list[bytes]) -> None:
    text = b"\n".join(line.replace(b"\n", b"").replace(b"\r", b"") for line in lines)
    found = read_calls(io.BytesIO(text))
    told = [line for line in text.split(b"\n") if line.strip() and not line.startswith(b"#")]
    assert len(told) == found.total + found.skipped + found.others
