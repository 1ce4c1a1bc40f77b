"""checks: pairs put before an annotator to see how they answer; answers given faster than anyone reads"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def _reference(column: str, target: str, rule: str = "CASCADE") -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], ondelete=rule)


def upgrade() -> None:
    _checks()
    _rushes()
    _indexes()


def _checks() -> None:
    op.create_table(
        "checks",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("annotator", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("left_id", sa.Integer(), nullable=False),
        sa.Column("right_id", sa.Integer(), nullable=False),
        sa.Column("expected", sa.String(length=16), nullable=False),
        sa.Column("task_id", sa.Integer()),
        sa.Column("before_id", sa.Integer()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _reference("project_id", "projects"),
        _reference("left_id", "items"),
        _reference("right_id", "items"),
        _reference("task_id", "tasks", "SET NULL"),
        _reference("before_id", "tasks", "SET NULL"),
        sa.UniqueConstraint("before_id", "annotator"),
    )
    op.create_table(
        "check_answers",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("check_id", sa.Integer(), nullable=False),
        sa.Column("answer", sa.String(length=16), nullable=False),
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("seconds", sa.Double()),
        sa.Column("note", sa.Text()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _reference("project_id", "projects"),
        _reference("check_id", "checks"),
        sa.UniqueConstraint("key"),
    )


def _rushes() -> None:
    op.create_table(
        "rushes",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("annotator", sa.String(length=200), nullable=False),
        sa.Column("answer", sa.String(length=16), nullable=False),
        sa.Column("first_id", sa.Integer(), nullable=False),
        sa.Column("last_id", sa.Integer(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        _reference("project_id", "projects"),
        _reference("first_id", "answers"),
        _reference("last_id", "answers"),
    )
    op.create_table(
        "rush_tasks",
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("rush_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("task_id"),
        _reference("task_id", "tasks"),
        _reference("rush_id", "rushes"),
        _reference("project_id", "projects"),
    )


def _indexes() -> None:
    op.create_index("ix_checks_pair", "checks", ["project_id", "annotator", "left_id", "right_id"])
    for table, columns in _INDEXED.items():
        for column in columns:
            op.create_index(f"ix_{table}_{column}", table, [column])
    op.create_index("ix_answers_annotator", "answers", ["project_id", "annotator", "id"])
    op.create_index("ix_answers_settling", "answers", ["project_id"], sqlite_where=sa.text("settles = 1"),
                    postgresql_where=sa.text("settles"))  # fmt: skip
    op.drop_index("ix_gold_project_id", "gold")
    op.create_index("ix_gold_drawn", "gold", ["project_id", "positive", "left_id", "right_id"])


_INDEXED = {
    "checks": ("project_id", "left_id", "right_id", "task_id"),
    "check_answers": ("project_id", "check_id"),
    "rushes": ("project_id", "first_id", "last_id"),
    "rush_tasks": ("project_id", "rush_id"),
}
