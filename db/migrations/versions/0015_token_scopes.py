"""token scopes: what a token lets a program do; those made before keep all of it"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_ALL = '["read", "label", "train", "administer"]'


def upgrade() -> None:
    with op.batch_alter_table("api_tokens") as table:
        table.add_column(sa.Column("scopes", sa.JSON(), nullable=False, server_default=_ALL))
    with op.batch_alter_table("api_tokens") as table:  # a later token names its own
        table.alter_column("scopes", existing_type=sa.JSON(), server_default=None)
