"""Tokens: what a caller bears. One is shown once, when it is made, and kept as a hash."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import zlib
from collections.abc import Collection
from enum import StrEnum

import attrs
from sqlalchemy import RowMapping, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport_platform.storage.schema import tokens
from searchport_platform.tenancy import clock

__all__ = ["Scope", "Token", "find", "issue", "list_of", "mark_used", "revoke"]

PREFIX = "spt_"
_WRITTEN = re.compile(rf"{PREFIX}([0-9a-f]{{16}})([0-9a-f]{{64}})([0-9a-f]{{8}})")


class Scope(StrEnum):
    """What a token allows. agents: naming an agent in each call."""

    SEARCH = "search"
    AGENTS = "agents"
    ADMIN = "admin"
    OPERATOR = "operator"


@attrs.frozen(kw_only=True)
class Token:
    """A token without its secret. organization: None for an operator's. last_used_day: the UTC day, for finding idle ones."""

    id: str
    organization: str | None
    agent: str | None
    name: str
    scopes: frozenset[Scope]
    created_at: clock.Instant
    expires_at: clock.Instant | None
    last_used_day: str | None


def _read_row(row: RowMapping) -> Token:
    return Token(
        id=row["id"],
        organization=row["organization"],
        agent=row["agent"],
        name=row["name"],
        scopes=frozenset(map(Scope, row["scopes"])),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        last_used_day=row["last_used_day"],
    )


def _write(identity: str, secret: str) -> str:
    """Prefix, identity, 256 random bits, and a checksum that tells a token from a cut or mistyped one before any look-up."""
    body = f"{PREFIX}{identity}{secret}"
    return f"{body}{zlib.crc32(body.encode()):08x}"


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


async def issue(
    connection: AsyncConnection,
    organization: str | None,
    *,
    name: str,
    scopes: Collection[Scope],
    agent: str | None = None,
    expires_at: clock.Instant | None = None,
) -> tuple[Token, str]:
    """A new token and its text, which is not kept and cannot be shown again."""
    identity, secret = secrets.token_hex(8), secrets.token_hex(32)
    text = _write(identity, secret)
    token = Token(
        id=identity,
        organization=organization,
        agent=agent,
        name=name,
        scopes=frozenset(scopes),
        created_at=clock.now(),
        expires_at=expires_at,
        last_used_day=None,
    )
    values = attrs.asdict(token) | {"scopes": sorted(token.scopes), "hash": _hash(text)}
    await connection.execute(insert(tokens).values(values))
    return token, text


async def find(connection: AsyncConnection, text: str) -> Token | None:
    """The token with this text, if it is there and has not expired. The hash is compared in constant time."""
    written = _WRITTEN.fullmatch(text)
    if written is None or not hmac.compare_digest(_write(written[1], written[2]), text):
        return None
    row = (await connection.execute(select(tokens).where(tokens.c.id == written[1]))).mappings().first()
    if row is None or not hmac.compare_digest(row["hash"], _hash(text)):
        return None
    token = _read_row(row)
    return None if token.expires_at is not None and token.expires_at <= clock.now() else token


async def mark_used(connection: AsyncConnection, token: Token, day: str) -> None:
    """Remembers the UTC day of a token's last use; once a day, since more would be a write a call."""
    where = (tokens.c.id == token.id, tokens.c.organization.is_not_distinct_from(token.organization))
    await connection.execute(update(tokens).where(*where).values(last_used_day=day))


async def list_of(connection: AsyncConnection, organization: str | None) -> list[Token]:
    """The tokens of an organization, or the operators', by age."""
    query = (
        select(tokens).where(tokens.c.organization.is_not_distinct_from(organization)).order_by(tokens.c.created_at, tokens.c.id)
    )
    return [_read_row(row) for row in (await connection.execute(query)).mappings()]


async def revoke(connection: AsyncConnection, organization: str | None, token: str) -> bool:
    """Deletes a token; False where there is none."""
    where = (tokens.c.organization.is_not_distinct_from(organization), tokens.c.id == token)
    return (await connection.execute(delete(tokens).where(*where))).rowcount > 0
