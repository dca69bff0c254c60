"""Alembic's entry: runs the migrations on the connection and in the transaction that `opening` holds."""

from alembic import context

from fleet.adapters.ledger_sql.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, transactional_ddl=True)
context.run_migrations()
