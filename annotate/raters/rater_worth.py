"""What a project's machine rater is worth."""

from sqlalchemy import Engine

from allpairs.annotate.access.roles import Right
from allpairs.annotate.access.transactions import require
from allpairs.annotate.monitor.rater import Worth, worth_of
from allpairs.db.labels.reviews import shared_votes
from allpairs.db.raters.judged import judged_pairs, verdicts_of
from allpairs.db.raters.rows import raters_of
from allpairs.db.schema.engine import reading


def read_worth(engine: Engine, project_id: int) -> Worth | None:
    """Return what the project's newest rater is worth, in use or ended; None if there has been none.

    Raises Refused without the right to see the project's figures.
    """
    with reading(engine) as session:
        require(session, Right.SEE, project_id)
        newest = next(iter(raters_of(session, project_id)), None)
        if newest is None:
            return None
        votes = shared_votes(session, project_id, drawn=False)
        return worth_of(judged_pairs(session, newest), verdicts_of(session, newest), votes)
