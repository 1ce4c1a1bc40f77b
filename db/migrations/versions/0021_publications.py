"""publications: the models in service and their shadows; match servers: the processes that answer with them"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "publications",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("matcher_id", sa.Integer(), nullable=True),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("who", sa.String(length=80), nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["matcher_id"], ["matchers.id"], ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_publications_project_id", "publications", ["project_id"])
    op.create_index("ix_publications_matcher_id", "publications", ["matcher_id"])
    op.create_table(
        "shadow_counts",
        sa.Column("published_id", sa.Integer(), nullable=False),
        sa.Column("shadow_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("texts", "same_best")),
        sa.Column("shared", sa.Double(), nullable=False),
        sa.Column("pairs", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Double(), nullable=False) for name in ("more", "away")),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("gained", "lost")),
        sa.Column("updated_at", _INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["published_id"], ["publications.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["shadow_id"], ["publications.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("published_id", "shadow_id"),
    )
    op.create_index("ix_shadow_counts_shadow_id", "shadow_counts", ["shadow_id"])
    op.create_index("ix_shadow_counts_project_id", "shadow_counts", ["project_id"])
    op.create_table(
        "match_servers",
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("seen_at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
