"""Webhooks of a project: added, switched off, removed, tested; and what became of their messages."""

from collections.abc import Collection
from datetime import datetime
from urllib.parse import urlsplit

from pydantic import Field
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting, require
from allpairs.annotate.kit.api import ApiOutput
from allpairs.db.domain import DeliveryState, EventKind, NoticeKind
from allpairs.db.errors import InputError
from allpairs.db.projects import webhooks as rows
from allpairs.db.projects.events import add_event
from allpairs.db.projects.notices import send_to
from allpairs.db.projects.webhook_addresses import allowed_networks, checked_url
from allpairs.db.schema.engine import person_of, reading
from allpairs.db.schema.tables import Webhook, now

MOST = 20  # webhooks of one project
OFFERED = tuple(kind for kind in NoticeKind if kind is not NoticeKind.TEST)


class WebhookDetails(ApiOutput):
    """A webhook of the project. Its secret is shown only when it is added."""

    id: int
    url: str
    kinds: list[str]
    active: bool
    created_at: datetime


class NewWebhook(WebhookDetails):
    """A new webhook, with the secret that signs its messages: it is not shown again."""

    secret: str


class DeliveryDetails(ApiOutput):
    """A message on its way to a webhook."""

    id: int
    kind: NoticeKind
    state: DeliveryState
    attempts: int
    status: int | None = Field(description="The HTTP status of the last answer; null: there was none.")
    error: str | None = Field(description="Why the last attempt failed.")
    created_at: datetime
    next_at: datetime | None = Field(description="The next attempt, if it waits for one.")
    delivered_at: datetime | None


def webhooks_of_project(engine: Engine, project_id: int) -> list[WebhookDetails]:
    """Return the project's webhooks, the oldest first. Raises Refused without the right to change the project."""
    with reading(engine) as session:
        require(session, Right.CHANGE, project_id)
        return [WebhookDetails.model_validate(row) for row in rows.webhooks_of(session, project_id)]


def add(engine: Engine, project_id: int, url: str, kinds: Collection[str]) -> NewWebhook:
    """Add a webhook that is told these kinds of notices.

    Raises InputError for an address that it may not have, without a kind or for an unknown one, and beyond 20 webhooks.
    """
    url = checked_url(url, allowed_networks())
    kinds = _checked_kinds(kinds)
    with acting(engine, Right.CHANGE, project_id) as session:
        if len(rows.webhooks_of(session, project_id)) >= MOST:
            raise InputError(f"a project can have {MOST} webhooks: delete one first")
        person_id = person_of(session.connection())
        row = Webhook(project_id=project_id, url=url, kinds=kinds, secret=rows.new_secret(), made_by=person_id)
        session.add(row)
        session.flush()
        _record(session, EventKind.WEBHOOK_ADDED, row, new={"tells": ", ".join(kinds)})
        return NewWebhook.model_validate(row)


def _checked_kinds(kinds: Collection[str]) -> list[str]:
    unknown = sorted(set(kinds) - set(OFFERED))
    if unknown or not kinds:
        problem = f"there is no notice {unknown[0]!r}" if unknown else "the webhook would be told nothing"
        raise InputError(f"{problem}: choose one or more of {', '.join(OFFERED)}")
    return [kind for kind in OFFERED if kind in kinds]


def switch(engine: Engine, project_id: int, webhook_id: int, active: bool) -> None:
    """Switch the webhook on or off: while it is off, nothing is sent and nothing new is noted for it.

    Raises InputError if the project has no such webhook.
    """
    with acting(engine, Right.CHANGE, project_id) as session:
        row = _webhook(session, project_id, webhook_id)
        if row.active != active:
            words = ("off", "on")
            _record(session, EventKind.WEBHOOK_CHANGED, row, words[row.active], words[active])
            row.active = active


def renew_secret(engine: Engine, project_id: int, webhook_id: int) -> NewWebhook:
    """Give the webhook a new secret, with which everything is signed from now on.

    Raises InputError if the project has no such webhook.
    """
    with acting(engine, Right.CHANGE, project_id) as session:
        row = _webhook(session, project_id, webhook_id)
        row.secret = rows.new_secret()
        _record(session, EventKind.WEBHOOK_CHANGED, row, new="new secret")
        return NewWebhook.model_validate(row)


def remove_webhook(engine: Engine, project_id: int, webhook_id: int) -> None:
    """Remove the webhook with its deliveries. Raises InputError if the project has no such webhook."""
    with acting(engine, Right.CHANGE, project_id) as session:
        row = _webhook(session, project_id, webhook_id)
        _record(session, EventKind.WEBHOOK_REMOVED, row)
        session.delete(row)


def send_test(engine: Engine, project_id: int, webhook_id: int) -> None:
    """Send a test message to the webhook, whatever kinds it is told.

    Raises InputError if the project has no such webhook, or it is off.
    """
    with acting(engine, Right.CHANGE, project_id) as session:
        row = _webhook(session, project_id, webhook_id)
        if not row.active:
            raise InputError("this webhook is off: switch it on first")
        send_to(session, [row], NoticeKind.TEST, {})


def deliveries(engine: Engine, project_id: int, webhook_id: int, limit: int = 20) -> list[DeliveryDetails]:
    """Return the newest deliveries of the webhook, the newest first.

    Raises Refused without the right to change the project, and InputError if it has no such webhook.
    """
    with reading(engine) as session:
        require(session, Right.CHANGE, project_id)
        _webhook(session, project_id, webhook_id)
        return [
            DeliveryDetails(
                id=row.id,
                kind=kind,
                state=row.state,
                attempts=row.attempts,
                status=row.status,
                error=row.error,
                created_at=created_at,
                next_at=row.next_at if row.state == DeliveryState.WAITING else None,
                delivered_at=row.delivered_at,
            )
            for row, kind, created_at in rows.deliveries_of(session, project_id, webhook_id, limit)
        ]


def send_delivery_again(engine: Engine, project_id: int, delivery_id: int) -> None:
    """Send a waiting or failed delivery now. Raises InputError if the project has no such delivery."""
    with acting(engine, Right.CHANGE, project_id) as session:
        if not rows.send_again(session, project_id, delivery_id, now()):
            raise InputError("this message has been delivered or removed meanwhile: reload the page")


def _webhook(session: Session, project_id: int, webhook_id: int) -> Webhook:
    row = rows.webhook_of(session, project_id, webhook_id)
    if row is None:
        raise InputError(f"this project has no webhook {webhook_id}: it may have been deleted; reload the page")
    return row


def _record(session: Session, kind: EventKind, row: Webhook, old: str | None = None, new: object = None) -> None:
    """Record the act under the webhook's machine: the rest of an address may be a secret."""
    parts = urlsplit(row.url)
    address = f"{parts.scheme}://{parts.netloc}"
    add_event(session, person_of(session.connection()), kind, row.project_id, address, old, new)
