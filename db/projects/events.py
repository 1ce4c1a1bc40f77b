"""Events: who changed what in a project, or in the installation. Appended in the transaction of the act itself."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from db.domain import EventKind
from db.schema.tables import Event, Person


def add_event(
    session: Session,
    by: int | None,
    kind: EventKind,
    project_id: int | None = None,
    about: str = "",
    old: Any = None,
    new: Any = None,
) -> None:
    """Nothing; it is known that this happened. by: the person who did it; nobody: without a login.

    old, new: what it was and is, as JSON has it. Never a password or a token.
    """
    who = session.get_one(Person, by).name if by is not None else ""
    about = about.encode("utf-8", "replace").decode()  # a file's name may be no text
    session.add(Event(project_id=project_id, who=who, kind=kind, about=about, old=old, new=new))
    session.flush()


def events_of(session: Session, project_id: int | None, limit: int, offset: int = 0) -> Sequence[Event]:
    """The events of the project, or without one of the installation, the newest first."""
    wanted = select(Event).where(_of(project_id)).order_by(Event.id.desc())
    return session.scalars(wanted.limit(limit).offset(offset)).all()


def count_events(session: Session, project_id: int | None) -> int:
    """How many events `events_of` would give without a limit."""
    return session.scalar(select(func.count()).where(_of(project_id))) or 0


def _of(project_id: int | None) -> ColumnElement[bool]:
    return Event.project_id.is_(None) if project_id is None else Event.project_id == project_id
