"""The project's groups after a search for matches, and the search that follows a round."""

import numpy as np
from sqlalchemy import Engine

from allpairs.db.groups.decisions import decisions_state
from allpairs.db.groups.plan import PlannedGroups, planned
from allpairs.db.labels.answers import lock_answers
from allpairs.db.projects.jobs import MATCHES
from allpairs.db.projects.stable_groups import MatchesArguments, asked_as_before, store_groups
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import GroupUpdate, Job

DecisionsState = tuple[int, int]


def keep_groups(
    engine: Engine, items: np.ndarray, group: np.ndarray, update: GroupUpdate, decisions: DecisionsState
) -> PlannedGroups | None:
    """Make these the groups of the update's project, and record what has changed; return what was stored.

    items: (n,) int64, the texts in groups; group: (n,), the group of each. Another update that is stored meanwhile
    comes first, so what has changed is found again. decisions: the state of people's decisions that the groups agree
    with; None is returned, and nothing stored, if they are others by now.
    """
    while True:
        with reading(engine) as session:
            groups = planned(session, update.project_id, items, group)
        with writing(engine) as session:
            lock_answers(session, update.project_id)
            if decisions_state(session, update.project_id) != decisions:
                return None
            if store_groups(session, groups.plan, update):
                return groups


def followed(engine: Engine, project_id: int, round_job: str) -> tuple[str, MatchesArguments] | None:
    """Add the job that brings the groups up to date after a round; return its id and arguments.

    Returns None as `asked_as_before`. The same round's job always gets the same one.
    """
    with writing(engine) as session:
        search = asked_as_before(session, project_id)
        if search is None:
            return None
        job_id = f"{MATCHES}-{round_job}"
        if session.get(Job, job_id) is None:
            session.add(Job(id=job_id, project_id=project_id, kind=MATCHES))
    return job_id, search
