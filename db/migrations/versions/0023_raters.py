"""raters: the machine raters of a project, and their verdicts, which are no answers"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"

_INSTANT = sa.DateTime(timezone=True)


def _reference(column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], ondelete="CASCADE")


def upgrade() -> None:
    op.create_table(
        "raters",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("setup", sa.JSON(), nullable=False),
        sa.Column("who", sa.String(length=80), nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.Column("ended_at", _INSTANT),
        sa.Column("paused_at", _INSTANT),
        sa.Column("paused_why", sa.Text()),
        _reference("project_id", "projects"),
        sa.UniqueConstraint("project_id", "number"),
    )
    op.create_table(
        "verdicts",
        sa.Column("id", sa.Integer(), primary_key=True),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("project_id", "rater_id", "left_id", "right_id")),
        sa.Column("verdict", sa.String(length=8), nullable=False),
        sa.Column("p", sa.Double()),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Double(), nullable=False),
        sa.Column("prompt", sa.String(length=8), nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        _reference("project_id", "projects"),
        _reference("rater_id", "raters"),
        _reference("left_id", "items"),
        _reference("right_id", "items"),
        sa.UniqueConstraint("rater_id", "left_id", "right_id"),
    )
    for column in ("project_id", "left_id", "right_id"):
        op.create_index(f"ix_verdicts_{column}", "verdicts", [column])
