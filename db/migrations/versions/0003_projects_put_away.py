"""projects put away: archived ones, and deleted ones in the bin; indexes that count items and daily labels"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("projects", sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("projects", sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index("ix_items_counted", "items", ["project_id", "side", "split"])
    op.create_index("ix_answers_counted", "answers", ["project_id", "created_at", "answer"])
