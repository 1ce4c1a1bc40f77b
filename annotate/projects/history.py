"""What people changed in a project or in the installation, as administrators look through it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from annotate.access.roles import Right
from annotate.access.transactions import require
from db.domain import RENAMED, version_of
from db.projects.events import count_events, events_of
from db.schema.engine import person_of, reading
from db.schema.tables import Event

NOBODY = "without login"  # the command line, the app alone, or what the app does by itself
LONGEST = 60  # characters of a value in a line
NOTHING = "–"


@dataclass(frozen=True)
class Events:
    """Some events, the newest first, and how many there are in all."""

    shown: Sequence[Event]
    total: int


def events(engine: Engine, project_id: int | None, limit: int, offset: int = 0) -> Events:
    """The events of the project from `offset` on, or without one those of the installation.

    Raises Refused for those who may not change the project (or manage the installation).
    """
    with reading(engine) as session:
        right = Right.INSTALL if project_id is None else Right.CHANGE
        require(session, person_of(engine), right, project_id)
        return Events(events_of(session, project_id, limit, offset), count_events(session, project_id))


def changes(event: Event, titles: Mapping[str, str] | None = None) -> list[str]:
    """What the event changed, a line for each value: `first: 40 → 64`. Guidelines are told by their versions.

    titles: in place of the names of settings.
    """
    if not (isinstance(event.old, dict) or isinstance(event.new, dict)):
        return [] if event.old is event.new is None else [f"{_short(event.old)} → {_short(event.new)}"]
    return list(_by_name(event.old or {}, event.new or {}, titles or {}))


def _by_name(old: dict[str, Any], new: dict[str, Any], titles: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys([*old, *new]):
        values = [_short(_told(name, which[name])) for which in (old, new) if name in which]
        yield f"{titles.get(RENAMED.get(name, name), name)}: {' → '.join(values)}"


def _told(name: str, value: Any) -> Any:
    return f"version {version_of(value)}" if name == "guidelines" and isinstance(value, str) else value


def _short(value: Any) -> str:
    if value is None or value == "":
        return NOTHING
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def guidelines_of(event: Event) -> tuple[str, str] | None:
    """The guidelines before and after the event, where it changed them."""
    if not (isinstance(event.old, dict) and isinstance(event.new, dict) and "guidelines" in event.new):
        return None
    return str(event.old.get("guidelines", "")), str(event.new["guidelines"])
