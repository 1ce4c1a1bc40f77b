"""Hidden test pairs, and answers that came too fast."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from allpairs.db.domain import AnswerKind, CheckKind
from allpairs.db.schema.tables.base import Base, now, of_item, of_project


class Check(Base):
    """A pair shown to one annotator to see how they answer it. Its answers are not votes, and change no label."""

    __tablename__ = "checks"
    __table_args__ = (
        UniqueConstraint("before_id", "annotator"),
        Index("ix_checks_pair", "project_id", "annotator", "left_id", "right_id"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    annotator: Mapped[str] = mapped_column(String(200))
    kind: Mapped[CheckKind]
    left_id: Mapped[int] = of_item()
    right_id: Mapped[int] = of_item()
    expected: Mapped[AnswerKind]  # the known answer, or the annotator's earlier one
    task_id: Mapped[int | None] = mapped_column(ForeignKey("tasks.id", ondelete="SET NULL"), index=True)  # of the pair
    before_id: Mapped[int | None] = mapped_column(ForeignKey("tasks.id", ondelete="SET NULL"))  # shown before it
    created_at: Mapped[datetime] = mapped_column(default=now)


class CheckAnswer(Base):
    """One act of the annotator on a check. Append-only; the last one counts."""

    __tablename__ = "check_answers"
    __table_args__ = (UniqueConstraint("project_id", "key"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    check_id: Mapped[int] = mapped_column(ForeignKey("checks.id", ondelete="CASCADE"), index=True)
    answer: Mapped[AnswerKind]
    key: Mapped[str] = mapped_column(String(80))  # as in an answer
    seconds: Mapped[float | None]
    note: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=now)


class FastAnswers(Base):
    """A run of identical answers of one annotator, each too fast to have read the texts. It grows while it lasts."""

    __tablename__ = "rushes"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    annotator: Mapped[str] = mapped_column(String(200))
    answer: Mapped[AnswerKind]
    first_id: Mapped[int] = mapped_column(ForeignKey("answers.id", ondelete="CASCADE"), index=True)
    last_id: Mapped[int] = mapped_column(ForeignKey("answers.id", ondelete="CASCADE"), index=True)
    answers: Mapped[int]
    seconds: Mapped[float]  # of all of them together


class FastAnswersTask(Base):
    """A task from fast answers that is queued again: for another annotator, or for the same one as a check."""

    __tablename__ = "rush_tasks"
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True)
    rush_id: Mapped[int] = mapped_column(ForeignKey("rushes.id", ondelete="CASCADE"), index=True)
    project_id: Mapped[int] = of_project()
