"""Matchers and their evaluations over all pairs of evaluation items."""

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session, aliased

from allpairs.db.domain import Split
from allpairs.db.projects.items import present
from allpairs.db.schema.tables import Evaluation, Gold, Item, StoredModel


def matchers_with_evaluations(session: Session, project_id: int) -> list[tuple[StoredModel, Evaluation | None]]:
    """Return every matcher of the project with its evaluation, if any; the pre-trained encoder first."""
    rows = session.execute(
        select(StoredModel, Evaluation)
        .outerjoin(Evaluation, Evaluation.matcher_id == StoredModel.id)
        .where(StoredModel.project_id == project_id)
        .order_by(StoredModel.number)
    )
    return [(matcher, evaluation) for matcher, evaluation in rows]


def gold_counts(session: Session, project_id: int) -> tuple[int, int]:
    """Return the number of the project's gold positives, and how many are pairs of evaluation items."""
    left = aliased(Item)
    right = aliased(Item)
    both_present = and_(left.withdrawn_at.is_(None), right.withdrawn_at.is_(None))
    measurable = and_(left.split == Split.EVALUATION, right.split.in_((Split.EVALUATION, Split.SHARED)))
    total, inside = session.execute(
        select(func.count(), func.count().filter(measurable))
        .select_from(Gold)
        .join(left, left.id == Gold.left_id)
        .join(right, right.id == Gold.right_id)
        .where(Gold.project_id == project_id, Gold.positive, both_present)
    ).one()
    return total, inside


def has_evaluation_items(session: Session, project_id: int) -> bool:
    """Return whether the project has evaluation items."""
    query = select(Item.id).where(*present(project_id), Item.split == Split.EVALUATION)
    return session.scalar(query.limit(1)) is not None
