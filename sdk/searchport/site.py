"""One host, and all hosts under it: what the `site` option names and which URLs it lets through.

A host is kept as it goes on the wire: lower case, no trailing dot, IDN labels as A-labels (UTS 46, non-transitional
processing, then IDNA 2008: RFC 5891). What a browser might read as another host matches nothing.
"""

from __future__ import annotations

import re

import attrs

from searchport.errors import SearchError, shorten

__all__ = ["Site"]

_PATH = "$.site"
_MAX_PORT = 65_535
_MAX_UNICODE_NAME = 1_000

# RFC 1035, section 2.3.4: 63 octets a label, 253 a name in this notation. The underscore is in no host grammar, but
# in DNS and in results (`my_site.example.com`); so are labels that end in a hyphen, which a site may not have and a
# URL may.
_HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_STRAY_HYPHEN = re.compile(r"(?:^|\.)-|-(?:\.|$)")
# URL Standard, section 3.5, "ends in a number": such a host is an IPv4 address or an error.
_NUMBER_LAST = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
# Only what all URL parsers read alike: two slashes, one `@` at most, neither backslash nor control nor space before
# the path.
_URL = re.compile(
    r"https?://(?:[^\x00-\x20\x7f/?#\\@]*@)?([^\x00-\x20\x7f/?#\\@:%\[\]]+)(?::([0-9]{0,5}))?(?:[/?#]|\Z)",
    re.IGNORECASE | re.ASCII,
)


@attrs.frozen
class Site:
    """host: lower case, in A-label form, no trailing dot. Made by `parse`; `str()` gives the host.

    >>> Site.parse("Example.com.").matches("https://docs.example.com/a")
    True
    """

    host: str

    @classmethod
    def parse(cls, text: str) -> Site:
        """The site that `text` names: one host name in any case, IDN in either form, at most one trailing dot.

        Raises `SearchError` (`validation_error` at `$.site`) for a scheme, port, path, user, wildcard, IP address,
        white space, several hosts, a name that DNS or IDNA does not allow, and a value that is not a str.
        """
        host = _named_host(text)
        if host is None:
            raise SearchError.invalid(_PATH, f"{_seen(text)} {_why(text)}")
        return cls(host)

    def matches(self, url: str) -> bool:
        """True for an http or https URL whose host is this one or, at a label boundary, under it. Never raises."""
        host = _url_host(url)
        return host is not None and (host == self.host or host.endswith(f".{self.host}"))

    def __str__(self) -> str:
        return self.host


def _url_host(url: object) -> str | None:
    """The host of an http or https URL that every parser reads alike, in `Site.host`'s form."""
    match = _URL.match(url) if isinstance(url, str) else None
    if match is None or int(match[2] or 0) > _MAX_PORT:
        return None
    name = match[1]
    return _dns_name(name.lower() if name.isascii() else _a_labels(name))


def _dns_name(host: str) -> str | None:
    """`host` without one trailing dot where it is a name that DNS can hold."""
    host = host.removesuffix(".")
    return host if _HOST.fullmatch(host) else None


def _a_labels(name: str) -> str:
    """`name` with every label in A-label form; "" where IDNA does not allow one of them."""
    import idna  # its tables take 10 ms, which plain ASCII names need not pay

    if len(name) > _MAX_UNICODE_NAME:
        return ""
    try:
        labels = idna.uts46_remap(name, std3_rules=False, transitional=False).split(".")
        return ".".join(idna.alabel(label).decode() if _is_idn(label) else label for label in labels)
    except ValueError:  # idna.IDNAError, or UnicodeError from the punycode codec
        return ""


def _is_idn(label: str) -> bool:
    return not label.isascii() or label.startswith("xn--")


def _named_host(text: object) -> str | None:
    """The host that a caller named, or None where it is none, or an IP address."""
    if not isinstance(text, str):
        return None
    name = text.lower() if text.isascii() else text
    host = _dns_name(_a_labels(name) if not text.isascii() or "xn--" in name else name)
    if host is None or _STRAY_HYPHEN.search(host) or _NUMBER_LAST.fullmatch(host):
        return None
    return host


# What is wrong with a value, the first that fits; then a host that may be meant.
_REASONS = [
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), reason)
    for pattern, reason in (
        (r"\s*", "is empty"),
        (r"[a-z][a-z0-9+.-]*://.*", "is a URL"),
        (r"site:.*", "is a search operator"),
        (r"\[.*|[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*|(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?", "is an IP address"),
        (r".*[,;|].*", "names more than one host"),
        (r".*\s.*", "holds white space"),
        (r".*\*.*", "has a wildcard, and a site takes in every host under it without one"),
        (r".*[/?#\\].*", "has a path"),
        (r".*@.*", "has a user name"),
        (r".*:.*", "has a port"),
        (r".*%.*", "is percent-encoded"),
        (r".*", "is no host name that DNS and IDNA allow"),
    )
]
_MEANT = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*://|site:)?(?:[^\s/?#@]*@)?(?:\*?\.)?([^\s/?#\\:@,;|*]+)", re.IGNORECASE)


_SECRET = re.compile(r"[^/]+@|[?#].*", re.DOTALL)


def _seen(text: object) -> str:
    """The refused value without what a URL can carry of secrets: its user and password, its query."""
    return shorten(_SECRET.sub("…", text[:_MAX_UNICODE_NAME]) if isinstance(text, str) else text)


def _why(text: object) -> str:
    """What is wrong with a value that names no site, and what to write instead."""
    if not isinstance(text, str):
        return "is not a string; write one host, such as 'example.com'"
    shown = text[:_MAX_UNICODE_NAME]
    reason = next(reason for pattern, reason in _REASONS if pattern.fullmatch(shown))
    meant = _MEANT.match(shown)
    host = _named_host(meant[1]) if meant else None
    return f"{reason}; write only {host!r}" if host and "." in host else f"{reason}; write one host, such as 'example.com'"
