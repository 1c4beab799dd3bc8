"""Organizations: the tenants. An operator makes them, bounds them and deletes them with everything that is theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from sqlalchemy import RowMapping, delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from searchport.egress import AddressPolicy
from searchport.errors import SearchError, shorten
from searchport_platform.storage.schema import METADATA, TENANT_TABLES, organizations
from searchport_platform.tenancy import clock
from searchport_platform.tenancy.names import check_hosts, parse_name, parse_words

__all__ = [
    "CONCURRENCY",
    "HIGHEST_BUDGET_MICROUSD",
    "HIGHEST_CONCURRENCY",
    "HIGHEST_RATE",
    "Organization",
    "bound",
    "create",
    "delete_with_all_data",
    "find",
    "limit",
    "list_all",
]

CONCURRENCY = 16
HIGHEST_BUDGET_MICROUSD = 10**15
HIGHEST_RATE = 10_000
HIGHEST_CONCURRENCY = 1_000


@attrs.frozen(kw_only=True)
class Organization:
    """A tenant.

    allowed_providers: ids that it may select; None: every enabled one. allowed_hosts, allow_private_addresses: what its calls
    may reach beyond the public internet. result_hosts: `host` or `host:port` that its results may point to although private.
    monthly_budget_microusd: a UTC month; None: none. searches_per_minute: in any sixty seconds; None: as many as there are.
    concurrency: searches at once, in each process.
    """

    id: str
    name: str
    created_at: clock.Instant
    allowed_providers: tuple[str, ...] | None = None
    allowed_hosts: tuple[str, ...] = ()
    allow_private_addresses: bool = False
    result_hosts: tuple[str, ...] = ()
    monthly_budget_microusd: int | None = None
    searches_per_minute: int | None = None
    concurrency: int = CONCURRENCY

    @property
    def result_policy(self) -> AddressPolicy:
        """What the URLs of its results may be."""
        return AddressPolicy(allowed_hosts=self.result_hosts)

    def may_select(self, provider: str) -> bool:
        """False for a provider that the operator does not allow to this organization."""
        return self.allowed_providers is None or provider in self.allowed_providers


def read_row(row: RowMapping | Mapping[str, Any]) -> Organization:
    """An organization from its columns."""
    allowed = row["allowed_providers"]
    return Organization(
        id=row["id"],
        name=row["name"],
        created_at=row["created_at"],
        allowed_providers=None if allowed is None else tuple(allowed),
        allowed_hosts=tuple(row["allowed_hosts"]),
        allow_private_addresses=row["allow_private_addresses"],
        result_hosts=tuple(row["result_hosts"]),
        monthly_budget_microusd=row["monthly_budget_microusd"],
        searches_per_minute=row["searches_per_minute"],
        concurrency=row["concurrency"],
    )


async def create(connection: AsyncConnection, organization: object, name: str) -> Organization:
    """A new organization. Raises SearchError (`validation_error`) for a name that is wrong or taken."""
    made = Organization(id=parse_name(organization, "$.organization"), name=parse_words(name, "$.name"), created_at=clock.now())
    values = attrs.asdict(made) | {"allowed_hosts": [], "result_hosts": []}
    try:
        await connection.execute(insert(organizations).values(values))
    except IntegrityError:
        raise SearchError.invalid("$.organization", f"{made.id!r} is taken; choose another name") from None
    return made


async def find(connection: AsyncConnection, organization: str, *, lock: bool = False) -> Organization | None:
    """The organization of this id. lock: nobody else changes it or counts its searches until the transaction ends."""
    query = select(organizations).where(organizations.c.id == organization)
    query = query.with_for_update(key_share=True) if lock else query
    row = (await connection.execute(query)).mappings().first()
    return None if row is None else read_row(row)


async def list_all(connection: AsyncConnection) -> list[Organization]:
    """Every organization, by id; for operators."""
    rows = (await connection.execute(select(organizations).order_by(organizations.c.id))).mappings()
    return [read_row(row) for row in rows]


async def bound(
    connection: AsyncConnection,
    organization: str,
    *,
    allowed_providers: Sequence[str] | None,
    allowed_hosts: Sequence[str],
    allow_private_addresses: bool,
    result_hosts: Sequence[str],
) -> None:
    """Sets what an organization may select, reach and point to. Raises SearchError (`validation_error`) for a wrong host."""
    check_hosts(allowed_hosts, "$.allowedHosts")
    check_hosts(result_hosts, "$.resultHosts")
    values = {
        "allowed_providers": None if allowed_providers is None else list(allowed_providers),
        "allowed_hosts": list(allowed_hosts),
        "allow_private_addresses": allow_private_addresses,
        "result_hosts": list(result_hosts),
    }
    await connection.execute(update(organizations).where(organizations.c.id == organization).values(values))


async def limit(
    connection: AsyncConnection,
    organization: str,
    *,
    monthly_budget_microusd: int | None,
    searches_per_minute: int | None,
    concurrency: int,
) -> None:
    """Sets how much it may search and spend, in place of what was set. Raises SearchError (`validation_error`)."""
    for path, value, least, most in (
        ("$.monthlyBudgetMicrousd", monthly_budget_microusd, 0, HIGHEST_BUDGET_MICROUSD),
        ("$.searchesPerMinute", searches_per_minute, 1, HIGHEST_RATE),
        ("$.concurrency", concurrency, 1, HIGHEST_CONCURRENCY),
    ):
        if value is not None and (type(value) is not int or not least <= value <= most):
            raise SearchError.invalid(path, f"expected a whole number from {least} to {most:,}, got {shorten(value)}")
    values = {
        "monthly_budget_microusd": monthly_budget_microusd,
        "searches_per_minute": searches_per_minute,
        "concurrency": concurrency,
    }
    await connection.execute(update(organizations).where(organizations.c.id == organization).values(values))


async def delete_with_all_data(connection: AsyncConnection, organization: str) -> None:
    """Deletes the organization and every row of every table that is its own, its audit trail included."""
    for name in sorted(TENANT_TABLES):
        table = METADATA.tables[name]
        await connection.execute(delete(table).where(table.c.organization == organization))
    await connection.execute(delete(organizations).where(organizations.c.id == organization))
