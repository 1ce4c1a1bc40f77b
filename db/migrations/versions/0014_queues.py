"""queues: which jobs a worker takes"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("workers", sa.Column("queue", sa.String(length=8), nullable=True))
