"""The platform's token in the spellings of other vendors' clients.

Whichever spelling it comes in, the organization is the token's. What else in a request names an organization may only equal it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator

from aiohttp import web

from searchport.errors import ErrorCode, SearchError
from searchport_platform.doors.http_api import AGENT_HEADER
from searchport_platform.platform import Caller, Platform

__all__ = ["NO_TOKEN", "authenticate", "check_organization"]

NO_TOKEN = "there was none at all"  # noqa: S105  # words, not a token
"""The reason of an error where there was no token at all: some vendors answer that in another way than a wrong one."""

_KEY_HEADERS = ("X-API-Key", "X-Subscription-Token")


async def authenticate(platform: Platform, request: web.Request, *, key: str | None = None) -> Caller:
    """Who calls. key: what came as a parameter, on a wire that has one. Raises SearchError.

    Read are `Authorization: Bearer TOKEN`, `Authorization: Basic` with the token as the password (RFC 7617; the user may be
    anything, since clients need one), `X-API-Key` and `X-Subscription-Token`.
    """
    given = {token.strip() for token in _spellings(request)} | ({key} if key is not None else set())
    given.discard("")
    if not given:
        raise SearchError(ErrorCode.UNAUTHORIZED, reason=NO_TOKEN)
    if len(given) > 1:
        raise SearchError(ErrorCode.UNAUTHORIZED, reason="there were several different ones")
    return await platform.authenticate(given.pop(), agent=request.headers.get(AGENT_HEADER))


def _spellings(request: web.Request) -> Iterator[str]:
    for value in request.headers.getall("Authorization", []):
        scheme, _, rest = value.strip().partition(" ")
        if scheme.lower() == "bearer":
            yield rest
        elif scheme.lower() == "basic":
            yield _read_password(rest.strip())
    for name in _KEY_HEADERS:
        yield from request.headers.getall(name, [])


def _read_password(credentials: str) -> str:
    """The password of Basic credentials; empty where they are malformed.

    The user may be in any encoding, since clients differ and none tells (RFC 7617, section 2.1); a token is ASCII in all of them.
    """
    try:
        decoded = base64.b64decode(credentials, validate=True)
    except ValueError:
        return ""
    return decoded.partition(b":")[2].decode("latin-1")


def check_organization(caller: Caller, named: str | None, where: str) -> None:
    """Raises SearchError (`forbidden`) where a request names another organization than its token's."""
    if named and named != caller.organization:
        reason = f"{where} names no organization of this token; leave it out, or write {caller.organization!r}"
        raise SearchError(ErrorCode.FORBIDDEN, reason=reason, gate="organization")
