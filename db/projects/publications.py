"""Publications: which round's model answers requests, which one is its shadow, and how far the two agree."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from allpairs.db.domain import PublicationKind
from allpairs.db.schema.tables import Publication, ShadowCounts, StoredModel, now

NOTHING_PUBLISHED = (
    "no model is published: publish a trained round's on the page Monitor, tab Model, or with `allpairs publish`"
)
COUNTED = ("texts", "same_best", "shared", "pairs", "more", "away", "gained", "lost")  # sums of a `ShadowCounts`


def publications_of(session: Session, project_id: int) -> Sequence[Publication]:
    """Return all publications of the project, the newest first."""
    query = select(Publication).where(Publication.project_id == project_id)
    return session.scalars(query.order_by(Publication.id.desc())).all()


def in_service(session: Session, project_id: int, kind: PublicationKind) -> Publication | None:
    """Return the newest publication of this kind; None if it is an end, if its model is gone, or if there is none."""
    query = select(Publication).where(Publication.project_id == project_id, Publication.kind == kind)
    newest = session.scalar(query.order_by(Publication.id.desc()).limit(1))
    return newest if newest is not None and newest.matcher_id is not None else None


def end_publications(session: Session, project_id: int) -> list[PublicationKind]:
    """Take whatever is in service out of it, and return what that was."""
    ended = [kind for kind in PublicationKind if in_service(session, project_id, kind) is not None]
    session.add_all(Publication(project_id=project_id, kind=kind, who="") for kind in ended)
    return ended


def folders_in_service(session: Session, project_id: int) -> set[str]:
    """Return the folders of the models that answer requests or are compared: these keep their vectors."""
    publications = (in_service(session, project_id, kind) for kind in PublicationKind)
    matchers = (
        session.get(StoredModel, publication.matcher_id) for publication in publications if publication is not None
    )
    return {matcher.folder for matcher in matchers if matcher is not None and matcher.folder is not None}


def counts_of(session: Session, published: Publication, shadow: Publication) -> ShadowCounts | None:
    """Return how the two have agreed since the later one was named; None before the first request."""
    return session.get(ShadowCounts, (published.id, shadow.id))


def add_counts(session: Session, project_id: int, published_id: int, shadow_id: int, more: dict[str, float]) -> None:
    """Add to the counts of this published model and this shadow; more: of each of COUNTED."""
    row = session.get(ShadowCounts, (published_id, shadow_id), with_for_update=True)
    if row is None:
        row = ShadowCounts(
            published_id=published_id, shadow_id=shadow_id, project_id=project_id, **dict.fromkeys(COUNTED, 0)
        )
        session.add(row)
    for name in COUNTED:
        setattr(row, name, getattr(row, name) + more[name])
    row.updated_at = now()
