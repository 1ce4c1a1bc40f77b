"""notes: what an annotator remarks on a pair, the likely sentence of a passage, and labelled pairs like a task's"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    with op.batch_alter_table("answers") as table:
        table.add_column(sa.Column("note", sa.Text(), nullable=True))
    with op.batch_alter_table("tasks") as table:
        table.add_column(sa.Column("likely_start", sa.Integer(), nullable=True))
        table.add_column(sa.Column("likely_end", sa.Integer(), nullable=True))
        table.add_column(sa.Column("alike", sa.JSON(), nullable=True))
