"""votes: how many annotators are to label a task, and which answers settle what others disagree on"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("tasks", sa.Column("votes", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("answers", sa.Column("settles", sa.Boolean(), nullable=False, server_default=sa.false()))
