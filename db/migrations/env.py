"""Run by Alembic: upgrades the connection that `db.schema.engine.migrate` hands over."""

from alembic import context

from allpairs.db.schema.tables import Base

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=Base.metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
