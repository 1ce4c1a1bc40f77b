"""Machine raters and their verdicts.

A verdict is neither an `Answer` nor a `PairLabel`, and lies in tables of its own: what trains, chooses, measures or
audits reads answers and labels, and so cannot read a verdict by accident.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from allpairs.db.domain import Verdict
from allpairs.db.schema.tables.base import Base, OutsideText, now, of_item, of_project

LIMITS = {"tokens_in": 1_000_000_000, "tokens_out": 1_000_000_000, "cost": 1e12}  # of a verdict: no sum overflows
_IN_USE = text("ended_at IS NULL")


class MachineRater(Base):
    """A setup of the project's machine rater. At most one is in use; a changed setup is a new row."""

    __tablename__ = "raters"
    __table_args__ = (
        UniqueConstraint("project_id", "number"),
        Index("ix_raters_in_use", "project_id", unique=True, sqlite_where=_IN_USE, postgresql_where=_IN_USE),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    number: Mapped[int]  # from 1
    setup: Mapped[dict[str, Any]]  # a `RaterSetup`: the key is not in it, only the name of the variable that has it
    who: Mapped[str] = mapped_column(String(80))  # set it up
    at: Mapped[datetime] = mapped_column(default=now)
    ended_at: Mapped[datetime | None]
    paused_at: Mapped[datetime | None]
    paused_why: Mapped[str | None] = mapped_column(OutsideText)


class PairVerdict(Base):
    """What a machine rater said of a pair, asked once. Append-only; tokens and cost grow if two jobs asked about it."""

    __tablename__ = "verdicts"
    __table_args__ = (UniqueConstraint("rater_id", "left_id", "right_id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    rater_id: Mapped[int] = mapped_column(ForeignKey("raters.id", ondelete="CASCADE"))
    left_id: Mapped[int] = of_item()  # in the order of the project's pairs
    right_id: Mapped[int] = of_item()
    verdict: Mapped[Verdict]
    p: Mapped[float | None]  # the rater's probability of a match, if it gives one
    tokens_in: Mapped[int]
    tokens_out: Mapped[int]
    cost: Mapped[float]  # by the prices of the setup
    prompt: Mapped[str] = mapped_column(String(8))  # version of the prompt, its examples included
    at: Mapped[datetime] = mapped_column(default=now)
