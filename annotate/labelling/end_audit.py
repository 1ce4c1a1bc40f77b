"""Sittings, as people end them before their time."""

from sqlalchemy import Engine

from annotate.access.roles import Right
from annotate.access.transactions import acting
from annotate.labelling.queue import ask_if_due
from db.labels.audits import drop_unanswered
from db.labels.tasks import newest_sitting, open_sitting


def drop_sitting(engine: Engine, project_id: int) -> None:
    """Nothing; the pairs of the open sitting that nobody has labelled are gone, and what is labelled is measured."""
    with acting(engine, Right.CHANGE, project_id) as session:
        newest_sitting(session, project_id, lock=True)
        sitting = open_sitting(session, project_id)
        if sitting is not None:
            drop_unanswered(session, sitting)
    ask_if_due(engine, project_id)
