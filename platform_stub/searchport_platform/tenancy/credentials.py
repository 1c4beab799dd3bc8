"""Credentials: the keys of an organization's vendors, sealed; written and used, never read back."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

import attrs
from sqlalchemy import Executable, RowMapping, Select, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.errors import ErrorCode, SearchError
from searchport.toolkit import SEARCH_API_KEY
from searchport_platform.storage.asked import Asked, matches
from searchport_platform.storage.schema import credentials
from searchport_platform.tenancy import clock
from searchport_platform.tenancy.sealing import Keyring, Sealed, SealingError

__all__ = ["LONGEST_KEY", "Credential", "Place", "list_of", "read_sealed", "remove", "reseal_some", "store", "unseal"]

Place = tuple[str, str]
"""An organization, and a provider."""

LONGEST_KEY = 4_096
_ASKED = Asked({"organization": str, "provider": str})
_SHOWN = 4
_SHORTEST_SHOWN = 12
"""A shorter secret shows nothing of itself: four characters would be too much of it."""


@attrs.frozen(kw_only=True)
class Credential:
    """What may be told of a stored key. last_four: its end, empty for a short one. generation: grows with every new value."""

    provider: str
    last_four: str
    stored_at: clock.Instant
    generation: int


def _place(organization: str, provider: str) -> tuple[str, str, str]:
    return organization, provider, SEARCH_API_KEY


def _of(organization: str, *columns: str) -> Select[tuple[object, ...]]:
    chosen = [credentials.c[name] for name in columns]
    return select(*chosen).where(credentials.c.organization == organization, credentials.c.name == SEARCH_API_KEY)


def _read_row(row: RowMapping) -> Credential:
    return Credential(
        provider=row["provider"], last_four=row["last_four"], stored_at=row["stored_at"], generation=row["generation"]
    )


async def store(connection: AsyncConnection, organization: str, provider: str, secret: object, keyring: Keyring) -> Credential:
    """Stores a key, over one that is there. Raises SearchError (`validation_error`), which never shows the value."""
    if not isinstance(secret, str) or not secret.strip() or len(secret) > LONGEST_KEY or not secret.isprintable():
        raise SearchError.invalid("$.value", f"expected the key: printable text, not blank, at most {LONGEST_KEY:,} characters")
    secret = secret.strip()
    existing = (await list_of(connection, organization, provider=provider)) or None
    sealed = keyring.seal(secret, _place(organization, provider))
    values = {
        "key_id": sealed.key_id,
        "nonce": sealed.nonce,
        "sealed": sealed.data,
        "last_four": secret[-_SHOWN:] if len(secret) >= _SHORTEST_SHOWN else "",
        "generation": existing[0].generation + 1 if existing else 1,
        "stored_at": clock.now(),
    }
    key = {"organization": organization, "provider": provider, "name": SEARCH_API_KEY}
    if existing:
        await connection.execute(
            update(credentials).where(*(credentials.c[name] == part for name, part in key.items())).values(values)
        )
    else:
        await connection.execute(insert(credentials).values(key | values))
    return (await list_of(connection, organization, provider=provider))[0]


async def list_of(connection: AsyncConnection, organization: str, *, provider: str | None = None) -> list[Credential]:
    """What may be told of an organization's keys, or of the one of a provider, if it is there."""
    query = _of(organization, "provider", "last_four", "stored_at", "generation").order_by(credentials.c.provider)
    if provider is not None:
        query = query.where(credentials.c.provider == provider)
    return [_read_row(row) for row in (await connection.execute(query)).mappings()]


async def read_sealed(connection: AsyncConnection, wanted: Collection[Place]) -> dict[Place, Sealed]:
    """The sealed keys of these, as far as they are stored; `unseal` opens one where it is used."""
    dialect = connection.dialect.name
    result = await connection.execute(_sealed(dialect), _ASKED.values(dialect, sorted(wanted)))
    return {(organization, provider): Sealed(*sealed) for organization, provider, *sealed in result}


@cache
def _sealed(dialect: str) -> Executable:
    rows = _ASKED.table(dialect)
    columns = [credentials.c[name] for name in ("organization", "provider", "key_id", "nonce", "sealed", "generation")]
    query = select(*columns).join_from(rows, credentials, matches(credentials, rows, ("organization", "provider")))
    return query.where(credentials.c.name == SEARCH_API_KEY)


def unseal(sealed: Sealed | None, organization: str, provider: str, keyring: Keyring) -> str | None:
    """The key; None where none is stored. Raises SearchError (`provider_not_configured`) where it does not open."""
    try:
        return None if sealed is None else keyring.open(sealed, _place(organization, provider))
    except SealingError as error:
        raise SearchError(ErrorCode.PROVIDER_NOT_CONFIGURED, reason=str(error), provider=provider) from None


async def remove(connection: AsyncConnection, organization: str, provider: str) -> bool:
    """Deletes a key; False where there is none."""
    where = (
        credentials.c.organization == organization,
        credentials.c.provider == provider,
        credentials.c.name == SEARCH_API_KEY,
    )
    return (await connection.execute(delete(credentials).where(*where))).rowcount > 0


async def reseal_some(connection: AsyncConnection, keyring: Keyring, *, most: int = 100) -> int:
    """Seals up to `most` keys of any organization anew that another key than the first sealed; gives how many are left.

    One of the listed exceptions: rotation walks over all tenants. A row that changed in the meantime keeps its new value, so
    that a rotation can run beside everything else, be broken off and be begun again.
    """
    stale = credentials.c.key_id != keyring.key_id
    columns = credentials.c.organization, credentials.c.provider, credentials.c.key_id, credentials.c.nonce, credentials.c.sealed
    rows = (await connection.execute(select(*columns).where(stale).order_by(*columns[:2]).limit(most))).mappings().all()
    for row in rows:
        place = _place(row["organization"], row["provider"])
        sealed = keyring.seal(keyring.open(Sealed(row["key_id"], row["nonce"], row["sealed"]), place), place)
        where = (
            credentials.c.organization == row["organization"],
            credentials.c.provider == row["provider"],
            credentials.c.name == SEARCH_API_KEY,
            credentials.c.nonce == row["nonce"],
        )
        values = {"key_id": sealed.key_id, "nonce": sealed.nonce, "sealed": sealed.data}
        await connection.execute(update(credentials).where(*where).values(values))
    return int((await connection.execute(select(func.count()).select_from(credentials).where(stale))).scalar_one())
