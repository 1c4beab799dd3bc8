"""Caps, limits, budgets, records of searches"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Not in batch mode: it makes the table anew, and dropping the old one deletes every row that refers to it.
    op.add_column("organizations", sa.Column("monthly_budget_microusd", sa.BigInteger(), nullable=True))
    op.add_column("organizations", sa.Column("searches_per_minute", sa.Integer(), nullable=True))
    op.add_column("organizations", sa.Column("concurrency", sa.Integer(), server_default=sa.text("16"), nullable=False))
    op.add_column("selections", sa.Column("cache_seconds", sa.Integer(), server_default=sa.text("0"), nullable=False))
    op.add_column("agents", sa.Column("max_searches_per_day", sa.Integer(), server_default=sa.text("200"), nullable=False))

    op.create_table(
        "agent_days",
        sa.Column("organization", sa.String(length=64), nullable=False),
        sa.Column("agent", sa.String(length=64), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("searches", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization"], ["organizations.id"], name=op.f("fk_agent_days_organization_organizations"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("organization", "agent", "day", name=op.f("pk_agent_days")),
    )
    op.create_table(
        "organization_months",
        sa.Column("organization", sa.String(length=64), nullable=False),
        sa.Column("month", sa.String(length=7), nullable=False),
        sa.Column("spent_microusd", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization"],
            ["organizations.id"],
            name=op.f("fk_organization_months_organization_organizations"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization", "month", name=op.f("pk_organization_months")),
    )
    op.create_table(
        "records",
        sa.Column("organization", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("agent", sa.String(length=64), nullable=False),
        sa.Column("provider", sa.String(length=64), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("started_ms", sa.BigInteger(), nullable=False),
        sa.Column("ends_ms", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.String(length=32), nullable=False),
        sa.Column("reserved_microusd", sa.BigInteger(), nullable=False),
        sa.Column("cost_microusd", sa.BigInteger(), nullable=True),
        sa.Column("vendor_requests", sa.Integer(), nullable=True),
        sa.Column("duration_ms", sa.Integer(), nullable=True),
        sa.Column("results", sa.Integer(), nullable=True),
        sa.Column("cached", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization"], ["organizations.id"], name=op.f("fk_records_organization_organizations"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("organization", "id", name=op.f("pk_records")),
    )
    op.create_index("ix_records_started", "records", ["organization", "started_ms"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_records_started", "records")
    op.drop_table("records")
    op.drop_table("organization_months")
    op.drop_table("agent_days")
    op.drop_column("agents", "max_searches_per_day")
    op.drop_column("selections", "cache_seconds")
    for column in ("concurrency", "searches_per_minute", "monthly_budget_microusd"):
        op.drop_column("organizations", column)
