"""Set up a project's machine rater, change, end and resume it."""

import os
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.db.domain import EventKind
from allpairs.db.errors import InputError
from allpairs.db.projects.events import add_event
from allpairs.db.raters.rows import NO_RATER, rater_in_use, raters_of, setup_of
from allpairs.db.rating import RaterKind, RaterSetup, require_usable
from allpairs.db.schema.engine import person_of
from allpairs.db.schema.tables import MachineRater, Person, now


def checked_setup(values: Mapping[str, Any]) -> RaterSetup:
    """Return the setup with these values; without a kind, it is a function if one is named, else an endpoint.

    Raises InputError with one line for all mistakes, and for a function or key that the operator has not named.
    """
    kind = RaterKind.FUNCTION if values.get("function") else RaterKind.ENDPOINT
    try:
        setup = RaterSetup.model_validate({"kind": kind, **values})
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, e['loc']))}: {e['msg'].lower()}, not {e['input']!r}" for e in error.errors())
        raise InputError("machine rater: " + "; ".join(wrong)) from None
    require_usable(setup, os.environ)
    return setup


def set_up(engine: Engine, project_id: int, setup: RaterSetup) -> int:
    """Put a rater with this setup into use and return its number. The one before it ends, and stays in the record.

    It takes the right to manage the installation: a setup says where texts go, and which key or Python function of the
    worker is used. Raises InputError if it is the setup in use.
    """
    setup = checked_setup(setup.model_dump())
    with acting(engine, Right.INSTALL, project_id) as session:
        before = rater_in_use(session, project_id)
        if before is not None and setup_of(before) == setup:
            raise InputError("this is the machine rater in use: nothing has changed")
        number = max((row.number for row in raters_of(session, project_id)), default=0) + 1
        if before is not None:
            before.ended_at = now()
            session.flush()  # before the new row: a project has one rater in use
        person_id = person_of(session.connection())
        person = session.get_one(Person, person_id).name if person_id is not None else ""
        session.add(MachineRater(project_id=project_id, number=number, setup=setup.model_dump(mode="json"), who=person))
        _record(session, EventKind.RATER_SET, project_id, setup, before and _told(setup_of(before)), _told(setup))
        return number


def retire_rater(engine: Engine, project_id: int) -> None:
    """End the rater in use: it is asked nothing more, and its verdicts stay. Raises InputError if there is none."""
    with acting(engine, Right.CHANGE, project_id) as session:
        rater = _in_use(session, project_id)
        rater.ended_at = now()
        _record(session, EventKind.RATER_ENDED, project_id, setup_of(rater))


def resume(engine: Engine, project_id: int) -> None:
    """Let the rater be asked again if it is paused; it pauses again if the reason still holds.

    Raises InputError if no rater is in use.
    """
    with acting(engine, Right.CHANGE, project_id) as session:
        rater = _in_use(session, project_id)
        if rater.paused_at is not None:
            rater.paused_at = rater.paused_why = None
            _record(session, EventKind.RATER_RESUMED, project_id, setup_of(rater))


def _in_use(session: Session, project_id: int) -> MachineRater:
    rater = rater_in_use(session, project_id)
    if rater is None:
        raise InputError(NO_RATER)
    return rater


def _told(setup: RaterSetup) -> dict[str, Any]:
    """Return what the history shows of a setup: what differs from the defaults."""
    return setup.model_dump(mode="json", exclude_defaults=True)


def _record(
    session: Session, kind: EventKind, project_id: int, setup: RaterSetup, old: object = None, new: object = None
) -> None:
    add_event(session, person_of(session.connection()), kind, project_id, setup.name, old, new)
