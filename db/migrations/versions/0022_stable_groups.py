"""stable groups: the groups of a project, and what each update changed"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def _reference(column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], ondelete="CASCADE")


def upgrade() -> None:
    _updates()
    _changes()
    _items()


def _updates() -> None:
    op.create_table(
        "group_updates",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("matcher", sa.Integer(), nullable=False),
        sa.Column("threshold", sa.Double(), nullable=False),
        sa.Column("p", sa.Double()),
        sa.Column("clustering", sa.String(length=16), nullable=False),
        sa.Column("representative", sa.String(length=16), nullable=False),
        sa.Column("newest_by", sa.Text(), nullable=False),
        sa.Column("groups", sa.Integer(), nullable=False),
        sa.Column("texts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _reference("project_id", "projects"),
    )
    op.create_index("ix_group_updates_project_id", "group_updates", ["project_id"])


def _changes() -> None:
    op.create_table(
        "group_changes",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("update_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("event", sa.String(length=16), nullable=False),
        sa.Column("before", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("added", sa.Integer(), nullable=False),
        sa.Column("removed", sa.Integer(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        _reference("project_id", "projects"),
        _reference("update_id", "group_updates"),
    )
    op.create_index("ix_group_changes_cursor", "group_changes", ["project_id", "id"])
    op.create_index("ix_group_changes_update_id", "group_changes", ["update_id"])
    op.create_index("ix_group_changes_group", "group_changes", ["project_id", "number"])


def _items() -> None:
    op.create_table(
        "grouped_items",
        sa.Column("item_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        _reference("item_id", "items"),
        _reference("project_id", "projects"),
    )
    op.create_index("ix_grouped_items_group", "grouped_items", ["project_id", "number"])
