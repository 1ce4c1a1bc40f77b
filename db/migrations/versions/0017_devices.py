"""devices: a lease belongs to one browser of its annotator"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.add_column("leases", sa.Column("device", sa.String(32), nullable=True))
