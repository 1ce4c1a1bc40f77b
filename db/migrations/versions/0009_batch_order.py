"""batch order: how a re-ranker put a batch in order, and its score of each task"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    with op.batch_alter_table("rounds") as table:
        table.add_column(sa.Column("ordered", sa.String(32), nullable=True))
    with op.batch_alter_table("tasks") as table:
        table.add_column(sa.Column("rerank", sa.Double(), nullable=True))
