"""Projects: added, found, named, removed."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

from sqlalchemy import Select, delete, exists, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from allpairs.db.confusables import skeleton
from allpairs.db.domain import Kind, Settings
from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import EXPERIMENT, PIPELINE
from allpairs.db.results import experiments, pipelines
from allpairs.db.schema.engine import person_of
from allpairs.db.schema.tables import (
    Answer,
    Design,
    Gold,
    Identifier,
    IdentifierChange,
    Item,
    Job,
    Lease,
    Membership,
    PairLabel,
    Person,
    Project,
    Round,
    StoredModel,
    Task,
)

MAX_NAME = 80


class ProjectGone(InputError):
    """The project is archived, in the bin, or removed, so that nothing goes on in it."""


class PutAway(ProjectGone):
    """The project is archived or in the bin, from where it can be restored."""


HOLDERS = {EXPERIMENT: experiments.FOLDER, PIPELINE: pipelines.FOLDER}  # jobs whose folders hold copies of texts


def add_project(
    session: Session, name: str, kind: Kind, settings: dict[str, Any], text_columns: dict[str, Any] | None = None
) -> Project:
    """Add a project without items. text_columns: the names of each side's text columns, if a file has several.

    Raises InputError for a name that is empty, too long, unprintable, taken or looks like one that is (`free_name`).
    """
    project = Project(name=free_name(session, name), kind=kind, settings=settings, text_columns=text_columns)
    session.add(project)
    try:
        session.flush()
    except IntegrityError:  # somebody else has just added it
        raise InputError(f"{_NAME_TAKEN[''].format(project.name)}; choose another name") from None
    return project


_NAME_TAKEN = {
    "": "a project named {!r} exists already",
    "archived": "an archived project is named {!r}",
    "binned": "a project named {!r} is in the bin",
}


def free_name(session: Session, name: str) -> str:
    """Return the name without white space around it.

    Raises InputError as `checked_name` does, and for a name that is taken, or looks like one that is, even in the
    archive or the bin. It names that project, so only people who see all projects may try names.
    """
    name, looks = checked_name(name), skeleton(name)
    projects = session.execute(select(Project.name, Project.archived_at, Project.deleted_at)).all()
    alike = [project for project in projects if skeleton(project.name) == looks]
    if alike:
        project = min(alike, key=lambda project: project.name != name)  # the same name before one that only looks so
        problem = _NAME_TAKEN["binned" if project.deleted_at else "archived" if project.archived_at else ""].format(
            project.name
        )
        looking = "" if project.name == name else f", and {name!r} looks the same"
        raise InputError(f"{problem}{looking}; choose another name")
    return name


def checked_name(name: str) -> str:
    """Return the name without white space around it.

    Raises InputError for a name that is empty, too long or unprintable.
    """
    name = name.strip()
    if not 1 <= len(name) <= MAX_NAME:
        raise InputError(f"the project's name has {len(name)} characters; it must have 1 to {MAX_NAME}")
    if not name.isprintable():
        raise InputError(f"the project's name {name!r} has unprintable characters; remove them")
    return name


def numbered_name(session: Session, name: str) -> str:
    """Return the name itself, or if it is taken, with the first free number: `Questions (2)`."""
    return free_name_like(session, name, chain([""], (f" ({number})" for number in count(2))))


def free_name_like(session: Session, name: str, endings: Iterable[str]) -> str:
    """Return the name, shortened to fit, with the first of these endings with which it looks like no other."""
    known_skeletons = {skeleton(name) for name in session.scalars(select(Project.name))}
    names = (name[: MAX_NAME - len(ending)].rstrip() + ending for ending in endings)
    return next(candidate for candidate in names if skeleton(candidate) not in known_skeletons)


def visible_to(session: Session, projects: Select[Any]) -> Select[Any]:
    """Restrict the select to projects that the session's person may see; all of them for the system.

    Every way to a project leads through here, so that other projects do not exist for a person.
    """
    person = person_of(session.connection())
    if person is None:
        return projects
    enabled = (Person.id == person) & Person.disabled_at.is_(None)
    let_into = select(Membership.project_id).join(Person, Person.id == Membership.person_id).where(enabled)
    return projects.where(Project.id.in_(let_into) | exists().where(enabled, Person.administrator))


def project_named(session: Session, name: str, in_bin: bool = False) -> Project:
    """Return the project of this name, archived or not; one in the bin only if asked for.

    Raises InputError if there is none.
    """
    project = session.scalar(visible_to(session, select(Project).where(Project.name == name.strip())))
    if project is None:
        query = visible_to(session, select(Project.name).where(Project.deleted_at.is_(None)))
        names = session.scalars(query.order_by(Project.name).limit(10)).all()
        known = f"the projects are {', '.join(map(repr, names))}" if names else "there are no projects yet"
        raise InputError(f"there is no project named {name.strip()[:MAX_NAME]!r}; {known}")
    if project.deleted_at is not None and not in_bin:
        raise InputError(f"the project {project.name!r} is in the bin: restore it first")
    return project


def project_of(session: Session, project_id: int, lock: bool = False) -> Project:
    """Return the project of this id; lock: whoever else locks it waits until this transaction ends.

    Raises ProjectGone if there is none.
    """
    query = visible_to(session, select(Project).where(Project.id == project_id))
    if lock:  # what was read before somebody else let go may be old
        query = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    project = session.scalar(query)
    if project is None:
        raise ProjectGone("there is no project number {number}: it may have been removed", number=project_id)
    return project


_PUT_AWAY = {
    False: "the project {name!r} is archived: restore it on the page “Projects” first",
    True: "the project {name!r} is in the bin: restore it on the page “Projects” first",
}


def live_project(session: Session, project_id: int, lock: bool = False) -> Project:
    """Return the project of this id; lock: as in `project_of`.

    Raises ProjectGone if there is none, and PutAway if it is archived or in the bin.
    """
    project = project_of(session, project_id, lock)
    if project.deleted_at is not None or project.archived_at is not None:
        raise PutAway(_PUT_AWAY[project.deleted_at is not None], name=project.name)
    return project


def project_settings(session: Session, project_id: int) -> Settings:
    """Return the project's settings. Raises ProjectGone if there is no such project."""
    return Settings.model_validate(project_of(session, project_id).settings)


