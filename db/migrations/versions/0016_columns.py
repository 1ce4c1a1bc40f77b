"""columns: the text columns of the files, told apart again; and counts of pairs beyond 32 bits"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column("projects", sa.Column("text_columns", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("items", sa.Column("field_lengths", sa.JSON(none_as_null=True), nullable=True))
    if op.get_bind().dialect.name == "postgresql":  # SQLite's integers have 64 bits
        for table in ("evaluations", "designs"):
            op.alter_column(table, "pairs", type_=sa.BigInteger(), existing_type=sa.Integer(), existing_nullable=False)
