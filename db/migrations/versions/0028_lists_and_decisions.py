"""lists keep their rows as they were written, and what people decide of groups counts over all models"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"

_INSTANT = sa.DateTime(timezone=True)


def _reference(name: str, table: str, rule: str = "CASCADE", **options: Any) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, sa.ForeignKey(f"{table}.id", ondelete=rule), **options)


def upgrade() -> None:
    op.create_table(
        "list_versions",
        sa.Column("id", sa.Integer, primary_key=True),
        _reference("project_id", "projects", nullable=False, index=True),
        sa.Column("side", sa.String(8), nullable=False),
        _reference("change_id", "text_changes", index=True),
        sa.Column("file", sa.String(500), nullable=False),
        sa.Column("columns", sa.JSON, nullable=False),
        sa.Column("id_column", sa.String(500), nullable=False),
        sa.Column("compared", sa.JSON, nullable=False),
        sa.Column("format", sa.JSON, nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "list_rows",
        sa.Column("id", sa.Integer, primary_key=True),
        _reference("project_id", "projects", nullable=False),
        sa.Column("side", sa.String(8), nullable=False),
        _reference("version_id", "list_versions", nullable=False, index=True),
        _reference("ended_id", "list_versions", "SET NULL", index=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("external_id", sa.String(500), nullable=False),
        sa.Column("cells", sa.JSON, nullable=False),
        sa.Index("ix_list_rows_place", "project_id", "side", "ended_id", "place"),
        sa.Index("ix_list_rows_ids", "project_id", "side", "external_id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "pair_decisions",
        sa.Column("id", sa.Integer, primary_key=True),
        _reference("project_id", "projects", nullable=False),
        _reference("left_id", "items", nullable=False, index=True),
        _reference("right_id", "items", nullable=False, index=True),
        sa.Column("same", sa.Boolean, nullable=False),
        sa.Column("act", sa.String(80), nullable=False, index=True),
        sa.Column("who", sa.String(80), nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.Column("undone_at", _INSTANT),
        sa.Index("ix_pair_decisions_pair", "project_id", "left_id", "right_id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "group_moves",
        sa.Column("id", sa.Integer, primary_key=True),
        _reference("project_id", "projects", nullable=False, index=True),
        _reference("item_id", "items", nullable=False, index=True),
        sa.Column("act", sa.String(80), nullable=False, index=True),
        sa.Column("before", sa.Integer),
        sa.Column("after", sa.Integer),
        sqlite_autoincrement=True,
    )
