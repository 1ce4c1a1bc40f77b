"""numbers once: SQLite gives the number of a deleted row to no other one

A page that is still open would take the new row for the deleted one. PostgreSQL counts on anyway.
"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"

_TABLES = ("rounds", "tasks", "studies", "study_units", "webhooks", "deliveries", "logins", "api_tokens")


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        return
    trigger = connection.scalar(sa.text("SELECT sql FROM sqlite_master WHERE name = 'keep_label'"))
    op.execute("DROP TRIGGER keep_label")  # it reads `tasks`, and no table may be renamed while that is missing
    for table in _TABLES:
        with op.batch_alter_table(table, recreate="always", table_kwargs={"sqlite_autoincrement": True}):
            pass
    op.execute(trigger)
