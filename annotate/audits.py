"""Sittings, as people end them before their time."""

from sqlalchemy import Engine

from annotate.labelling import ask_if_due
from db.audits import drop_unanswered
from db.engine import writing
from db.tasks import newest_sitting, open_sitting


def drop_sitting(engine: Engine, project_id: int) -> None:
    """Nothing; the pairs of the open sitting that nobody has labelled are gone, and what is labelled is measured."""
    with writing(engine) as session:
        newest_sitting(session, project_id, lock=True)
        sitting = open_sitting(session, project_id)
        if sitting is not None:
            drop_unanswered(session, sitting)
    ask_if_due(engine, project_id)
