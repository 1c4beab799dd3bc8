"""The tables. Every row of a tenant names its organization, and every key begins with it."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    text,
)

__all__ = [
    "METADATA",
    "TENANT_TABLES",
    "agent_days",
    "agents",
    "audit",
    "credentials",
    "operator_settings",
    "organization_months",
    "organizations",
    "records",
    "selections",
    "storable",
    "switches",
    "tokens",
]

METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)


def storable(name: str) -> str:
    """A name that is asked for may hold anything, and PostgreSQL takes no NUL: it is asked for what no row holds either."""
    return name.replace("\0", "\ufffd")


class _Name(TypeDecorator[str]):
    """A name, as it can be asked for."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002  # SQLAlchemy's signature
        """The name as it is asked for."""
        return None if value is None else storable(value)


_ID = _Name(64)
_INSTANT = String(32)  # ISO 8601 in UTC, whole seconds: sorts as it reads, on every database


def _organization(*, key: bool = True) -> Column[str]:
    return Column("organization", _ID, ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=key, nullable=False)


organizations = Table(
    "organizations",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("name", Text, nullable=False),
    Column("created_at", _INSTANT, nullable=False),
    Column("allowed_providers", JSON(none_as_null=True)),  # null: every enabled one
    Column("allowed_hosts", JSON, nullable=False),
    Column("allow_private_addresses", Boolean, nullable=False),
    Column("result_hosts", JSON, nullable=False),
    Column("monthly_budget_microusd", BigInteger),  # null: none
    Column("searches_per_minute", Integer),  # null: as many as there are
    Column("concurrency", Integer, nullable=False, server_default=text("16")),
)

agents = Table(
    "agents",
    METADATA,
    _organization(),
    Column("id", _ID, primary_key=True),
    Column("tools", JSON, nullable=False),
    Column("credentials", JSON, nullable=False),
    Column("allowed_hosts", JSON, nullable=False),
    Column("allow_private_addresses", Boolean, nullable=False),
    Column("max_searches_per_day", Integer, nullable=False, server_default=text("200")),
)

tokens = Table(
    "tokens",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("organization", _ID, ForeignKey("organizations.id", ondelete="CASCADE"), index=True),  # null: an operator's
    Column("agent", _ID),
    Column("name", Text, nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("hash", LargeBinary(32), nullable=False),
    Column("created_at", _INSTANT, nullable=False),
    Column("expires_at", _INSTANT),
    Column("last_used_day", String(10)),
)

selections = Table(
    "selections",
    METADATA,
    _organization(),
    Column("provider", _ID, nullable=False),
    Column("model", Text),
    Column("settings", JSON, nullable=False),
    Column("fallbacks", JSON, nullable=False),
    Column("default_results", Integer, nullable=False),
    Column("max_results", Integer, nullable=False),
    Column("deadline_ms", Integer, nullable=False),
    Column("cache_seconds", Integer, nullable=False, server_default=text("0")),
)

credentials = Table(
    "credentials",
    METADATA,
    _organization(),
    Column("provider", _ID, primary_key=True),
    Column("name", _ID, primary_key=True),
    Column("key_id", String(16), nullable=False, index=True),
    Column("nonce", LargeBinary(12), nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("last_four", String(4), nullable=False),
    Column("generation", Integer, nullable=False),
    Column("stored_at", _INSTANT, nullable=False),
)

operator_settings = Table(
    "operator_settings",
    METADATA,
    _organization(),
    Column("provider", _ID, primary_key=True),
    Column("settings", JSON, nullable=False),
)

switches = Table(
    "switches",
    METADATA,
    Column("provider", _ID, primary_key=True),
    Column("reason", Text, nullable=False),
    Column("since", _INSTANT, nullable=False),
)

audit = Table(
    "audit",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("organization", _ID, index=True),  # null: a change of the whole platform
    Column("at", _INSTANT, nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", String(64), nullable=False),
    Column("subject", Text, nullable=False),
    Column("details", JSON, nullable=False),
)

agent_days = Table(
    "agent_days",
    METADATA,
    _organization(),
    Column("agent", _ID, primary_key=True),  # no foreign key: an agent made anew has not its units back
    Column("day", String(10), primary_key=True),
    Column("searches", Integer, nullable=False),
)

organization_months = Table(
    "organization_months",
    METADATA,
    _organization(),
    Column("month", String(7), primary_key=True),
    Column("spent_microusd", BigInteger, nullable=False),  # with what is reserved
)

records = Table(
    "records",
    METADATA,
    _organization(),
    Column("id", String(32), primary_key=True),
    Column("agent", _ID, nullable=False),
    Column("provider", _ID, nullable=False),  # who answered; until then, and where none did, who was asked first
    Column("day", String(10), nullable=False),
    Column("started_ms", BigInteger, nullable=False),
    Column("ends_ms", BigInteger, nullable=False),  # when it must have ended
    Column("outcome", String(32), nullable=False),
    Column("reserved_microusd", BigInteger, nullable=False),
    Column("cost_microusd", BigInteger),  # null: not ended, so that the reserved sum counts
    Column("vendor_requests", Integer),
    Column("duration_ms", Integer),
    Column("results", Integer),
    Column("cached", Boolean, nullable=False),
    Index("ix_records_started", "organization", "started_ms"),
)

TENANT_TABLES = frozenset(
    {
        "agent_days",
        "agents",
        "audit",
        "credentials",
        "operator_settings",
        "organization_months",
        "records",
        "selections",
        "tokens",
    }
)
"""Tables whose rows belong to one organization: a statement on them names it, but for the listed exceptions."""
