"""changes of texts: which texts came and went, by which act, and what each identifier named before it"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "text_changes",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("project_id", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("who", sa.String(80), nullable=False),
        sa.Column("source", sa.String(500), nullable=False),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("added", "changed", "withdrawn", "measuring")),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("undone_at", sa.DateTime(timezone=True), nullable=True),
        sa.UniqueConstraint("project_id", "number"),
    )
    op.create_index("ix_text_changes_project_id", "text_changes", ["project_id"])
    op.create_table(
        "identifier_changes",
        sa.Column("change_id", sa.Integer, sa.ForeignKey("text_changes.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("side", sa.String(8), primary_key=True),
        sa.Column("external_id", sa.String(500), primary_key=True),
        sa.Column("project_id", sa.Integer, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
        sa.Column("before_id", sa.Integer, sa.ForeignKey("items.id", ondelete="CASCADE"), nullable=True),
        sa.Column("after_id", sa.Integer, sa.ForeignKey("items.id", ondelete="CASCADE"), nullable=True),
    )
    for column in ("project_id", "before_id", "after_id"):
        op.create_index(f"ix_identifier_changes_{column}", "identifier_changes", [column])
    op.add_column("items", sa.Column("added_in", sa.Integer, nullable=True))
    op.add_column("items", sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True))
    for name, column, on in (
        ("added", "added_in", ["project_id", "added_in"]),
        ("withdrawn", "withdrawn_at", ["project_id"]),
    ):
        where = sa.text(f"{column} IS NOT NULL")
        op.create_index(f"ix_items_{name}", "items", on, sqlite_where=where, postgresql_where=where)
