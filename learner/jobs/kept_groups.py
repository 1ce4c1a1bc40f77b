"""The project's groups after a search for matches, and the search that follows a round."""

from math import log

import numpy as np
from sqlalchemy import Engine

from allpairs.db.domain import Settings
from allpairs.db.groups.grouping import Grouping
from allpairs.db.projects.jobs import MATCHES
from allpairs.db.projects.matchers import newest_matcher
from allpairs.db.projects.projects import project_of
from allpairs.db.projects.stable_groups import Planned, newest_update, planned, store_groups
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import GroupUpdate, Job

HALF = 0.5  # the probability from which pairs match where nobody has asked for groups yet
SURE = 1e-9  # probabilities closer to 0 or 1 have no score that could be told from theirs
Asked = tuple[int, float, None, str, str, str]  # arguments of the job `matches` after the project


def keep_groups(engine: Engine, items: np.ndarray, group: np.ndarray, update: GroupUpdate) -> Planned:
    """Make these the groups of the update's project, and record what has changed; return what was stored.

    items: (n,) int64, the texts in groups; group: (n,), the group of each. Another update that is stored meanwhile
    comes first, so what has changed is found again.
    """
    while True:
        with reading(engine) as session:
            plan = planned(session, update.project_id, items, group)
        with writing(engine) as session:
            if store_groups(session, plan, update):
                return plan


def followed(engine: Engine, project_id: int, round_job: str) -> tuple[str, Asked] | None:
    """Add the job that brings the groups up to date after a round; return its id and arguments.

    Returns None if the project does not ask for it, or if its newest matcher has no probabilities. The same round's job
    always gets the same one.
    """
    with writing(engine) as session:
        settings = Settings.model_validate(project_of(session, project_id).settings)
        matcher = newest_matcher(session, project_id) if settings.keep_groups else None
        if matcher is None or not matcher.w or matcher.b is None:
            return None
        threshold, grouping = _as_before(matcher.w, matcher.b, newest_update(session, project_id))
        job_id = f"{MATCHES}-{round_job}"
        if session.get(Job, job_id) is None:
            session.add(Job(id=job_id, project_id=project_id, kind=MATCHES))
    return job_id, (matcher.number, threshold, None, *grouping.words)


def _as_before(w: float, b: float, last: GroupUpdate | None) -> tuple[float, Grouping]:
    """Return the score that has the same probability as the last threshold (one half if it had none), and how to group.

    Scores of two models do not compare, but their probabilities do.
    """
    p = HALF if last is None or last.p is None else min(max(last.p, SURE), 1 - SURE)
    words = () if last is None else (last.clustering, last.representative, last.newest_by)
    return (log(p / (1 - p)) - b) / w, Grouping.read(words)
