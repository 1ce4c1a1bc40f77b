"""The last answer of a project: pages count again when it changes."""

from sqlalchemy import Engine

from allpairs.db.groups.decisions import decisions_state
from allpairs.db.labels.answers import newest_answer
from allpairs.db.schema.engine import reading
from allpairs.db.texts.changes import version_of_texts


def last_answer(engine: Engine, project_id: int) -> int:
    """Return the id of the project's last answer. Counts of answers change only when it does."""
    with reading(engine) as session:
        return newest_answer(session, project_id)


def state_of_labels(engine: Engine, project_id: int) -> tuple[object, ...]:
    """Return what changes with each answer, each decision on a group, and each change of the project's texts."""
    with reading(engine) as session:
        decisions = decisions_state(session, project_id)
        return newest_answer(session, project_id), decisions, version_of_texts(session, project_id)


def counted_every(last: int) -> int:
    """Return after how many answers to count all of them again: a thousandth, since counting very many takes long."""
    return max(1, last // 1_000)
