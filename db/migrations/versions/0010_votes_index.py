"""votes index: tasks for several annotators are found without reading all the others"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    several = sa.text("votes > 1")
    op.create_index("ix_tasks_several", "tasks", ["project_id"], sqlite_where=several, postgresql_where=several)
