"""turned tasks: pairs of an entity audit whose drawn text is the right one"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("tasks", sa.Column("turned", sa.Boolean, server_default=sa.false(), nullable=False))
