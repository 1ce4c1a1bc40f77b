"""The history of changes to a project or the installation, for administrators."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import require
from allpairs.db.domain import version_of
from allpairs.db.projects.events import count_events, events_of
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Event

NOBODY = "without sign-in"  # the command line, an app without sign-in, or the app itself
LONGEST = 60  # characters of a value in a line
NOTHING = "–"


@dataclass(frozen=True)
class Events:
    """Some events, the newest first, and the total number."""

    events: Sequence[Event]
    total: int


def events(engine: Engine, project_id: int | None, limit: int, offset: int = 0) -> Events:
    """Return the project's events from `offset` on, or without a project those of the installation.

    Raises Refused without the right to change the project (or manage the installation).
    """
    with reading(engine) as session:
        right = Right.INSTALL if project_id is None else Right.CHANGE
        require(session, right, project_id)
        return Events(events_of(session, project_id, limit, offset), count_events(session, project_id))


def changes(event: Event, titles: Mapping[str, str] | None = None) -> list[str]:
    """Describe what the event changed, a line for each value: `first: 40 → 64`. Guidelines are named by version.

    titles: shown in place of the names of settings.
    """
    if not (isinstance(event.old, dict) or isinstance(event.new, dict)):
        return [] if event.old is event.new is None else [f"{_short(event.old)} → {_short(event.new)}"]
    return list(_by_name(event.old or {}, event.new or {}, titles or {}))


def _by_name(old: dict[str, Any], new: dict[str, Any], titles: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys([*old, *new]):
        values = [_short(_told(name, details[name])) for details in (old, new) if name in details]
        yield f"{titles.get(name, name)}: {' → '.join(values)}"


def _told(name: str, value: Any) -> Any:
    return f"version {version_of(value)}" if name == "guidelines" and isinstance(value, str) else value


def _short(value: Any) -> str:
    if value is None or value == "":
        return NOTHING
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def guidelines_of(event: Event) -> tuple[str, str] | None:
    """Return the guidelines before and after the event, if it changed them."""
    if not (isinstance(event.old, dict) and isinstance(event.new, dict) and "guidelines" in event.new):
        return None
    return str(event.old.get("guidelines", "")), str(event.new["guidelines"])