def all_projects(session: Session, archived: bool = False) -> Sequence[Project]:
    """Return every project, the newest first: without those in the bin, and without archived ones unless asked for."""
    query = visible_to(session, select(Project).where(Project.deleted_at.is_(None)))
    if not archived:
        query = query.where(Project.archived_at.is_(None))
    return session.scalars(query.order_by(Project.created_at.desc(), Project.id.desc())).all()


def binned_projects(session: Session, before: datetime | None = None) -> Sequence[Project]:
    """Return the projects in the bin, the last deleted first; `before`: only those deleted before that time."""
    binned = visible_to(session, select(Project).where(Project.deleted_at.is_not(None)))
    if before is not None:
        binned = binned.where(Project.deleted_at < before)
    return session.scalars(binned.order_by(Project.deleted_at.desc(), Project.id.desc())).all()


def round_count(session: Session, project_id: int) -> int:
    """Return the number of batches so far."""
    batches = select(func.count()).where(Round.project_id == project_id, Round.number.is_not(None))
    return session.scalar(batches) or 0


def artifact_folders(session: Session, project_id: int) -> list[str]:
    """Return the artifact folders of the project's vectors, matchers, designs and jobs."""
    matchers = select(StoredModel.folder).where(StoredModel.project_id == project_id)
    designs = select(Design.folder).where(Design.project_id == project_id)
    jobs = select(Job.kind, Job.id).where(Job.project_id == project_id, Job.kind.in_(HOLDERS))
    folders = [folder for folders in (matchers, designs) for folder in session.scalars(folders) if folder]
    folders += [f"{HOLDERS[kind]}/{job_id}" for kind, job_id in session.execute(jobs)]
    return [*folders, f"project-{project_id}"]


def require_unused(session: Session, run: Path, excepted: int | None = None) -> None:
    """Raise InputError if a project uses the encoder in this run's folder; excepted: the one that may."""
    visible_ids = {project.id for project in all_projects(session, archived=True)}
    for project in session.scalars(select(Project).where(Project.id != excepted) if excepted else select(Project)):
        if Path(str(project.settings.get("encoder", ""))).is_relative_to(run.resolve()):
            user = f"the project {project.name!r}" if project.id in visible_ids else "another project"
            raise InputError(f"{user} uses the encoder of the run {run.name}: choose another in its settings first")


def remove_project(session: Session, project: Project) -> list[str]:
    """Delete the project's rows; return its artifact folders, which the caller removes."""
    folders = artifact_folders(session, project.id)
    session.execute(delete(Lease).where(Lease.task_id.in_(select(Task.id).where(Task.project_id == project.id))))
    for table in (
        PairLabel,
        Answer,
        Task,
        Round,
        Gold,
        Identifier,
        IdentifierChange,
        Item,
    ):  # children first: the cascade would search for each row
        session.execute(delete(table).where(table.project_id == project.id))
    session.delete(project)
    session.flush()
    return folders
