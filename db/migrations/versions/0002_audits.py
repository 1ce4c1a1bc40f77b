"""audits: designs, sittings, and figures that audit labels give"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "designs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("matcher_id", sa.Integer(), nullable=True),
        sa.Column("pairs", sa.Integer(), nullable=False),
        sa.Column("strata", sa.JSON(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("folder", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["matcher_id"], ["matchers.id"], ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "number"),
    )
    op.create_index("ix_designs_project_id", "designs", ["project_id"])
    with op.batch_alter_table("evaluations") as table:
        table.alter_column("positives", existing_type=sa.Integer(), nullable=True)
        table.add_column(sa.Column("audit", sa.JSON(), nullable=False, server_default="{}"))
    with op.batch_alter_table("evaluations") as table:
        table.alter_column("audit", existing_type=sa.JSON(), server_default=None)
    with op.batch_alter_table("rounds") as table:
        table.alter_column("number", existing_type=sa.Integer(), nullable=True)
    with op.batch_alter_table("tasks") as table:
        table.drop_column("stratum")
    with op.batch_alter_table("tasks") as table:
        table.add_column(sa.Column("stratum", sa.Integer(), nullable=True))
        table.add_column(sa.Column("design_id", sa.Integer(), nullable=True))
        table.create_foreign_key("fk_tasks_design_id", "designs", ["design_id"], ["id"], ondelete="CASCADE")
        table.create_index("ix_tasks_design_id", ["design_id"])
