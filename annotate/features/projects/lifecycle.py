"""Names of projects, copies, the archive and the bin."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, count

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from allpairs.annotate.features.projects.projects import delete_project
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting, require
from allpairs.db.domain import EventKind
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import size_of
from allpairs.db.files.object_store import is_within
from allpairs.db.labels.answers import label_counts
from allpairs.db.maintenance.project_copy import copy_items, copy_labels
from allpairs.db.projects.events import add_event
from allpairs.db.projects.jobs import stop_jobs
from allpairs.db.projects.projects import (
    add_project,
    all_projects,
    artifact_folders,
    binned_projects,
    free_name,
    free_name_like,
    numbered_name,
    project_of,
)
from allpairs.db.schema.engine import artifacts, person_of, reading
from allpairs.db.schema.tables import Item, StoredModel, now

BIN_TIME = timedelta(days=7)  # in the bin


@dataclass(frozen=True)
class Binned:
    """A project in the bin, and when it will be removed permanently."""

    id: int
    name: str
    deleted_at: datetime
    removed_at: datetime


@dataclass(frozen=True)
class Holdings:
    """What a project contains; `folder_bytes`: size of its models, vectors and experiments on disk."""

    items: int
    labels: int
    models: int
    folder_bytes: int


def has_projects(engine: Engine) -> bool:
    """Return whether there is any project, archived and binned ones included."""
    with reading(engine) as session:
        return bool(all_projects(session, archived=True) or binned_projects(session))


def name_problem(engine: Engine, name: str) -> str:
    """Return why no new project can have this name, in a sentence; empty if it is valid and free.

    Does not reveal existing project names to people who may not make projects.
    """
    try:
        with reading(engine) as session:
            require(session, Right.INSTALL)
            free_name(session, name)
    except InputError as error:
        return str(error)
    return ""


def suggested_name(engine: Engine, files: Sequence[str]) -> str:
    """Return a free name for a project of these files: `Questions`, or `Questions (2)` if that is taken."""
    stems = dict.fromkeys(re.sub(r"\.\w{1,7}(\.gz)?$", "", file) for file in files)
    words = [" ".join("".join(filter(str.isprintable, stem.replace("_", " "))).split()) for stem in stems]
    name = " and ".join(filter(None, words)) or "Project"
    with reading(engine) as session:
        require(session, Right.INSTALL)
        return numbered_name(session, name[0].upper() + name[1:])


def archive_project(engine: Engine, project_id: int) -> None:
    """Archive the project: hide it from lists and cancel its jobs."""
    with acting(engine, Right.CHANGE, project_id) as session:
        project = project_of(session, project_id)
        project.archived_at = now()
        stop_jobs(session, project_id)
        add_event(session, person_of(engine), EventKind.ARCHIVED, project_id, project.name)


def bin_project(engine: Engine, project_id: int) -> None:
    """Move the project to the bin for seven days, and cancel its jobs.

    Raises InputError for a project that is already there.
    """
    with acting(engine, Right.CHANGE, project_id, put_away=True) as session:
        project = project_of(session, project_id)
        if project.deleted_at is not None:
            raise InputError(f"the project {project.name!r} is already in the bin")
        project.deleted_at = now()
        stop_jobs(session, project_id)
        add_event(session, person_of(engine), EventKind.BINNED, project_id, project.name)


def restore_project(engine: Engine, project_id: int) -> None:
    """Restore the project from the bin, archived or not as before; or else from the archive.

    Raises InputError for a project that is neither in the bin nor archived.
    """
    with acting(engine, Right.CHANGE, project_id, put_away=True) as session:
        project = project_of(session, project_id)
        if project.deleted_at is not None:
            project.deleted_at = None
        elif project.archived_at is not None:
            project.archived_at = None
        else:
            raise InputError(f"the project {project.name!r} is neither archived nor in the bin")
        add_event(session, person_of(engine), EventKind.RESTORED, project_id, project.name)


def list_archive(engine: Engine) -> list[str]:
    """Return the names of the archived projects, the newest first."""
    with reading(engine) as session:
        return [project.name for project in all_projects(session, archived=True) if project.archived_at is not None]


def list_bin(engine: Engine) -> list[Binned]:
    """Return the projects in the bin, the last deleted first."""
    with reading(engine) as session:
        return [
            Binned(project.id, project.name, project.deleted_at, project.deleted_at + BIN_TIME)
            for project in binned_projects(session)
            if project.deleted_at is not None
        ]


def empty_bin(engine: Engine, time: datetime) -> list[str]:
    """Delete the projects that have been in the bin for seven days at this time; return their names.

    Keeps a project that somebody restores meanwhile, or whose models another project uses.
    """
    with reading(engine) as session:
        expired = [(project.id, project.name) for project in binned_projects(session, before=time - BIN_TIME)]
    deleted = []
    for project_id, name in expired:
        with suppress(InputError):
            delete_project(engine, project_id, binned_before=time - BIN_TIME)
            deleted.append(name)
    return deleted


def holdings(engine: Engine, project_id: int) -> Holdings:
    """Return what would be deleted with the project."""
    with reading(engine) as session:
        items = session.scalar(select(func.count()).where(Item.project_id == project_id)) or 0
        models = (
            session.scalar(select(func.count()).where(StoredModel.project_id == project_id, StoredModel.number > 0))
            or 0
        )
        labels = sum(label_counts(session, project_id).values())
        folders = artifact_folders(session, project_id)
    outermost = {
        folder for folder in folders if not any(is_within(folder, outer) for outer in folders if outer != folder)
    }
    return Holdings(items, labels, models, sum(size_of(artifacts() / folder) for folder in outermost))


def duplicate_project(engine: Engine, project_id: int, labels: bool, name: str = "") -> tuple[int, str]:
    """Copy a project's items, known pairs and settings, and optionally its labels; return the copy's id and name.

    Rounds and models are not copied. Without a name, the first free one of "… copy", "… copy 2" and so on is used.
    Raises InputError for a name that is taken or looks like one that is, and for a project in the bin.
    """
    with acting(engine, Right.INSTALL) as session:
        project = project_of(session, project_id)
        if project.deleted_at is not None:
            raise InputError(f"the project {project.name!r} is in the bin: restore it first")
        named = name or _name_of_copy(session, project.name)
        copy = add_project(session, named, project.kind, dict(project.settings), project.text_columns)
        copy_items(session, project_id, copy.id)
        if labels:
            copy_labels(session, project_id, copy.id)
        new = {"copy of": project.name, "labels": labels}
        add_event(session, person_of(engine), EventKind.CREATED, copy.id, copy.name, new=new)
        return copy.id, copy.name


def name_of_copy(engine: Engine, name: str) -> str:
    """Return the first free name of "… copy", "… copy 2" and so on. Raises Refused for who may not make projects."""
    with reading(engine) as session:
        require(session, Right.INSTALL)
        return _name_of_copy(session, name)


def _name_of_copy(session: Session, name: str) -> str:
    return free_name_like(session, name, chain([" copy"], (f" copy {number}" for number in count(2))))
