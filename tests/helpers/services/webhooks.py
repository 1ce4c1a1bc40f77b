"""Webhooks of projects, what they are told, and what processes do that are killed meanwhile."""

import threading
import time
from ipaddress import ip_network
from typing import Any

import numpy as np
from sqlalchemy import Engine, select

from allpairs.db.domain import AnswerKind, NoticeKind
from allpairs.db.labels.answers import answer_at_once
from allpairs.db.projects.webhooks import new_secret
from allpairs.db.schema.engine import make_engine, reading, writing
from allpairs.db.schema.tables import Item, Notice, Webhook, now
from allpairs.learner.jobs.webhooks.sender import LEASE, Sender

URL = "https://example.org/hook"
WEBHOOK: dict[str, Any] = {"url": URL, "kinds": ["batch.ready"]}  # as programs add one


def add_webhook(engine: Engine, project: int, *kinds: NoticeKind, url: str = URL, active: bool = True) -> int:
    """Add a webhook for these kinds, or for all, and return its number."""
    with writing(engine) as session:
        wanted = [str(kind) for kind in kinds or NoticeKind]
        row = Webhook(project_id=project, url=url, kinds=wanted, secret=new_secret(), active=active)
        session.add(row)
        session.flush()
        return row.id


def notices(engine: Engine) -> list[tuple[str, Any]]:
    """Return kind and data of all notices, the oldest first."""
    with reading(engine) as session:
        rows = session.scalars(select(Notice).order_by(Notice.id))
        return [(str(row.kind), row.body["data"]) for row in rows]


def items_of(engine: Engine) -> list[int]:
    with reading(engine) as session:
        return list(session.scalars(select(Item.id).order_by(Item.id)))


def answer_all(project: int) -> None:
    """Contradict Ann's answers one after another, as an app that was killed does: from the beginning."""
    engine = make_engine()
    first, *others = items_of(engine)
    for other in others:
        with writing(engine) as session:
            answer_at_once(session, project, "bob", [(first, other)], AnswerKind.NEGATIVE, f"bob-{other}")
        time.sleep(0.2)


def send_all(starts: int) -> None:
    """Send for ever; each start is later than what the one before has claimed."""
    Sender(make_engine(), np.random.default_rng(0), [ip_network("127.0.0.1")], lambda: now() + starts * LEASE).run(
        threading.Event()
    )
