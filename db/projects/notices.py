"""Notices: what webhooks tell other systems. Written in the transaction of what happened, so that each is told once."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from sqlalchemy import select
from sqlalchemy.orm import Session

from allpairs.db.domain import NoticeKind, Settings
from allpairs.db.estimate import is_reached, stored_estimate
from allpairs.db.projects.project_list import newest_figures
from allpairs.db.schema.tables import Delivery, Notice, Project, Round, Webhook, now


def add_notice(
    session: Session, project_id: int, kind: NoticeKind, details: dict[str, Any], key: str | None = None
) -> None:
    """Tell the project's webhooks for this kind that something happened; do nothing if there is none.

    details: JSON values, the message's `data`. key: of something that a repeated step could tell twice; the second time
    nothing is added.
    """
    webhooks = _wanting(session, project_id, kind)
    if webhooks and (key is None or session.scalar(select(Notice.id).where(Notice.key == key)) is None):
        send_to(session, webhooks, kind, details, key)


def is_wanted(session: Session, project_id: int, kind: NoticeKind) -> bool:
    """Return whether the project has a webhook for this kind."""
    return bool(_wanting(session, project_id, kind))


def _wanting(session: Session, project_id: int, kind: NoticeKind) -> list[Webhook]:
    active = select(Webhook).where(Webhook.project_id == project_id, Webhook.active)
    return [webhook for webhook in session.scalars(active) if kind in webhook.kinds]


def send_to(
    session: Session, webhooks: list[Webhook], kind: NoticeKind, details: dict[str, Any], key: str | None = None
) -> None:
    """Add a notice for these webhooks of one project, whatever kinds they want."""
    project = session.get_one(Project, webhooks[0].project_id)
    time = now()
    body = {
        "type": str(kind),
        "timestamp": time.isoformat(),
        "project": {"id": project.id, "name": project.name},
        "data": details,
    }
    notice = Notice(project_id=project.id, key=key or uuid4().hex, kind=kind, body=body, created_at=time)
    session.add(notice)
    session.flush()
    for webhook in webhooks:
        session.add(Delivery(project_id=project.id, notice_id=notice.id, webhook_id=webhook.id, next_at=time))


def announce_batch(session: Session, batch: Round) -> None:
    """Tell that a stored batch waits for answers; an audit batch has no number, and its strategy is its design's kind.

    A batch without pairs is not told: nobody can answer it.
    """
    if batch.size:
        details = {"batch": batch.number, "pairs": batch.size, "strategy": batch.strategy}
        add_notice(session, batch.project_id, NoticeKind.BATCH_READY, details)


@contextmanager
def announcing_target(session: Session, project_id: int) -> Iterator[None]:
    """Tell that the target precision is reached, if it is at the end and was not at the beginning.

    For what changes figures or the target, within its transaction.
    """
    if not is_wanted(session, project_id, NoticeKind.TARGET_REACHED):
        yield
        return
    before = _reached(session, project_id)
    yield
    session.flush()
    after = _reached(session, project_id)
    if after is not None and before is None:
        add_notice(session, project_id, NoticeKind.TARGET_REACHED, after)


def _reached(session: Session, project_id: int) -> dict[str, Any] | None:
    """Return the figures of the newest measured round, if they reach the target precision."""
    figures = newest_figures(session, [project_id]).get(project_id)
    target = Settings.model_validate(session.get_one(Project, project_id).settings).target_precision
    if figures is None or not is_reached(figures.estimates, figures.reached, target):
        return None
    precision = stored_estimate(figures.estimates, "precision")
    return {"round": figures.number, "target": target, "precision": precision and precision.as_dict()}
