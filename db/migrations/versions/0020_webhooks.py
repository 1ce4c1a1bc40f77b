"""webhooks: which systems are told what happens in a project, what they are told, and whether it arrived"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

_INSTANT = sa.DateTime(timezone=True)


def _reference(column: str, target: str, rule: str = "CASCADE") -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], ondelete=rule)


def upgrade() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("url", sa.String(length=2000), nullable=False),
        sa.Column("kinds", sa.JSON(), nullable=False),
        sa.Column("secret", sa.String(length=80), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("made_by", sa.Integer()),
        sa.Column("created_at", _INSTANT, nullable=False),
        _reference("project_id", "projects"),
        _reference("made_by", "people", "SET NULL"),
    )
    op.create_table(
        "notices",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        _reference("project_id", "projects"),
        sa.UniqueConstraint("key"),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("notice_id", sa.Integer(), nullable=False),
        sa.Column("webhook_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", _INSTANT, nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("error", sa.Text()),
        sa.Column("delivered_at", _INSTANT),
        _reference("project_id", "projects"),
        _reference("notice_id", "notices"),
        _reference("webhook_id", "webhooks"),
        sa.UniqueConstraint("notice_id", "webhook_id"),
    )
    for table, columns in _INDEXED.items():
        for column in columns:
            op.create_index(f"ix_{table}_{column}", table, [column])
    op.create_index("ix_deliveries_due", "deliveries", ["state", "next_at"])


_INDEXED = {
    "webhooks": ("project_id",),
    "notices": ("project_id", "created_at"),
    "deliveries": ("project_id", "webhook_id"),
}
