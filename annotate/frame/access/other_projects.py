"""What an act takes from another project than its own, checked in the act's own transaction."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import require
from allpairs.db.domain import Settings
from allpairs.db.files.home import place_of
from allpairs.db.projects.projects import HOLDERS, project_named
from allpairs.db.schema.tables import Job, Project

_OF_PROJECT = re.compile(r"project-(\d{1,9})(?:/|$)")
_OF_JOB = re.compile(rf"(?:{'|'.join(HOLDERS.values())})/([^/]+)")


def project_for(session: Session, right: Right, name: str) -> Project:
    """Return the project of this name, in which the session's person has this right.

    Raises InputError if they cannot see it, and Refused without the right.
    """
    project = project_named(session, name)
    require(session, right, project.id)
    return project


def require_models(session: Session, named: object) -> None:
    """Raise Refused if a text in this value is the folder of a model that the session's person may not use.

    A model contains what the labels of its project have taught it, so using it takes the right to export them. Other
    texts, such as names on Hugging Face, pass.
    """
    if isinstance(named, str):
        path = Path(named)
        with suppress(RuntimeError):  # there is no user of this name
            path = path.expanduser()
        if (place := place_of(path)) is not None:
            owner = _owner(session, place)
            require(session, Right.INSTALL if owner is None else Right.CHANGE, owner)
    elif isinstance(named, Mapping):
        require_models(session, list(named.values()))
    elif isinstance(named, Sequence):
        for model in named:
            require_models(session, model)


def require_new_models(session: Session, settings: Settings, stored: Mapping[str, Any]) -> None:
    """Raise Refused as `require_models` does, if these settings name another encoder than the stored ones."""
    if settings.encoder != stored.get("encoder"):
        require_models(session, settings.encoder)


def _owner(session: Session, place: str) -> int | None:
    """Return the project to which a place below the artifact folder belongs; None if it belongs to none."""
    if of_project := _OF_PROJECT.match(place):
        return int(of_project[1])
    of_job = _OF_JOB.match(place)
    job = session.get(Job, of_job[1]) if of_job else None
    return job.project_id if job is not None else None
