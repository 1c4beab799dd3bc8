"""Which URLs may be asked, and which addresses may be connected to."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import attrs

from searchport.errors import ErrorCode, SearchError, shorten

from .addresses import is_never_allowed, is_public, parse_address

if TYPE_CHECKING:
    from collections.abc import Iterable


__all__ = ["AddressPolicy", "UrlFault"]

_MAX_URL_BYTES: Final = 8 * 1024
_MAX_HOST_LENGTH: Final = 253
_MAX_PORT: Final = 65_535
_PORTS: Final = frozenset({80, 443, 8080, 8443})

_UNSENDABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_HTTP = re.compile(r"https?:", re.IGNORECASE | re.ASCII)
_BEGINNING = re.compile(r"(https?)://([^/?#]*)", re.IGNORECASE | re.ASCII)
_AMBIGUOUS = re.compile(r"[\s\\%<>\"^`{|}]")
_BRACKETED = re.compile(r"\[[0-9A-Fa-f:.]+\](?::.*)?", re.ASCII)  # yarl 1.20 to 1.23 take `[::1]example.com` for `[::1]`
_PORT_NUMBER = re.compile(r"[0-9]{1,5}", re.ASCII)
_NAME = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)

_LOCAL_NAMES = frozenset({"localhost", "metadata.google.internal", "metadata", "instance-data"})
_LOCAL_SUFFIXES = (
    ".localhost", ".local", ".localdomain", ".internal", ".intranet", ".lan", ".home", ".home.arpa",
    ".corp", ".private", ".test", ".invalid", ".svc.cluster.local",
)  # fmt: skip


@attrs.frozen
class UrlFault:
    """Why a URL may not be used.

    rule: the rule it breaks, as a clause that ends "the address policy refuses ..."; nothing of the URL is in it.
    is_malformed: True where the text is no usable http(s) URL (no text, another scheme, no host, credentials,
        characters, too long); False where it is one, but of an address that is refused (local name, address table,
        port).
    """

    rule: str
    is_malformed: bool = True


_NOT_TEXT = UrlFault("a URL that is not text")
_TOO_LONG = UrlFault("a URL longer than 8 KiB")
_CHARACTERS = UrlFault("a URL with control characters")
_SCHEME = UrlFault("a URL that is not http or https")
_NO_HOST = UrlFault("a URL with no host")
_CREDENTIALS = UrlFault("a URL with credentials")
_HOST = UrlFault("a host name that is not valid")
_PORT_SYNTAX = UrlFault("a port that is not a number from 1 to 65535")
_NUMERIC_HOST = UrlFault("a number as host that is not a canonical IPv4 address", is_malformed=False)
_PORT = UrlFault("a port other than 80, 443, 8080 and 8443", is_malformed=False)
_LOCAL_NAME = UrlFault("a local host name", is_malformed=False)
_ADDRESS = UrlFault("an address that is not on the public internet", is_malformed=False)
_NEVER = UrlFault("a cloud metadata address", is_malformed=False)


def _entries(entries: Iterable[str]) -> tuple[str, ...]:
    if isinstance(entries, str):
        raise ValueError(f"allowed_hosts is a list of entries, not one text; write [{shorten(entries)}]")  # noqa: TRY004
    return tuple(entries)


@attrs.frozen
class AddressPolicy:
    """What the process may reach; by default the public internet on ports 80, 443, 8080 and 8443.

    allowed_hosts: `host` (at any port) or `host:port`, IPv6 as `[::1]:80`; each exempts exactly that from the local
        names, the address table and the port list, and from nothing else. A bad entry raises ValueError naming it.
    allow_private_addresses: also private, loopback and other non-public addresses, and local names.

    Neither ever covers a cloud's metadata address. This is the first layer: a network rule on egress should be the
    second.
    """

    allowed_hosts: tuple[str, ...] = attrs.field(default=(), converter=_entries)
    allow_private_addresses: bool = False
    _allowed: frozenset[tuple[str, int | None]] = attrs.field(init=False, repr=False, eq=False)

    @_allowed.default
    def _parse_allowed(self) -> frozenset[tuple[str, int | None]]:
        return frozenset(_parse_entry(entry) for entry in self.allowed_hosts)

    def check_url(self, url: str, *, any_port: bool = False) -> None:
        """Refuses a URL by its text alone, with no look-up: raises SearchError (`upstream_unreachable`) naming the rule.

        any_port: True for URLs that are shown, not dialled: no port list.
        """
        fault = self.url_fault(url, any_port=any_port)
        if fault is not None:
            raise _refusal(fault)

    def check_address(self, host: str, address: str, port: int | None = None) -> None:
        """Refuses to connect to `address` for `host`: raises SearchError (`upstream_unreachable`) naming the rule alone.

        host: the name that resolved to the address, or the address itself.
        address: as a resolver gives it; what does not parse is refused.
        port: None where it is not known: then an entry of any port allows its host.
        """
        fault = self._address_fault(_bare(host), address, port)
        if fault is not None:
            raise _refusal(fault)

    def url_fault(self, url: object, *, any_port: bool = False) -> UrlFault | None:
        """The first rule that a URL breaks, None for none; never raises, whatever it is given.

        Order: length, characters, scheme, credentials, host syntax, port list, local names, literal address.
        """
        if not isinstance(url, str):
            return _NOT_TEXT
        beginning = _BEGINNING.match(url)
        fault = _text_fault(url, beginning)
        if fault is not None or beginning is None:
            return fault
        target = _read_target(beginning[0])
        return target if isinstance(target, UrlFault) else self._reach_fault(*target, any_port)

    def _reach_fault(self, host: str, port: int, any_port: bool) -> UrlFault | None:
        is_allowed = self._allows(host, port)
        if not any_port and port not in _PORTS and not is_allowed:
            return _PORT
        if _is_literal(host):
            return self._address_fault(host, host, port)
        return None if is_allowed or self.allow_private_addresses or not _is_local(host) else _LOCAL_NAME

    def _address_fault(self, host: str, address: str, port: int | None) -> UrlFault | None:
        parsed = parse_address(address)
        if parsed is None:
            return _ADDRESS
        if is_never_allowed(parsed):
            return _NEVER
        is_fine = is_public(parsed) or self.allow_private_addresses or self._allows(host, port)
        return None if is_fine else _ADDRESS

    def _allows(self, host: str, port: int | None) -> bool:
        if not self._allowed:
            return False
        if port is None:
            return any(host == allowed for allowed, _ in self._allowed)
        return (host, None) in self._allowed or (host, port) in self._allowed


def _text_fault(url: str, beginning: re.Match[str] | None) -> UrlFault | None:
    """What the raw text shows before any parser has seen it; parsers differ on exactly these.

    beginning: the text up to the path, scheme and authority its groups; None where there is none.
    """
    if len(url) > _MAX_URL_BYTES or (not url.isascii() and len(url.encode("utf-8", "replace")) > _MAX_URL_BYTES):
        return _TOO_LONG
    if not (url.isascii() and url.isprintable()) and _UNSENDABLE.search(url):
        return _CHARACTERS
    if beginning is None:
        return _NO_HOST if _HTTP.match(url) else _SCHEME
    return _authority_fault(beginning[2])


def _authority_fault(authority: str) -> UrlFault | None:
    if "@" in authority:
        return _CREDENTIALS
    if not authority or authority[0] == ":":
        return _NO_HOST
    if _AMBIGUOUS.search(authority) or (("[" in authority or "]" in authority) and not _BRACKETED.fullmatch(authority)):
        return _HOST
    port = authority.rpartition("]")[2].partition(":")[2]
    return None if not port or (_PORT_NUMBER.fullmatch(port) and 0 < int(port) <= _MAX_PORT) else _PORT_SYNTAX


@lru_cache(maxsize=4096)
def _read_target(beginning: str) -> tuple[str, int] | UrlFault:
    """(host, port) that `scheme://authority` will be sent to: read by yarl, and only by yarl, as the client does."""
    from yarl import URL

    try:
        parsed = URL(beginning)
    except ValueError:
        return _HOST
    host = parsed.raw_host or ""
    return _host_fault(host) or (host.removesuffix("."), parsed.port or 0)


def _host_fault(host: str) -> UrlFault | None:
    """What is wrong with the host that would be sent (lower case, A-labels, IPv6 without its brackets)."""
    bare = host.removesuffix(".")
    if _is_literal(bare):
        return None if parse_address(host) is not None else _HOST if ":" in host else _NUMERIC_HOST
    return None if _NAME.fullmatch(bare) and len(bare) <= _MAX_HOST_LENGTH else _HOST


def _is_literal(host: str) -> bool:
    """True for a host that some client takes for an address: IPv6, or a number at its end as the WHATWG has it."""
    end = host[host.rfind(".") + 1 :]
    return ":" in host or (end[:1].isdigit() and _NUMBER.fullmatch(end) is not None)


def _is_local(host: str) -> bool:
    return "." not in host or host in _LOCAL_NAMES or host.endswith(_LOCAL_SUFFIXES)


def _bare(host: str) -> str:
    """A host as the entries are kept: lower case, no root dot, an address in its shortest form."""
    bare = host.strip("[]").removesuffix(".").lower()
    address = parse_address(bare)
    return bare if address is None else address.compressed


def _refusal(fault: UrlFault) -> SearchError:
    return SearchError(ErrorCode.UPSTREAM_UNREACHABLE, reason=f"the address policy refuses {fault.rule}")


def _parse_entry(entry: object) -> tuple[str, int | None]:
    """`host` or `host:port` as (host, port or None); ValueError naming the entry for anything else."""
    text = entry if isinstance(entry, str) else ""
    url = f"http://{text}"
    beginning = _BEGINNING.fullmatch(url)
    is_sound = beginning is not None and not text.endswith(":") and _text_fault(url, beginning) is None
    target = _read_target(url) if is_sound else _HOST
    if isinstance(target, UrlFault):
        raise ValueError(  # noqa: TRY004 - a fault of the value
            f"allowed_hosts entry {shorten(entry)} is not `host` or `host:port` (IPv6 as `[::1]:80`)"
        )
    host, port = target
    return host, port if ":" in text.rpartition("]")[2] else None
