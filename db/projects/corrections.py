"""Corrections: designs that have people label a matcher's putative false positives."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from allpairs.db.domain import DesignKind
from allpairs.db.schema.tables import Design, Round, Task


def correction_designs(session: Session, project_id: int) -> list[Design]:
    """Return the project's corrections, the first one first; without those of replaced matchers."""
    query = select(Design).where(Design.project_id == project_id, Design.kind == DesignKind.CORRECTION)
    return list(session.scalars(query.where(Design.matcher_id.is_not(None)).order_by(Design.number)))


def audit_batch_of_design(session: Session, design: Design) -> Round | None:
    """Return the audit batch of the design's tasks; None if no pair was sampled, or all were dropped."""
    of_tasks = select(Task.round_id).where(Task.design_id == design.id).limit(1)
    return session.scalar(select(Round).where(Round.id == of_tasks.scalar_subquery()))
