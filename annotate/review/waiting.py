"""How much waits on the page Review."""

from sqlalchemy import Engine

from allpairs.annotate.review.transitivity import links
from allpairs.db.domain import Kind
from allpairs.db.labels.reviews import open_pairs
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.engine import reading


def count_waiting(engine: Engine, project_id: int) -> int:
    """Return how many pairs have different answers or are unsure, plus how many labels contradict others."""
    with reading(engine) as session:
        one_list = project_of(session, project_id).kind == Kind.SYMMETRIC
        clashes = int(links(session, project_id).clashes.sum()) if one_list else 0
        return len(open_pairs(session, project_id)) + clashes
