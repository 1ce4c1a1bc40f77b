"""Webhooks and the deliveries of notices to them."""

import secrets
from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, select, update
from sqlalchemy.orm import Session

from allpairs.db.domain import DeliveryState, NoticeKind
from allpairs.db.schema.tables import Delivery, Notice, Project, Webhook

PREFIX = "whsec_"  # of a secret, as Standard Webhooks writes it
SECRET_BYTES = 32
LOG_AGE = timedelta(days=30)  # how long the log of deliveries goes back
_WAITING = Delivery.state == DeliveryState.WAITING


@dataclass(frozen=True)
class Message:
    """A claimed delivery: what to send where, and the number of this attempt, from 1."""

    delivery_id: int
    attempt: int
    url: str
    secret: str
    key: str
    body: dict[str, Any]


def new_secret() -> str:
    """Return a new random secret: `whsec_` and 32 bytes in base64."""
    return PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def webhooks_of(session: Session, project_id: int) -> Sequence[Webhook]:
    """Return the project's webhooks, the oldest first."""
    return session.scalars(select(Webhook).where(Webhook.project_id == project_id).order_by(Webhook.id)).all()


def webhook_of(session: Session, project_id: int, webhook_id: int) -> Webhook | None:
    """Return the project's webhook of this number; None if it has no such webhook."""
    webhook = session.get(Webhook, webhook_id)
    return webhook if webhook is not None and webhook.project_id == project_id else None


def deliveries_of(
    session: Session, project_id: int, webhook_id: int, limit: int
) -> Sequence[tuple[Delivery, NoticeKind, datetime]]:
    """Return the newest deliveries to the webhook with the kinds and times of their notices, the newest first."""
    deliveries = select(Delivery, Notice.kind, Notice.created_at).join(Notice, Notice.id == Delivery.notice_id)
    deliveries = deliveries.where(Delivery.project_id == project_id, Delivery.webhook_id == webhook_id)
    return session.execute(deliveries.order_by(Delivery.id.desc()).limit(limit)).tuples().all()


def send_again(session: Session, project_id: int, delivery_id: int, time: datetime) -> bool:
    """Begin the attempts of an undelivered delivery anew; return whether the project has such a delivery."""
    conditions = (
        Delivery.id == delivery_id,
        Delivery.project_id == project_id,
        Delivery.state != DeliveryState.DELIVERED,
    )
    statement = update(Delivery).where(*conditions).values(state=DeliveryState.WAITING, attempts=0, next_at=time)
    return bool(session.execute(statement).rowcount)  # type: ignore[attr-defined]


def due_webhooks(session: Session, time: datetime) -> dict[int, int]:
    """Return the project of each webhook with a delivery that is due, those that have waited longest first."""
    waiting = _due(select(Delivery.webhook_id, Delivery.project_id), time)
    waiting = waiting.group_by(Delivery.webhook_id, Delivery.project_id).order_by(func.min(Delivery.next_at))
    return {row.webhook_id: row.project_id for row in session.execute(waiting)}


def claim(session: Session, webhook_id: int, time: datetime, lease: timedelta) -> Message | None:
    """Return the webhook's first delivery that is due, for this process alone until the lease ends.

    If the process does not say by then what came of it, the delivery is due again.
    """
    first = _due(select(Delivery, Notice, Webhook), time).join(Notice, Notice.id == Delivery.notice_id)
    first = first.where(Delivery.webhook_id == webhook_id).order_by(Delivery.next_at, Delivery.id).limit(1)
    row = session.execute(first.with_for_update(of=Delivery, skip_locked=True)).first()
    if row is None:
        return None
    delivery, notice, webhook = row
    delivery.attempts = delivery.attempts + 1
    delivery.next_at = time + lease
    return Message(delivery.id, delivery.attempts, webhook.url, webhook.secret, notice.key, notice.body)


def _due(query: Select[*tuple[Any, ...]], time: datetime) -> Select[*tuple[Any, ...]]:
    """Restrict to deliveries that are due. Nothing is sent of a project in the bin, or to a webhook switched off."""
    joined = query.join_from(Delivery, Webhook, Webhook.id == Delivery.webhook_id)
    joined = joined.join(Project, Project.id == Delivery.project_id)
    return joined.where(_WAITING, Delivery.next_at <= time, Webhook.active, Project.deleted_at.is_(None))


def mark_delivered(session: Session, message: Message, status: int, time: datetime) -> None:
    """Record that the receiver has the message, whoever sent it."""
    _record(
        session,
        (Delivery.id == message.delivery_id,),
        state=DeliveryState.DELIVERED,
        status=status,
        error=None,
        delivered_at=time,
    )


def mark_failed(session: Session, message: Message, status: int | None, error: str, next_at: datetime | None) -> None:
    """Record why this attempt failed, and when the next one is; None: there is none. A later attempt's word stays."""
    state = DeliveryState.WAITING if next_at is not None else DeliveryState.GIVEN_UP
    conditions = (Delivery.id == message.delivery_id, Delivery.attempts == message.attempt, _WAITING)
    values = {} if next_at is None else {"next_at": next_at}
    _record(session, conditions, state=state, status=status, error=error, **values)


def _record(session: Session, conditions: Collection[ColumnElement[bool]], **values: object) -> None:
    session.execute(update(Delivery).where(*conditions).values(**values))


def forget_old(session: Session, time: datetime) -> None:
    """Remove notices of more than 30 days ago with their deliveries; those of a webhook switched off may still wait."""
    session.execute(delete(Notice).where(Notice.created_at < time - LOG_AGE))
