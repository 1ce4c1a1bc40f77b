"""Designs, audit tasks and their labels: sampled for measuring, never used for training."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, and_, delete, func, select
from sqlalchemy.orm import Session, aliased

from allpairs.db.domain import AnswerKind, DesignKind, Purpose
from allpairs.db.labels.tasks import add_tasks
from allpairs.db.projects.items import chunks
from allpairs.db.schema.tables import Answer, Design, PairLabel, Round, Task

MOST_CHANGED = 0.1  # share of a design's texts that may have come or gone before a new draw is of new strata


class AuditLabel(NamedTuple):
    """The label of an audited pair, and how the pair was sampled."""

    left_id: int
    right_id: int
    answer: AnswerKind
    design_id: int
    stratum: int  # place in the design's strata, from 0
    inclusion: float  # probability with which the pair was sampled


def newest_design(session: Session, project_id: int, kind: DesignKind) -> Design | None:
    """Return the project's last design of this kind."""
    designs = select(Design).where(Design.project_id == project_id, Design.kind == kind)
    return session.scalar(designs.order_by(Design.number.desc()).limit(1))


def designs_of(session: Session, project_id: int, kind: DesignKind) -> list[Design]:
    """Return the project's designs of this kind, the first one first."""
    designs = select(Design).where(Design.project_id == project_id, Design.kind == kind)
    return list(session.scalars(designs.order_by(Design.number)))


def design_by_id(session: Session, design_id: int) -> Design | None:
    """Return the design of this id."""
    return session.get(Design, design_id)


def design_of(session: Session, audit_batch: Round) -> Design | None:
    """Return the design of an audit batch's tasks."""
    of_tasks = select(Task.design_id).where(Task.round_id == audit_batch.id).limit(1)
    return session.scalar(select(Design).where(Design.id == of_tasks.scalar_subquery()))


def audit_labels(session: Session, project_id: int, design_kind: DesignKind) -> list[AuditLabel]:
    """Return the current label, unsure included, of each pair with an audit task of this kind of design.

    It counts whoever gave the label, and on whichever task; that of an entity audit waits for those around it (see
    `_waiting`). A pair is returned once, with its first design.
    """
    rows = session.execute(
        _with_labels(project_id)
        .join(Design, Design.id == Task.design_id)
        .where(Task.purpose == Purpose.AUDIT, Design.kind == design_kind)
        .order_by(Design.number, Task.id)
    ).all()
    waiting = _waiting(rows)
    first: dict[tuple[int, int], AuditLabel] = {}
    for row in rows:
        if row.answer is not None and row.id not in waiting:
            answer = AnswerKind(row.answer)
            label = AuditLabel(row.left_id, row.right_id, answer, row.design_id, row.stratum, row.inclusion)
            first.setdefault((label.left_id, label.right_id), label)
    return list(first.values())


def _with_labels(project_id: int) -> Select[Any]:
    """Select the project's tasks, the label of each one's pair, if any, and whether an entity audit asked for it."""
    task = aliased(Task)
    of_asked = aliased(Design)
    same_pair = and_(PairLabel.left_id == Task.left_id, PairLabel.right_id == Task.right_id)
    return (
        select(Task.id, Task.round_id, Task.position, Task.left_id, Task.right_id, PairLabel.answer)
        .add_columns(Task.design_id, Task.stratum, Task.inclusion)
        .add_columns((func.coalesce(of_asked.kind, "") == DesignKind.ENTITIES).label("of_entities"))
        .select_from(Task)
        .outerjoin(PairLabel, same_pair)
        .outerjoin(Answer, Answer.id == PairLabel.answer_id)
        .outerjoin(task, task.id == Answer.task_id)
        .outerjoin(of_asked, of_asked.id == task.design_id)
        .where(Task.project_id == project_id)
    )


def _waiting(rows: Iterable[Row[Any]]) -> set[int]:
    """Return the tasks whose pair an entity audit has labelled, while the next pair of their batch has no label yet.

    Entity audits choose likely matches. What they labelled of a batch would be a biased part of its sample, if it
    counted before the rest. As a batch's order is random, each of these pairs counts with the one that follows it.
    """
    waiting: set[int] = set()
    in_order = sorted(rows, key=lambda row: (row.round_id, row.position))
    for _, batch in groupby(in_order, key=lambda row: row.round_id):
        reserve: list[int] = []
        is_open = False
        for row in batch:
            if row.of_entities:
                reserve.append(row.id)
                continue
            is_open = row.answer is None
            waiting.update(reserve if is_open else ())
            reserve = []
        waiting.update(reserve if is_open else ())  # nothing follows the last ones: they count with the one before
    return waiting


def audit_rows(batch: Round, design: Design, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the columns of the round's audit tasks: the given ones (left_id, right_id, position, score, inclusion,
    stratum), and those that all tasks share.
    """
    common = {
        "project_id": batch.project_id,
        "round_id": batch.id,
        "design_id": design.id,
        "strategy": design.kind,
        "purpose": Purpose.AUDIT,
    }
    return [common | row for row in rows]


def add_audit_tasks(session: Session, batch: Round, design: Design, rows: Iterable[dict[str, Any]]) -> None:
    """Add the rows (see `audit_rows`) as tasks of the round, an audit batch or a batch."""
    add_tasks(session, audit_rows(batch, design, rows))


def drop_unanswered(session: Session, audit_batch: Round) -> int:
    """Drop the tasks without a label, and those that wait for them (see `_waiting`); return how many are left.

    An audit batch without tasks is removed.
    """
    in_batch = Task.round_id == audit_batch.id
    rows = session.execute(_with_labels(audit_batch.project_id).where(in_batch)).all()
    unanswered_ids = [row.id for row in rows if row.answer is None] + list(_waiting(rows))
    for chunk in chunks(unanswered_ids):
        session.execute(delete(Task).where(Task.id.in_(chunk)).execution_options(synchronize_session=False))
    audit_batch.size = session.scalar(select(func.count()).select_from(Task).where(in_batch)) or 0
    if not audit_batch.size:
        session.delete(audit_batch)
    session.flush()
    return audit_batch.size
