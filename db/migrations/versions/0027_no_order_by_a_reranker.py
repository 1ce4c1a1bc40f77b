"""batches keep the strategy's order: no re-ranker scores their tasks"""

from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.drop_column("rounds", "ordered")
    op.drop_column("tasks", "rerank")
