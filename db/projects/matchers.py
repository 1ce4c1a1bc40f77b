"""Matchers: the models of a project, one for each trained round, and number 0 for the pre-trained encoder."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from allpairs.db.schema.tables import StoredModel

SCORES = "scores.npz"  # beside the model: left, right (item ids, in this order) and score of the labelled pairs
GROUP_FIGURES = "groups"  # among a matcher's details: by clustering, the exact figures of its groups by known pairs


def matcher_of(session: Session, project_id: int, number: int) -> StoredModel | None:
    """Return the matcher trained on batches 1 … number."""
    return session.scalar(select(StoredModel).where(StoredModel.project_id == project_id, StoredModel.number == number))


def matchers_of(session: Session, project_id: int) -> list[StoredModel]:
    """Return the project's matchers, the newest first."""
    query = select(StoredModel).where(StoredModel.project_id == project_id)
    return list(session.scalars(query.order_by(StoredModel.number.desc())))


def newest_matcher(session: Session, project_id: int) -> StoredModel | None:
    """Return the matcher with the highest number."""
    return session.scalar(
        select(StoredModel).where(StoredModel.project_id == project_id).order_by(StoredModel.number.desc()).limit(1)
    )


def has_group_figures(session: Session, project_id: int) -> bool:
    """Return whether known pairs have measured the groups of any matcher."""
    return any(GROUP_FIGURES in matcher.details for matcher in matchers_of(session, project_id))
