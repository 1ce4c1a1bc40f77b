"""Ending an audit batch early."""

from sqlalchemy import Engine

from allpairs.annotate.features.label.queue import ask_if_due
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.db.labels.audits import drop_unanswered
from allpairs.db.labels.tasks import newest_audit_batch, open_audit_batch


def drop_audit_batch(engine: Engine, project_id: int) -> None:
    """Drop the pairs of the open audit batch that nobody has labelled, and measure what is labelled."""
    with acting(engine, Right.CHANGE, project_id) as session:
        newest_audit_batch(session, project_id, lock=True)
        audit_batch = open_audit_batch(session, project_id)
        if audit_batch is not None:
            drop_unanswered(session, audit_batch)
    ask_if_due(engine, project_id)
