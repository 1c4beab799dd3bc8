"""What a URL's text alone tells, and what an address tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from yarl import URL

from searchport.egress import AddressPolicy
from searchport.egress.policy import _authority_fault
from searchport.errors import ErrorCode, SearchError, shorten

if TYPE_CHECKING:
    import ipaddress

CASES = [json.loads(line) for line in (Path(__file__).parents[1] / "cases/egress.jsonl").read_text("utf-8").splitlines()]
POLICY = AddressPolicy()
OPEN = AddressPolicy(allow_private_addresses=True)
METADATA = ["169.254.169.254", "168.63.129.16", "[fd00:ec2::254]", "[::ffff:a9fe:a9fe]", "100.100.100.200"]


def is_refused(policy: AddressPolicy, url: str, *, any_port: bool = False) -> bool:
    try:
        policy.check_url(url, any_port=any_port)
    except SearchError as error:
        return error.code is ErrorCode.UPSTREAM_UNREACHABLE
    return False


@pytest.mark.parametrize("url", [case["url"] for case in CASES if case["expected"] == "allow"], ids=ascii)
def test_a_url_that_may_be_reached_passes_by_its_text(url: str) -> None:
    POLICY.check_url(url)


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("https://example.com/" + "a" * 8200, "a URL longer than 8 KiB"),
        ("https://example.com/" + "ü" * 4100, "a URL longer than 8 KiB"),
        ("https://example.com/\x00", "a URL with control characters"),
        ("https://example.com/\ud800", "a URL with control characters"),
        ("ftp://example.com/", "a URL that is not http or https"),
        ("https://user:KEY@example.com/", "a URL with credentials"),
        ("http:/example.com", "a URL with no host"),
        ("http://a..b/", "a host name that is not valid"),
        ("http://a..example.com:22/", "a host name that is not valid"),
        ("http://example.com:70000/", "a port that is not a number from 1 to 65535"),
        ("http://example.com:８０/", "a port that is not a number from 1 to 65535"),
        ("http://example.com:+80/", "a port that is not a number from 1 to 65535"),
        ("http://localhost:22/", "a port other than 80, 443, 8080 and 8443"),
        ("http://localhost/", "a local host name"),
        ("http://127.0.0.1/", "an address that is not on the public internet"),
        ("http://0x7f.1/", "a number as host that is not a canonical IPv4 address"),
        ("http://169.254.169.254/", "a cloud metadata address"),
    ],
)
def test_the_error_names_the_first_rule_that_is_broken(url: str, rule: str) -> None:
    with pytest.raises(SearchError) as caught:
        POLICY.check_url(url)
    assert caught.value.reason == f"the address policy refuses {rule}"


@pytest.mark.parametrize("value", [None, 1, b"https://example.com/", ["https://example.com/"], URL("https://a.example/")])
def test_what_is_not_text_is_a_malformed_url(value: object) -> None:
    fault = POLICY.url_fault(value)
    assert fault is not None
    assert fault.is_malformed


@pytest.mark.parametrize(
    "url",
    ["http://localhost/", "http://10.0.0.1/", "http://[::1]/", "http://2130706433/", "http://example.com:22/",
     "http://169.254.169.254/", "http://printer.local/"],
)  # fmt: skip
def test_a_whole_url_of_a_refused_address_is_not_called_malformed(url: str) -> None:
    fault = POLICY.url_fault(url)
    assert fault is not None
    assert not fault.is_malformed


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST", "searxng", "a.localhost", "printer.local", "x.localdomain", "x.internal", "x.intranet",
     "x.lan", "x.home", "x.home.arpa", "x.corp", "x.private", "x.test", "x.invalid", "x.svc.cluster.local",
     "metadata.google.internal", "metadata", "instance-data"],
)  # fmt: skip
def test_a_local_name_is_refused_with_and_without_a_root_dot(host: str) -> None:
    assert is_refused(POLICY, f"http://{host}/")
    assert is_refused(POLICY, f"http://{host}./")


@pytest.mark.parametrize("host", ["notlocal.example", "localhost.example.com", "internal.example", "lan.example.com"])
def test_a_name_that_only_resembles_a_local_one_passes(host: str) -> None:
    assert not is_refused(POLICY, f"http://{host}/")


@pytest.mark.parametrize("port", [1, 22, 8081, 65535])
def test_any_port_lifts_the_port_list_and_nothing_else(port: int) -> None:
    assert is_refused(POLICY, f"http://example.com:{port}/")
    assert not is_refused(POLICY, f"http://example.com:{port}/", any_port=True)
    assert is_refused(POLICY, f"http://127.0.0.1:{port}/", any_port=True)


def test_any_port_still_refuses_port_0() -> None:
    assert is_refused(POLICY, "http://example.com:0/", any_port=True)


def test_space_and_backslash_are_refused_in_the_authority_only() -> None:
    assert not is_refused(POLICY, "https://example.com/a b\\c?d=e f")
    assert is_refused(POLICY, "https://exam ple.com/")


@pytest.mark.parametrize("authority", ["a\\b", "a b", "a\u3000b", "a%2eb", "a<b", "a|b", "[fe80::1%25eth0]",
                                       "[2606:4700::1]a.example", "a.example[2606:4700::1]", "[v1.x]", "[]", "[::1",
                                       "::1]", "[[::1]]", "[::1][::1]"])  # fmt: skip
def test_what_parsers_read_differently_is_refused_before_any_parser_sees_it(authority: str) -> None:
    assert _authority_fault(authority) is not None


# Allow entries.


def test_an_entry_with_a_port_exempts_that_port_alone() -> None:
    policy = AddressPolicy(allowed_hosts=["127.0.0.1:9001"])
    assert not is_refused(policy, "http://127.0.0.1:9001/")
    assert is_refused(policy, "http://127.0.0.1:9002/")
    assert is_refused(policy, "http://127.0.0.1/")
    assert is_refused(policy, "http://127.0.0.2:9001/")


def test_an_entry_without_a_port_exempts_the_host_at_any_port() -> None:
    policy = AddressPolicy(allowed_hosts=["searxng"])
    assert not is_refused(policy, "http://searxng:9001/")
    assert not is_refused(policy, "https://SEARXNG./")
    assert is_refused(policy, "http://other/")
    assert is_refused(policy, "http://a.searxng.lan/")


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("[::1]:80", "http://[::1]/"),
        ("[::1]", "http://[0:0::1]:9999/"),
        ("[0:0::1]:81", "http://[::1]:81/"),
        ("Search.Internal:443", "https://search.internal/"),
        ("search.internal.", "https://search.internal/"),
        ("bücher.lan", "https://xn--bcher-kva.lan/"),
    ],
)
def test_an_entry_means_its_host_however_it_is_spelled(entry: str, url: str) -> None:
    assert not is_refused(AddressPolicy(allowed_hosts=[entry]), url)


@pytest.mark.parametrize(
    "url",
    ["ftp://intranet/", "http://user@intranet/", "http://intranet\\x/", "http://intranet/\n", "http://intranet:0/"],
)
def test_an_entry_exempts_from_no_rule_of_syntax(url: str) -> None:
    assert is_refused(AddressPolicy(allowed_hosts=["intranet"]), url)


@pytest.mark.parametrize("host", METADATA)
def test_neither_entry_nor_setting_covers_a_metadata_address(host: str) -> None:
    policy = AddressPolicy(allowed_hosts=[host, f"{host}:80"], allow_private_addresses=True)
    assert is_refused(policy, f"http://{host}/")
    with pytest.raises(SearchError):
        policy.check_address(host, host.strip("[]"), 80)


@pytest.mark.parametrize(
    "entry",
    ["", ":80", "host:", "host:0", "host:99999", "host:http", "http://host", "host/path", "*", "*.example.com", "a b",
     "user@host", "::1", "[::1", "[::1]x", "127.1", "0x7f000001", "ho%73t", "host?", "a..b", "10.0.0.0/8", 5, None],
)  # fmt: skip
def test_an_entry_that_is_not_host_or_host_and_port_is_refused_by_name(entry: object) -> None:
    with pytest.raises(ValueError, match="allowed_hosts entry") as caught:
        AddressPolicy(allowed_hosts=[entry])  # type: ignore[list-item]
    assert shorten(entry) in str(caught.value)


def test_a_text_in_place_of_the_list_of_entries_is_refused() -> None:
    with pytest.raises(ValueError, match="not one text"):
        AddressPolicy(allowed_hosts="localhost")


# Addresses.


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "::ffff:10.0.0.5", "fe80::2%2", "64:ff9b::a00:5", "127.1", ""])
def test_an_address_that_is_not_public_is_refused_whatever_the_name(address: str) -> None:
    with pytest.raises(SearchError) as caught:
        POLICY.check_address("www.example.com", address)
    assert caught.value.code is ErrorCode.UPSTREAM_UNREACHABLE
    assert not address or address not in str(caught.value)


def test_an_address_of_an_allowed_name_passes_at_its_port() -> None:
    policy = AddressPolicy(allowed_hosts=["intranet.example.com:8080"])
    policy.check_address("intranet.example.com", "10.1.2.3", 8080)
    policy.check_address("INTRANET.example.com.", "10.1.2.3")
    with pytest.raises(SearchError):
        policy.check_address("intranet.example.com", "10.1.2.3", 80)
    with pytest.raises(SearchError):
        policy.check_address("other.example.com", "10.1.2.3", 8080)


def test_private_addresses_pass_where_they_are_allowed() -> None:
    OPEN.check_address("printer.local", "192.168.1.4")
    OPEN.check_url("http://printer.local/")
    OPEN.check_url("http://[::1]/")


# Properties.

PRIVATE_V4 = st.one_of(
    *(st.ip_addresses(network=network) for network in ("10.0.0.0/8", "127.0.0.0/8", "192.168.0.0/16", "169.254.0.0/16"))
)
DIGITS = str.maketrans("0123456789.", "０１２３４５６７８９。")


def spellings(address: ipaddress.IPv4Address) -> list[str]:
    number, parts = int(address), str(address).split(".")
    low = number & 0xFFFFFF
    hexadecimal = f"{number >> 16:x}:{number & 0xFFFF:x}"
    return [
        str(address), f"{address}.", str(number), hex(number), f"0{number:o}", f"{parts[0]}.{low}",
        ".".join(f"0{int(part):o}" for part in parts), ".".join(hex(int(part)) for part in parts),
        ".".join(part.zfill(3) for part in parts), str(address).translate(DIGITS), f"%3{parts[0][0]}{str(address)[1:]}",
        f"[::ffff:{address}]", f"[::{address}]", f"[::ffff:0:{address}]", f"[64:ff9b::{address}]",
        f"[2002:{hexadecimal}::1]", f"user@{address}", f"www.example.com@{address}", f"www.example.com\\@{address}",
    ]  # fmt: skip


@given(PRIVATE_V4)
def test_no_spelling_of_a_private_ipv4_address_passes(address: ipaddress.IPv4Address) -> None:
    assert [host for host in spellings(address) if not is_refused(POLICY, f"http://{host}/")] == []


@given(st.ip_addresses(v=6).filter(lambda address: not address.is_global))
def test_no_spelling_of_a_private_ipv6_address_passes(address: ipaddress.IPv6Address) -> None:
    hosts = [address.compressed, address.exploded, address.exploded.upper()]
    assert [host for host in hosts if not is_refused(POLICY, f"http://[{host}]/")] == []


URL_PIECES = st.sampled_from(
    ["http", "https", ":", "/", "//", "://", "@", "#", "?", "[", "]", "::1", "127.0.0.1", "www.example.com",
     "localhost", ".", "%", "\\", " ", "\t", "\x00", "0x7f", "80", "65536", "。", "ü", "\u200b", "xn--", "ß", "\ud800", "-", "_"]
)  # fmt: skip
ANY_URL = st.one_of(st.text(), st.lists(URL_PIECES, max_size=12).map("".join), st.text().map("http://{}".format))


@given(ANY_URL, st.booleans())
@example("http://[::1", False)
@example("http://xn--/", False)
@example("http://\u0345.com/", True)
def test_checking_any_text_raises_nothing_but_search_errors(url: str, any_port: bool) -> None:
    is_refused(POLICY, url, any_port=any_port)
    is_refused(OPEN, url, any_port=any_port)


@given(ANY_URL)
def test_the_host_that_was_checked_is_the_host_that_is_sent(url: str) -> None:
    if POLICY.url_fault(url, any_port=True) is not None:
        return
    beginning = (
        url.split("://", 1)[0]
        + "://"
        + url.split("://", 1)[1].split("/", maxsplit=1)[0].split("?", maxsplit=1)[0].split("#", maxsplit=1)[0]
    )
    assert (URL(beginning).raw_host, URL(beginning).port) == (URL(url).raw_host, URL(url).port)
