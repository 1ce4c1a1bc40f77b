"""Whether a training would see anything that the newest batch's job did not: answers of any kind, texts, settings."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from allpairs.db.domain import AT_ONCE, EventKind
from allpairs.db.groups.decisions import training_decisions_changed
from allpairs.db.labels.tasks import batch_progress, newest_round
from allpairs.db.labels.training_labels import training_labels_changed
from allpairs.db.projects.jobs import NEXT_ROUND, last_job
from allpairs.db.projects.projects import project_settings
from allpairs.db.raters.verdicts import verdicts_since
from allpairs.db.schema.tables import Event, Round, StoredModel, now

TEXTS = (EventKind.TEXTS, EventKind.TEXTS_BACK)


def why_no_training(session: Session, project_id: int) -> str:
    """Return why a training would change nothing but throw the batch away; empty if it would.

    A complete batch is no reason against the next one, even if nobody was sure of any pair. Neither is a job that
    failed or was cancelled: it may be tried again. An imported project has no job yet.
    """
    batch = newest_round(session, project_id)
    last = last_job(session, project_id, [NEXT_ROUND])
    if batch is None or last is None or last.state != "done" or batch_progress(session, project_id).complete:
        return ""
    if has_changed(session, batch, last.created_at):
        return ""
    return (
        f"no new answers to train on since batch {batch.number} was made: answer some of its pairs first, or change "
        "texts or settings"
    )


def has_changed(session: Session, batch: Round, since: datetime) -> bool:
    """Return whether labels that train, decisions, texts or settings have changed since this batch was asked for."""
    matcher = session.get(StoredModel, batch.matcher_id) if batch.matcher_id else None
    if training_labels_changed(session, batch.project_id, matcher.cutoff if matcher is not None else 0):
        return True
    if training_decisions_changed(session, batch.project_id, since):
        return True
    if since > now():  # the clock was ahead: the times tell nothing
        return True
    return _plans_changed(session, batch.project_id, since) or _has_new_verdicts(session, batch.project_id, since)


def _plans_changed(session: Session, project_id: int, since: datetime) -> bool:
    """Return whether texts have changed since, or settings that a job reads and that have not been changed back."""
    kinds = Event.kind.in_([EventKind.SETTINGS, *TEXTS])
    later = select(Event).where(Event.project_id == project_id, kinds, Event.at > since).order_by(Event.id)
    events = session.scalars(later).all()
    return any(event.kind in TEXTS for event in events) or bool(_changed_settings(events) - AT_ONCE)


def _changed_settings(events: Iterable[Event]) -> set[str]:
    """Return the settings that differ after these changes from before them."""
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for event in events:
        before = (event.old or {}) | before
        after |= event.new or {}
    return {name for name in after if after[name] != before.get(name)}


def _has_new_verdicts(session: Session, project_id: int, since: datetime) -> bool:
    """Return whether the machine rater has given verdicts since that may train."""
    use = project_settings(session, project_id).rater_use
    return use != "measure" and verdicts_since(session, project_id, since)
