"""Webhooks of projects, and what they are told."""

from typing import Any

from sqlalchemy import Engine, select

from allpairs.db.domain import NoticeKind
from allpairs.db.projects.webhooks import new_secret
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Notice, Webhook

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
