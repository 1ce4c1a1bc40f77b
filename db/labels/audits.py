"""Designs, audit tasks and their labels: sampled for measuring, never used for training."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import and_, delete, func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind, DesignKind, Purpose
from allpairs.db.labels.answers import counting_ids
from allpairs.db.labels.tasks import add_tasks
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


def audit_labels(
    session: Session, project_id: int, design_kind: DesignKind, up_to: int | None = None
) -> list[AuditLabel]:
    """Return the current label, unsure included, of each pair with an audit task of this kind of design.

    It counts whoever gave the label, and on whichever task. A pair is returned once, with its first design. `up_to`:
    the labels as of that answer.
    """
    same_pair = and_(Answer.left_id == Task.left_id, Answer.right_id == Task.right_id)
    rows = session.execute(
        select(Task.left_id, Task.right_id, Answer.answer, Design.id, Task.stratum, Task.inclusion)
        .join(Design, Design.id == Task.design_id)
        .join(Answer, same_pair)
        .where(Task.project_id == project_id, Task.purpose == Purpose.AUDIT, Design.kind == design_kind)
        .where(Answer.id.in_(counting_ids(project_id, up_to)))
        .order_by(Design.number, Task.id)
    )
    first: dict[tuple[int, int], AuditLabel] = {}
    for row in rows:
        label = AuditLabel._make(row)._replace(answer=AnswerKind(row.answer))
        first.setdefault((label.left_id, label.right_id), label)
    return list(first.values())


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
    """Drop the tasks without a label; return how many are left. An audit batch without tasks is removed."""
    same_pair = and_(PairLabel.left_id == Task.left_id, PairLabel.right_id == Task.right_id)
    labelled = select(PairLabel.answer_id).where(same_pair).exists()
    mine = Task.round_id == audit_batch.id
    session.execute(delete(Task).where(mine, ~labelled).execution_options(synchronize_session=False))
    audit_batch.size = session.scalar(select(func.count()).select_from(Task).where(mine)) or 0
    if not audit_batch.size:
        session.delete(audit_batch)
    session.flush()
    return audit_batch.size
