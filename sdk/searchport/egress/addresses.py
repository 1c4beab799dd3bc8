"""Which IP addresses are on the public internet: our own table.

`ipaddress.is_global` differs between Python releases and calls loopback written as NAT64, IPv4-compatible or
IPv4-translated IPv6 global, besides multicast, site-local and the host-local service address of Azure. So IPv6 is
allowed only inside 2000::/3 minus what is special there, and IPv4 only outside what the IANA special-purpose
registries list (RFC 6890 and its updates), multicast (RFC 5771), the deprecated 6to4 relays (RFC 7526) and one
address that a cloud answers locally.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network

__all__ = ["is_never_allowed", "is_public", "parse_address"]

_Range = tuple[int, int]


def _v4(*networks: str) -> tuple[_Range, ...]:
    parsed = [IPv4Network(text) for text in networks]
    return tuple((int(network[0]), int(network[-1])) for network in parsed)


def _v6(*networks: str) -> tuple[_Range, ...]:
    parsed = [IPv6Network(text) for text in networks]
    return tuple((int(network[0]), int(network[-1])) for network in parsed)


_V4_NOT_PUBLIC = _v4(
    "0.0.0.0/8",  # this network (RFC 791)
    "10.0.0.0/8",  # private use (RFC 1918)
    "100.64.0.0/10",  # carrier NAT (RFC 6598)
    "127.0.0.0/8",  # loopback (RFC 1122)
    "169.254.0.0/16",  # link local (RFC 3927), where clouds keep their metadata
    "172.16.0.0/12",  # private use (RFC 1918)
    "192.0.0.0/24",  # protocol assignments (RFC 6890)
    "192.0.2.0/24",  # documentation (RFC 5737)
    "192.88.99.0/24",  # 6to4 relays, deprecated (RFC 7526)
    "192.168.0.0/16",  # private use (RFC 1918)
    "198.18.0.0/15",  # benchmarking (RFC 2544)
    "198.51.100.0/24",  # documentation (RFC 5737)
    "203.0.113.0/24",  # documentation (RFC 5737)
    "224.0.0.0/3",  # multicast (RFC 5771), reserved (RFC 1112), broadcast
    "168.63.129.16/32",  # Azure's host-local services
)
_V6_PUBLIC = _v6("2000::/3")
_V6_NOT_PUBLIC = _v6(
    "2001::/23",  # protocol assignments: Teredo, ORCHID and others (RFC 2928)
    "2001:db8::/32",  # documentation (RFC 3849)
    "2002::/16",  # 6to4 (RFC 3056), which holds an IPv4 address
    "3fff::/20",  # documentation (RFC 9637)
)

_V4_NEVER = _v4(
    "169.254.0.0/16",  # metadata of most clouds
    "168.63.129.16/32",  # Azure
    "100.100.100.200/32",  # Alibaba
)
_V6_NEVER = _v6(
    "fd00:ec2::/32",  # AWS
    "fd20:ce::254/128",  # Google
    "fd00:c1::a9fe:a9fe/128",  # Oracle
)

# IPv6 prefixes that carry an IPv4 address, and the bits to shift it down by.
_V4_IN_V6: tuple[tuple[_Range, tuple[int, ...]], ...] = (
    (_v6("::/96")[0], (0,)),  # IPv4-compatible (RFC 4291)
    (_v6("::ffff:0:0/96")[0], (0,)),  # IPv4-mapped (RFC 4291)
    (_v6("::ffff:0:0:0/96")[0], (0,)),  # IPv4-translated (RFC 2765)
    (_v6("64:ff9b::/96")[0], (0,)),  # NAT64 (RFC 6052)
    (_v6("64:ff9b:1::/48")[0], (0,)),  # NAT64, local use (RFC 8215)
    (_v6("2002::/16")[0], (80,)),  # 6to4 (RFC 3056)
    (_v6("2001::/32")[0], (64,)),  # Teredo's server (RFC 4380); its client stands inverted in the low bits
)
_TEREDO = _v6("2001::/32")
_NAT64_LOCAL = _v6("64:ff9b:1::/48")
_LOW_32 = 0xFFFF_FFFF


def parse_address(text: object) -> IPv4Address | IPv6Address | None:
    """The address that `text` writes in full, or None: short, octal or hex IPv4 and scoped IPv6 are not read."""
    return _parse(text) if isinstance(text, str) else None


@lru_cache(maxsize=1024)
def _parse(text: str) -> IPv4Address | IPv6Address | None:
    try:
        if ":" not in text:
            return IPv4Address(text)
        return None if "%" in text else IPv6Address(text)
    except AddressValueError:
        return None


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """True for an address of the public internet; IPv6 that carries IPv4 in any of the known ways is not public."""
    number = int(address)
    if isinstance(address, IPv4Address):
        return not _within(number, _V4_NOT_PUBLIC)
    return _within(number, _V6_PUBLIC) and not _within(number, _V6_NOT_PUBLIC)


def is_never_allowed(address: IPv4Address | IPv6Address) -> bool:
    """True for cloud metadata addresses, written as they are or carried in IPv6: no operator setting allows these."""
    number = int(address)
    if isinstance(address, IPv4Address):
        return _within(number, _V4_NEVER)
    return _within(number, _V6_NEVER) or any(_within(carried, _V4_NEVER) for carried in _carried_v4(number))


def _within(number: int, ranges: tuple[_Range, ...]) -> bool:
    return any(low <= number <= high for low, high in ranges)


def _carried_v4(number: int) -> list[int]:
    """Every IPv4 address that an IPv6 address may stand for."""
    carried = [number >> shift & _LOW_32 for (low, high), shifts in _V4_IN_V6 if low <= number <= high for shift in shifts]
    if _within(number, _TEREDO):
        carried.append(~number & _LOW_32)
    if _within(number, _NAT64_LOCAL):
        carried += _carried_by_prefix_length(number)
    return carried


def _carried_by_prefix_length(number: int) -> list[int]:
    """The IPv4 address behind NAT64 prefixes of 48, 56 and 64 bits, whose bits 64 to 71 are skipped (RFC 6052, section 2.2)."""
    high, low = number >> 64, number & (2**64 - 1)
    low_without_u = low & (2**56 - 1)
    joined = (high << 56) | low_without_u  # 120 bits: the address without its bits 64 to 71
    return [joined >> (120 - length - 32) & _LOW_32 for length in (48, 56, 64)]
