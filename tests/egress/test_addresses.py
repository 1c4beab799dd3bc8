"""The table of public addresses."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchport.egress.addresses import is_never_allowed, is_public, parse_address

NOT_PUBLIC_V4 = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
    "224.0.0.0/3", "168.63.129.16/32",
]  # fmt: skip
NOT_PUBLIC_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]
NETWORKS = [ipaddress.ip_network(text) for text in NOT_PUBLIC_V4 + NOT_PUBLIC_V6]


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_both_ends_of_a_special_network_are_not_public(
    network: ipaddress.IPv4Network | ipaddress.IPv6Network,
) -> None:
    assert (is_public(network[0]), is_public(network[-1])) == (False, False)


@pytest.mark.parametrize(
    "text",
    ["1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
     "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0",
     "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
     "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255", "168.63.129.15",
     "168.63.129.17", "8.8.8.8"],
)  # fmt: skip
def test_neighbours_of_special_ipv4_networks_are_public(text: str) -> None:
    assert is_public(ipaddress.IPv4Address(text))


@pytest.mark.parametrize(
    "text",
    ["2000::", "2001:200::", "2001:4860:4860::8888", "2001:db7:ffff::", "2001:db9::", "2003::", "2606:4700::1111",
     "3ffe:ffff::", "3fff:1000::"],
)  # fmt: skip
def test_ipv6_inside_the_global_unicast_range_is_public(text: str) -> None:
    assert is_public(ipaddress.IPv6Address(text))


@pytest.mark.parametrize(
    "text",
    ["fec0::1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "::127.0.0.1", "::ffff:0:127.0.0.1", "3fff::1", "5f00::1",
     "192.88.99.1", "168.63.129.16", "224.0.0.1", "ff02::1", "2002:7f00:1::1", "::ffff:8.8.8.8", "2001:20::1",
     "100.64.0.1", "::", "::1", "4000::", "1fff:ffff::"],
)  # fmt: skip
def test_what_some_python_calls_global_or_not_private_is_not_public(text: str) -> None:
    assert not is_public(ipaddress.ip_address(text))


@given(st.ip_addresses(v=6).filter(lambda address: int(address) >> 125 != 1))
def test_no_ipv6_outside_of_global_unicast_is_public(address: ipaddress.IPv6Address) -> None:
    assert not is_public(address)


@given(st.ip_addresses())
def test_nothing_that_python_calls_private_is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    assert not (is_public(address) and address.is_private)


@pytest.mark.parametrize(
    "text",
    ["169.254.169.254", "169.254.0.1", "168.63.129.16", "100.100.100.200", "fd00:ec2::254", "fd20:ce::254",
     "fd00:c1::a9fe:a9fe", "::ffff:169.254.169.254", "::169.254.169.254", "::ffff:0:169.254.169.254",
     "64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe", "64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:00a9:fe:a9fe::",
     "64:ff9b:1:0:a9:fea9:fe00:0", "2002:a9fe:a9fe::1", "2001:0:a9fe:a9fe::1", "2001:0:808:808:0:0:5601:5601"],
)  # fmt: skip
def test_a_metadata_address_is_never_allowed_however_it_is_carried(text: str) -> None:
    assert is_never_allowed(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", ["127.0.0.1", "10.0.0.1", "::1", "fd00::1", "::ffff:10.0.0.1", "8.8.8.8"])
def test_other_private_addresses_can_be_allowed(text: str) -> None:
    assert not is_never_allowed(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", ["127.1", "2130706433", "0177.0.0.1", "127.000.000.001", "0x7f.0.0.1", "fe80::1%eth0",
                                  "", "localhost", "1.2.3.4 ", "1.2.3.4/8", "[::1]", "１.2.3.4"])  # fmt: skip
def test_an_address_that_is_not_written_in_full_is_not_read(text: str) -> None:
    assert parse_address(text) is None
