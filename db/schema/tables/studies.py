"""Questions that models wrote, and how people rate them."""

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from allpairs.db.schema.tables.base import NUMBERS_ONCE, Base, now, of_project


class Study(Base):
    """Questions that the models of a pipeline's run wrote, sampled for people to rate."""

    __tablename__ = "studies"
    __table_args__ = (NUMBERS_ONCE,)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    run_id: Mapped[str] = mapped_column(String(80))  # it may be deleted: the units hold what is rated
    models: Mapped[list[str]] = mapped_column(JSON)  # in the order of the table
    per_model: Mapped[int]  # number of sampled passages: every model asks about each
    seed: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(default=now)


class StudyUnit(Base):
    """A question of a study with its passage; models that ask the same about a passage share it."""

    __tablename__ = "study_units"
    __table_args__ = (UniqueConstraint("study_id", "position"), NUMBERS_ONCE)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"))
    position: Mapped[int]  # from 0, in random order
    passage: Mapped[str] = mapped_column(Text)
    question: Mapped[str] = mapped_column(Text)
    models: Mapped[list[str]] = mapped_column(JSON)  # raters do not see them


class Rating(Base):
    """One rating by one rater of one unit: good or bad by four criteria. Append-only; a rater's last one counts."""

    __tablename__ = "ratings"
    __table_args__ = (Index("ix_ratings_unit", "unit_id", "rater"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    unit_id: Mapped[int] = mapped_column(ForeignKey("study_units.id", ondelete="CASCADE"))
    rater: Mapped[str] = mapped_column(String(200))
    naturalness: Mapped[bool]
    coverage: Mapped[bool]
    correctness: Mapped[bool]
    answerability: Mapped[bool]
    created_at: Mapped[datetime] = mapped_column(default=now)
