"""Alembic's environment: the connection comes from `storage.engine`, the tables from `storage.schema`."""

from alembic import context

from searchport_platform.storage.schema import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
