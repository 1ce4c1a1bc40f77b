"""notes: what an annotator remarks on a pair, and the sentence of a passage that is likely to answer"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0002"


def upgrade() -> None:
    with op.batch_alter_table("answers") as table:
        table.add_column(sa.Column("note", sa.Text(), nullable=True))
    with op.batch_alter_table("tasks") as table:
        table.add_column(sa.Column("likely_start", sa.Integer(), nullable=True))
        table.add_column(sa.Column("likely_end", sa.Integer(), nullable=True))
