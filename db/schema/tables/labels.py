"""Batches and audits, their pairs, and what people say of these. Answers are append-only."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, mapped_column

from allpairs.db.domain import AnswerKind, DesignKind, Purpose
from allpairs.db.schema.tables.base import COUNT_OF_PAIRS, NUMBERS_ONCE, Base, now, of_item, of_project


class Design(Base):
    """A sampling design for audit tasks: strata of all evaluation pairs, as ranked by a model, or of mined pairs."""

    __tablename__ = "designs"
    __table_args__ = (UniqueConstraint("project_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    number: Mapped[int]  # from 1
    kind: Mapped[DesignKind]
    matcher_id: Mapped[int | None] = mapped_column(ForeignKey("matchers.id", ondelete="SET NULL"))
    pairs: Mapped[int] = mapped_column(COUNT_OF_PAIRS)  # all pairs of evaluation items, or of the mined list
    strata: Mapped[list[dict[str, Any]]]  # the highest first: name, low, high (scores), size
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)  # of a correction: recall, threshold, true
    folder: Mapped[str]  # below the artifact folder: the sampling orders, and what the model's scores need
    created_at: Mapped[datetime] = mapped_column(default=now)


class Round(Base):
    """One batch of tasks: `size` tasks are the batch, the others are a reserve while the next one is prepared.

    An audit batch, whose tasks are only for measuring, is a round without a number.
    """

    __tablename__ = "rounds"
    __table_args__ = (UniqueConstraint("project_id", "number"), NUMBERS_ONCE)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    number: Mapped[int | None]  # from 1; empty: an audit batch
    strategy: Mapped[str]  # of an audit batch: the kind of its design
    size: Mapped[int]
    matcher_id: Mapped[int | None] = mapped_column(ForeignKey("matchers.id"))
    note: Mapped[str] = mapped_column(Text, default="")  # for annotators
    created_at: Mapped[datetime] = mapped_column(default=now)


class Task(Base):
    """A pair chosen for labelling, and why."""

    __tablename__ = "tasks"
    __table_args__ = (
        UniqueConstraint("round_id", "left_id", "right_id"),
        Index("ix_tasks_round_position", "round_id", "position"),
        Index(
            "ix_tasks_several", "project_id", sqlite_where=text("votes > 1"), postgresql_where=text("votes > 1")
        ),  # few of very many tasks are for several annotators
        NUMBERS_ONCE,
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id", ondelete="CASCADE"))
    left_id: Mapped[int] = of_item()
    right_id: Mapped[int] = of_item()
    position: Mapped[int]  # from 0; a position at or above the round's size is in reserve
    strategy: Mapped[str]
    score: Mapped[float]  # cosine under the model that chose the pair
    p: Mapped[float | None]  # that model's probability of a positive
    inclusion: Mapped[float | None]  # probability with which the pair was sampled, if it was
    stratum: Mapped[int | None]  # place in the design's strata, from 0
    design_id: Mapped[int | None] = mapped_column(
        ForeignKey("designs.id", ondelete="CASCADE", name="fk_tasks_design_id"), index=True
    )
    purpose: Mapped[Purpose] = mapped_column(default=Purpose.TRAIN)
    turned: Mapped[bool] = mapped_column(default=False, server_default=false())  # shown with the right text first
    # Characters of the right text, if it is a passage: the sentence most similar to the left text.
    likely_start: Mapped[int | None]
    likely_end: Mapped[int | None]
    # The labelled pairs most similar to this one when it was chosen: [left_id, right_id, similarity (mean cosine)].
    alike: Mapped[list[Any] | None] = mapped_column(JSON)
    votes: Mapped[int] = mapped_column(default=1, server_default="1")  # annotators who should label it


class Lease(Base):
    """A reservation of a task for an annotator, in one of their browsers, for a limited time."""

    __tablename__ = "leases"
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True)
    annotator: Mapped[str] = mapped_column(String(200), index=True)
    device: Mapped[str | None] = mapped_column(String(32))  # empty: any of the annotator's
    expires_at: Mapped[datetime]


class Answer(Base):
    """One act of one annotator on one pair. Append-only: undo and correction are new rows."""

    __tablename__ = "answers"
    __table_args__ = (
        UniqueConstraint("project_id", "key"),
        Index("ix_answers_pair", "project_id", "left_id", "right_id", "annotator"),
        Index("ix_answers_counted", "project_id", "created_at", "answer"),
        Index("ix_answers_annotator", "project_id", "annotator", "id"),
        Index(
            "ix_answers_settling", "project_id", sqlite_where=text("settles = 1"), postgresql_where=text("settles")
        ),  # few of very many answers are a review's
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    task_id: Mapped[int | None] = mapped_column(ForeignKey("tasks.id", ondelete="SET NULL"), index=True)
    left_id: Mapped[int] = of_item()
    right_id: Mapped[int] = of_item()
    annotator: Mapped[str] = mapped_column(String(200))
    answer: Mapped[AnswerKind]
    key: Mapped[str] = mapped_column(String(80))  # the client's own id: a replay is stored only once in the project
    seconds: Mapped[float | None]  # time the pair was on screen
    note: Mapped[str | None] = mapped_column(Text)  # the annotator's remark on the pair
    settles: Mapped[bool] = mapped_column(default=False, server_default=false())  # given in the review of a pair
    guidelines: Mapped[str | None] = mapped_column(String(8))  # their version at that time; empty: unknown
    created_at: Mapped[datetime] = mapped_column(default=now)


class PairLabel(Base):
    """The current label of one pair.

    A trigger on `answers` maintains it (`db/migrations/keep_labels.py`); nothing else writes here.
    """

    __tablename__ = "labels"
    __table_args__ = (Index("ix_labels_counted", "project_id", "purpose", "answer"),)
    left_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    right_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    answer_id: Mapped[int] = mapped_column(index=True)
    answer: Mapped[AnswerKind]
    purpose: Mapped[Purpose]  # of the task that was answered; imported labels are for training
