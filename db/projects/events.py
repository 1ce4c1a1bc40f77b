"""Events: who changed what in a project or the installation. Appended in the transaction of the change itself."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import EventKind
from allpairs.db.schema.tables import Event, Person


def add_event(
    session: Session,
    person_id: int | None,
    kind: EventKind,
    project_id: int | None = None,
    subject: str = "",
    old: Any = None,
    new: Any = None,
) -> None:
    """Record that this happened. person_id: who did it; None: nobody signed in.

    old, new: JSON values before and after. Never a password or a token.
    """
    name = session.get_one(Person, person_id).name if person_id is not None else ""
    subject = subject.encode("utf-8", "replace").decode()  # a file's name may not be valid text
    session.add(Event(project_id=project_id, who=name, kind=kind, about=subject, old=old, new=new))
    session.flush()


def events_of(session: Session, project_id: int | None, limit: int, offset: int = 0) -> Sequence[Event]:
    """Return the events of the project, or without one of the installation, the newest first."""
    query = select(Event).where(_of(project_id)).order_by(Event.id.desc())
    return session.scalars(query.limit(limit).offset(offset)).all()


def count_events(session: Session, project_id: int | None) -> int:
    """Return how many events `events_of` would return without a limit."""
    return session.scalar(select(func.count()).where(_of(project_id))) or 0


def _of(project_id: int | None) -> ColumnElement[bool]:
    return Event.project_id.is_(None) if project_id is None else Event.project_id == project_id
