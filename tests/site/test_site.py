"""Which text names a site, and which URLs are inside one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport.errors import ErrorCode, SearchError
from searchport.site import Site

CASE_FILE = Path(__file__).parents[1] / "cases" / "hosts.jsonl"
CASES = [json.loads(line) for line in CASE_FILE.read_text("utf-8").splitlines()]

LABELS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True).filter(lambda label: not label.startswith("xn--"))
HOSTS = st.tuples(st.lists(LABELS, max_size=3), st.from_regex(r"[a-z]{2,6}", fullmatch=True)).map(
    lambda parts: ".".join([*parts[0], parts[1]])
)
WORDS = st.from_regex(r"[a-z0-9-]{1,8}", fullmatch=True)


def refusal(text: object) -> str:
    with pytest.raises(SearchError) as caught:
        Site.parse(text)  # type: ignore[arg-type]
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    (fault,) = caught.value.faults
    assert fault.path == "$.site"
    return fault.message


@pytest.mark.parametrize("case", [case for case in CASES if "expected_match" in case], ids=lambda case: case["why"])
def test_labelled_url_is_inside_its_site_or_not(case: dict[str, object]) -> None:
    assert Site.parse(str(case["site"])).matches(str(case["url"])) is case["expected_match"]


@pytest.mark.parametrize("case", [case for case in CASES if "expected_error" in case], ids=lambda case: case["why"])
def test_labelled_site_is_refused(case: dict[str, str]) -> None:
    assert refusal(case["site"])


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.COM.", "example.com"),
        ("Bücher.example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("faß.de", "xn--fa-hia.de"),
        ("نامه\u200cای.com", "xn--mgba3gch31f060k.com"),
        ("my_site.bücher.example.", "my_site.xn--bcher-kva.example"),
        ("1.2.3.4.example", "1.2.3.4.example"),
    ],
)
def test_a_host_is_kept_as_it_goes_on_the_wire(text: str, host: str) -> None:
    assert str(Site.parse(text)) == host


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("https://example.com", "'https://example.com' is a URL; write only 'example.com'"),
        ("example.com:443", "'example.com:443' has a port; write only 'example.com'"),
        ("example.com/docs", "'example.com/docs' has a path; write only 'example.com'"),
        ("site:example.com", "'site:example.com' is a search operator; write only 'example.com'"),
        ("127.0.0.1", "'127.0.0.1' is an IP address; write one host, such as 'example.com'"),
        (" ", "' ' is empty; write one host, such as 'example.com'"),
        (True, "true is not a string; write one host, such as 'example.com'"),
        (None, "null is not a string; write one host, such as 'example.com'"),
        (7, "7 is not a string; write one host, such as 'example.com'"),
        (b"example.com", "bytes is not a string; write one host, such as 'example.com'"),
    ],
)
def test_a_refusal_names_the_value_and_the_next_step(text: object, message: str) -> None:
    assert refusal(text) == message


def test_a_wildcard_is_refused_with_the_host_that_needs_none() -> None:
    assert refusal("*.example.com").endswith("write only 'example.com'")


def test_a_refusal_repeats_no_password_and_no_query() -> None:
    message = refusal("https://user:s3cret@example.com/?token=s3cret#s3cret")
    assert "s3cret" not in message
    assert "example.com" in message


@pytest.mark.parametrize("number", ["0x7f.1", "2130706433", "0177.0.0.1", "127.0.0.1.", "１２７.0.0.1", "::1", "a.0x", "1.2.3.4"])
def test_an_ip_address_in_any_spelling_is_refused(number: str) -> None:
    assert "is an IP address" in refusal(number)


@pytest.mark.parametrize(
    "text", ["a" * 100_000, "é" * 100_000, ":" * 100_000, "a:" * 50_000 + "g", "1." * 50_000 + "g", "\ud800.com"]
)
def test_a_hostile_value_is_refused_like_any_other(text: str) -> None:
    assert len(refusal(text)) < 250


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com\\@evil.net/",
        "https://evil.net\\@example.com/",
        "https://evil.net\\.example.com/",
        "https://a@b@example.com/",
        "https://evil.net:80#@example.com/",
        "https://evil.net?@example.com/",
        "https://evil.net\n.example.com/",
        "https://exam\tple.com/",
        " https://example.com/",
        "https://evil.net／.example.com/",
        "https://evil.net%2f.example.com/",
        "https://exam%70le.com/",
        "https://[example.com]/",
        "https://a..example.com/",
        "https://.example.com/",
        "https://" + "a" * 64 + ".example.com/",
    ],
)
def test_a_url_that_parsers_read_differently_is_outside(url: str) -> None:
    assert not Site("example.com").matches(url)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/",
        "//example.com/",
        "https:example.com",
        "https:/example.com",
        "https:///example.com",
        "example.com",
        "javascript:https://example.com/",
        "https://",
        "https://example.com:99999/",
        "https://example.com:x/",
        "",
    ],
)
def test_only_an_http_url_with_a_host_is_inside(url: str) -> None:
    assert not Site("example.com").matches(url)


@pytest.mark.parametrize("tail", ["", "/", "?q=1", "#x", ":443", ":443/a", ":/", "./", ".:80/"])
def test_what_follows_the_host_does_not_matter(tail: str) -> None:
    assert Site("example.com").matches(f"https://docs.example.com{tail}")


@pytest.mark.parametrize("label", ["r3---sn-4g5e6nsz", "my_site", "-foo", "foo-", "xn--not-a-real-label", "xn--i-7iq"])
def test_a_label_that_dns_takes_and_a_site_may_not_have_is_inside(label: str) -> None:
    assert Site("example.com").matches(f"https://{label}.example.com/")


@pytest.mark.parametrize("url", [None, True, 7, b"https://example.com/", ["https://example.com/"]])
def test_what_is_no_string_is_outside(url: object) -> None:
    assert not Site("example.com").matches(url)  # type: ignore[arg-type]


@given(HOSTS, HOSTS)
def test_a_host_is_inside_exactly_its_own_labels(host: str, other: str) -> None:
    ours, theirs = host.split("."), other.split(".")
    assert Site.parse(host).matches(f"https://{other}/") is (theirs[-len(ours) :] == ours)


@given(HOSTS, WORDS)
def test_no_match_crosses_a_label(host: str, word: str) -> None:
    site = Site.parse(host)
    assert not site.matches(f"https://{word}{host}/")
    assert not site.matches(f"https://{host}{word}/")
    assert not site.matches(f"https://{host}.{word}.invalid/")
    assert not site.matches(f"https://{word}.invalid/{host}/")
    assert not site.matches(f"https://{host}@{word}.invalid/")


@given(st.text(max_size=40) | st.text("abxn-_.1éßü字。\u200d\u00ad", max_size=16))
def test_what_parses_is_a_fixed_point(text: str) -> None:
    try:
        site = Site.parse(text)
    except SearchError:
        return
    assert Site.parse(str(site)) == site
    assert site.matches(f"https://{site}/")


@given(st.text(max_size=60), st.sampled_from(["", "http://", "https://", "https://a@"]))
def test_matching_never_raises(text: str, scheme: str) -> None:
    assert Site("example.com").matches(scheme + text) in (True, False)
