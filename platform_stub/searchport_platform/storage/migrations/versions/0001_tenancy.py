"""Organizations, agents, tokens, selections, credentials, switches, audit"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("organization", sa.String(length=64), nullable=True),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_organization"), ["organization"], unique=False)

    op.create_table(
        "organizations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("allowed_providers", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("allowed_hosts", sa.JSON(), nullable=False),
        sa.Column("allow_private_addresses", sa.Boolean(), nullable=False),
        sa.Column("result_hosts", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organizations")),
    )
    op.create_table(
        "switches",
        sa.Column("provider", sa.String(length=64), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("since", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("provider", name=op.f("pk_switches")),
    )
    op.create_table(
        "agents",
        sa.Column("organization", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("tools", sa.JSON(), nullable=False),
        sa.Column("credentials", sa.JSON(), nullable=False),
        sa.Column("allowed_hosts", sa.JSON(), nullable=False),
        sa.Column("allow_private_addresses", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization"], ["organizations.id"], name=op.f("fk_agents_organization_organizations"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("organization", "id", name=op.f("pk_agents")),
    )
    op.create_table(
        "credentials",
        sa.Column("organization", sa.String(length=64), nullable=False),
        sa.Column("provider", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("key_id", sa.String(length=16), nullable=False),
        sa.Column("nonce", sa.LargeBinary(length=12), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("last_four", sa.String(length=4), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("stored_at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization"], ["organizations.id"], name=op.f("fk_credentials_organization_organizations"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("organization", "provider", "name", name=op.f("pk_credentials")),
    )
    with op.batch_alter_table("credentials", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_credentials_key_id"), ["key_id"], unique=False)

    op.create_table(
        "operator_settings",
        sa.Column("organization", sa.String(length=64), nullable=False),
        sa.Column("provider", sa.String(length=64), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization"],
            ["organizations.id"],
            name=op.f("fk_operator_settings_organization_organizations"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization", "provider", name=op.f("pk_operator_settings")),
    )
    op.create_table(
        "selections",
        sa.Column("organization", sa.String(length=64), nullable=False),
        sa.Column("provider", sa.String(length=64), nullable=False),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("fallbacks", sa.JSON(), nullable=False),
        sa.Column("default_results", sa.Integer(), nullable=False),
        sa.Column("max_results", sa.Integer(), nullable=False),
        sa.Column("deadline_ms", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization"], ["organizations.id"], name=op.f("fk_selections_organization_organizations"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("organization", name=op.f("pk_selections")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("organization", sa.String(length=64), nullable=True),
        sa.Column("agent", sa.String(length=64), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("expires_at", sa.String(length=32), nullable=True),
        sa.Column("last_used_day", sa.String(length=10), nullable=True),
        sa.ForeignKeyConstraint(
            ["organization"], ["organizations.id"], name=op.f("fk_tokens_organization_organizations"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
    )
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tokens_organization"), ["organization"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_tokens_organization"))

    op.drop_table("tokens")
    op.drop_table("selections")
    op.drop_table("operator_settings")
    with op.batch_alter_table("credentials", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_credentials_key_id"))

    op.drop_table("credentials")
    op.drop_table("agents")
    op.drop_table("switches")
    op.drop_table("organizations")
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_audit_organization"))

    op.drop_table("audit")
