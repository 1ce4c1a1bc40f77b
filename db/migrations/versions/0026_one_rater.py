"""one rater: a project has at most one machine rater in use; verdicts hold no numbers that overflow a sum"""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"

_BOUNDS = {"tokens_in": 1_000_000_000, "tokens_out": 1_000_000_000, "cost": 1e12}
_RATERS = sa.table(
    "raters",
    sa.column("project_id"),
    sa.column("number"),
    sa.column("ended_at", sa.DateTime(timezone=True)),
)


def upgrade() -> None:
    _end_surplus_raters()
    in_use = sa.text("ended_at IS NULL")
    op.create_index(
        "ix_raters_in_use", "raters", ["project_id"], unique=True, sqlite_where=in_use, postgresql_where=in_use
    )
    for name, most in _BOUNDS.items():
        op.execute(f"UPDATE verdicts SET {name} = {most} WHERE {name} > {most}")  # PostgreSQL's NaN, too
        op.execute(f"UPDATE verdicts SET {name} = 0 WHERE {name} < 0")


def _end_surplus_raters() -> None:
    """End every rater in use but the newest one of its project."""
    later = _RATERS.alias("later")
    newer = (
        sa.select(later.c.number)
        .where(later.c.project_id == _RATERS.c.project_id, later.c.number > _RATERS.c.number)
        .where(later.c.ended_at.is_(None))
    )
    surplus = sa.update(_RATERS).where(_RATERS.c.ended_at.is_(None), newer.exists())
    op.execute(surplus.values(ended_at=datetime.now(UTC)))
