"""Garbage among the artifacts: what no row names and has not changed for a day, so that no running job loses files.

A unit is removed as a whole: the folder of a job, a design or a pre-trained encoder, a pipeline run, or all that is
left of a project.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import discard, store
from allpairs.db.files.home import place_of
from allpairs.db.files.object_store import OBJECTS, Store, is_within, written_at
from allpairs.db.projects.jobs import OPEN
from allpairs.db.results.explorations import FOLDER as EXPLORE
from allpairs.db.results.job_results import PREVIEWS
from allpairs.db.results.matches import FOLDER as MATCHES
from allpairs.db.results.pipelines import FOLDER as PIPELINES
from allpairs.db.schema.engine import artifacts, reading
from allpairs.db.schema.tables import Design, Job, Project, StoredModel

AGE = timedelta(days=1)
LONG_AGO = datetime.min.replace(tzinfo=UTC)
BASE = "base-"  # prefix of a pre-trained encoder's folder, which is kept as long as the project
_UNIT = re.compile(rf"project-\d+(?:/[^/]+)?|{PIPELINES}/[^/]+|\.(?:import|download)-[^/]+")


@dataclass(frozen=True)
class Garbage:
    """Something that no row names: its place below the artifact folder or the store's address, and its size."""

    place: str
    size: int
    in_store: bool  # objects that no manifest names, which removing units leaves behind


@dataclass
class _Unit:
    size: int = 0
    changed: datetime = LONG_AGO

    def add(self, size: int, changed: datetime) -> None:
        self.size, self.changed = self.size + size, max(self.changed, changed)


def garbage(engine: Engine, now: datetime) -> Iterator[Garbage]:
    """Yield what can be removed, sorted by place. Files are listed before rows, so that newly named ones are kept.

    Raises InputError if the files belong to another database.
    """
    remote = store()
    objects = remote.objects() if remote is not None else {}  # before manifests: new objects then count as named
    published = _published(remote) if remote is not None else {}
    units = _units(_files_here(), published)
    with reading(engine) as session:
        named = _named(session)
        projects = {f"project-{id_}" for id_ in session.scalars(select(Project.id))}
    _require_own(units, projects)
    for place, unit in sorted(_of_removed_projects_as_one(units, projects).items()):
        if unit.changed < now - AGE and not _is_kept(place, named, projects):
            yield Garbage(place, unit.size, in_store=False)
    # Left by killed uploads, and by files that were replaced.
    for key in sorted(objects.keys() - published.keys()):
        if written_at(key) < now - AGE:
            yield Garbage(key, objects[key], in_store=True)


def _require_own(units: Collection[str], projects: Collection[str]) -> None:
    """Raise InputError if the database has none of these projects: the files belong to another database."""
    folders = {unit.partition("/")[0] for unit in units if unit.startswith("project-")}
    if folders and folders.isdisjoint(projects):
        raise InputError(
            f"the database has none of the {len(folders):,} projects whose files are here, so nothing was removed: "
            "set ALLPAIRS_DATABASE_URL, ALLPAIRS_HOME and ALLPAIRS_ARTIFACTS to those of one installation"
        )


def remove(piece: Garbage) -> None:
    """Remove it, here and in the store."""
    remote = store()
    if piece.in_store and remote is not None:
        remote.remove(piece.place)
    else:
        discard(artifacts() / piece.place)


def _files_here() -> Iterator[tuple[str, int, datetime]]:
    """Yield place, size and time of all files and folders below the artifact folder; a folder has size 0."""
    for path in artifacts().rglob("*"):
        with suppress(FileNotFoundError):  # a job has just removed it
            status = path.stat()
            size = 0 if path.is_dir() else status.st_size
            yield path.relative_to(artifacts()).as_posix(), size, datetime.fromtimestamp(status.st_mtime, UTC)


def _published(remote: Store) -> dict[str, int]:
    """Return the sizes of the objects that manifests name, by key."""
    return {entry.key: entry.size for name in remote.names() for entry in (remote.read(name) or {}).values()}


def _units(files: Iterator[tuple[str, int, datetime]], published: dict[str, int]) -> dict[str, _Unit]:
    units: dict[str, _Unit] = {}
    objects = ((key.removeprefix(f"{OBJECTS}/"), size, written_at(key)) for key, size in published.items())
    for place, size, changed in (*files, *objects):
        if match := _UNIT.match(place):
            units.setdefault(match[0], _Unit()).add(size, changed)
    return units


def _of_removed_projects_as_one(units: Mapping[str, _Unit], projects: Collection[str]) -> dict[str, _Unit]:
    """Return the units, those of each project that is not there as one: its folder may be empty by now."""
    joined: dict[str, _Unit] = {}
    for place, unit in units.items():
        folder = place.partition("/")[0]
        is_removed = folder.startswith("project-") and folder not in projects
        joined.setdefault(folder if is_removed else place, _Unit()).add(unit.size, unit.changed)
    return joined


def _named(session: Session) -> set[str]:
    """Return the places that rows name: models, designs, jobs, and the encoders that projects use."""
    folders = {folder for column in (StoredModel.folder, Design.folder) for folder in session.scalars(select(column))}
    jobs = {f"{PIPELINES}/{job.id}" for job in session.scalars(select(Job))}
    jobs |= {f"project-{job.project_id}/{job.id}" for job in session.scalars(select(Job).where(Job.state.in_(OPEN)))}
    encoders = [settings.get("encoder") or "" for settings in session.scalars(select(Project.settings))]
    used = {place_of(Path(encoder).expanduser()) for encoder in encoders}
    return {place for place in folders | jobs | used if place}


def _is_kept(unit: str, named: Collection[str], projects: Collection[str]) -> bool:
    folder, _, name = unit.partition("/")
    of_project = name in ("", EXPLORE, MATCHES, PREVIEWS) or name.startswith(BASE)
    return (folder in projects and of_project) or any(is_within(place, unit) for place in named)
