"""Projects: made, found, changed, removed."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.domain import InputError, Kind
from db.experiments import FOLDER
from db.jobs import EXPERIMENT
from db.models import Answer, Design, Gold, Identifier, Item, Job, Lease, Matcher, Project, Round, Task

MAX_NAME = 80


def add_project(session: Session, name: str, kind: Kind, settings: dict[str, Any]) -> Project:
    """The new project, without items.

    Raises InputError for a name that is empty, too long, unprintable or taken.
    """
    project = Project(name=checked_name(name), kind=kind, settings=settings)
    session.add(project)
    try:
        session.flush()
    except IntegrityError:
        raise InputError(f"there is a project named {project.name!r} already; choose another name") from None
    return project


def checked_name(name: str) -> str:
    """The name without white space around it.

    Raises InputError for a name that is empty, too long or unprintable.
    """
    name = name.strip()
    if not 1 <= len(name) <= MAX_NAME:
        raise InputError(f"the project's name has {len(name)} characters; it must have 1 to {MAX_NAME}")
    if not name.isprintable():
        raise InputError(f"the project's name {name!r} has characters that cannot be shown; leave them out")
    return name


def numbered_name(session: Session, name: str) -> str:
    """The name itself, or where it is taken with the first free number: `Questions (2)`."""
    found, number = name, 1
    while session.scalar(select(Project.id).where(Project.name == found)) is not None:
        number += 1
        suffix = f" ({number})"
        found = name[: MAX_NAME - len(suffix)].rstrip() + suffix
    return found


def project_named(session: Session, name: str) -> Project:
    """The project of this name.

    Raises InputError where there is none.
    """
    project = session.scalar(select(Project).where(Project.name == name.strip()))
    if project is None:
        names = session.scalars(select(Project.name).order_by(Project.name).limit(10)).all()
        known = f"there are {', '.join(map(repr, names))}" if names else "there are none yet"
        raise InputError(f"there is no project named {name.strip()[:MAX_NAME]!r}; {known}")
    return project


def project_of(session: Session, project_id: int) -> Project:
    """The project of this id.

    Raises InputError where there is none.
    """
    project = session.get(Project, project_id)
    if project is None:
        raise InputError(f"there is no project number {project_id}; it may have been deleted")
    return project


def all_projects(session: Session) -> Sequence[Project]:
    """Every project, the newest first."""
    return session.scalars(select(Project).order_by(Project.created_at.desc(), Project.id.desc())).all()


def round_count(session: Session, project_id: int) -> int:
    """The number of batches made so far."""
    batches = select(func.count()).where(Round.project_id == project_id, Round.number.is_not(None))
    return session.scalar(batches) or 0


def remove_project(session: Session, project: Project) -> list[str]:
    """The artifact folders of the project's matchers, designs and experiments; its rows are gone."""
    matchers = select(Matcher.folder).where(Matcher.project_id == project.id)
    designs = select(Design.folder).where(Design.project_id == project.id)
    experiments = select(Job.id).where(Job.project_id == project.id, Job.kind == EXPERIMENT)
    found = [folder for folders in (matchers, designs) for folder in session.scalars(folders) if folder]
    found += [f"{FOLDER}/{job_id}" for job_id in session.scalars(experiments)]  # they hold copies of the texts
    session.execute(delete(Lease).where(Lease.task_id.in_(select(Task.id).where(Task.project_id == project.id))))
    for table in (Answer, Task, Round, Gold, Identifier, Item):  # children first: the cascade would look for each
        session.execute(delete(table).where(table.project_id == project.id))
    session.delete(project)
    session.flush()
    return found
