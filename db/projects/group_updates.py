"""What the next update of a project's groups asks for, where nobody asks: after a round, or a change of its texts."""

from math import log

from sqlalchemy.orm import Session

from allpairs.db.domain import Clustering, Representative, Settings
from allpairs.db.projects.matchers import newest_matcher
from allpairs.db.projects.projects import project_of
from allpairs.db.projects.stable_groups import newest_update

HALF = 0.5  # the probability from which pairs match where nobody has asked for groups yet
SURE = 1e-9  # probabilities closer to 0 or 1 have no score that could be told from theirs
Asked = tuple[int, float, None, str, str, str]  # arguments of the job `matches` after the project


def asked_as_before(session: Session, project_id: int) -> Asked | None:
    """Return the search for matches with the newest matcher that makes groups as the last update did.

    Returns None if the project does not keep its groups up to date, or if its newest matcher has no probabilities:
    scores of two models do not compare, but their probabilities do.
    """
    settings = Settings.model_validate(project_of(session, project_id).settings)
    matcher = newest_matcher(session, project_id) if settings.keep_groups else None
    if matcher is None or not matcher.w or matcher.b is None:
        return None
    last = newest_update(session, project_id)
    p = HALF if last is None or last.p is None else min(max(last.p, SURE), 1 - SURE)
    how = (Clustering.AVERAGE, Representative.CENTRAL, "")
    if last is not None:
        how = Clustering(last.clustering), Representative(last.representative), last.newest_by
    return matcher.number, (log(p / (1 - p)) - matcher.b) / matcher.w, None, *how
