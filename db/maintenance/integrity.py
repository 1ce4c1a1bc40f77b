"""Integrity checks of an installation: database pages, references, labels, files named by rows, and artifacts."""

from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from allpairs.db.domain import DesignKind
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import is_there, store
from allpairs.db.files.checksums import Damaged, problems_below
from allpairs.db.files.json_file import read_json
from allpairs.db.files.object_store import Store
from allpairs.db.labels.answers import counting_ids
from allpairs.db.projects.stable_groups import group_id, wrong_groups
from allpairs.db.schema.engine import artifacts, reading
from allpairs.db.schema.tables import Base, Design, PairLabel, Project, StoredModel

ALL = 2**31 - 1  # no answer's id is above it
MOST_SHOWN = 5


def problems(engine: Engine) -> Iterator[str]:
    """Yield the problems of the database, a sentence each; its tables must be up to date."""
    with reading(engine) as session:
        yield from _pages(session)
        yield from _references(session)
        for project in session.scalars(select(Project)).all():
            yield from _labels(session, project)
            yield from _groups(session, project)
        yield from _files(session)
    remote = store()
    yield from problems_below(artifacts()) if remote is None else _objects(remote)


def _pages(session: Session) -> Iterator[str]:
    if session.connection().dialect.name == "sqlite":
        for line in session.connection().exec_driver_sql("PRAGMA integrity_check(5)").scalars():
            if line != "ok":
                yield f"the file is damaged: {line}"


def _references(session: Session) -> Iterator[str]:
    """Yield references to missing rows. PostgreSQL allows none; SQLite does if another program wrote."""
    for table in Base.metadata.sorted_tables:
        for key in table.foreign_keys:
            named = key.column.table
            target = named.alias()
            referenced = select(target).where(target.c[key.column.name] == key.parent)
            dangling = select(key.parent).where(key.parent.is_not(None), ~referenced.exists())
            lost = session.scalars(dangling.limit(MOST_SHOWN)).all()
            if lost:
                names = ", ".join(map(str, lost))
                yield f"{table.name}.{key.parent.name} names missing rows of {named.name}: {names}"


def _labels(session: Session, project: Project) -> Iterator[str]:
    label_answers = set(session.scalars(select(PairLabel.answer_id).where(PairLabel.project_id == project.id)))
    counting = set(session.scalars(counting_ids(project.id, ALL)))
    if label_answers != counting:
        differing = len(label_answers ^ counting)
        yield f"project {project.name!r}: {differing} labels do not match the answers"


def _groups(session: Session, project: Project) -> Iterator[str]:
    """Check that the groups have the sizes that their last changes say."""
    if wrong := wrong_groups(session, project.id):
        names = ", ".join(map(group_id, wrong[:MOST_SHOWN]))
        yield f"project {project.name!r}: {len(wrong)} groups are not as their record says: {names}"


def _files(session: Session) -> Iterator[str]:
    for model, noun in ((StoredModel, "model"), (Design, "design")):
        rows = select(Project.name, model.number, model.folder).join(Project, Project.id == model.project_id)
        if model is Design:  # other kinds keep no files
            rows = rows.where(Design.kind == DesignKind.AUDIT)
        for name, number, folder in session.execute(rows):
            if folder is not None and not _is_there(artifacts() / folder):
                yield f"project {name!r}: the folder of {noun} {number} is missing: {artifacts() / folder}"
    for matcher in session.scalars(
        select(StoredModel).where(StoredModel.folder.is_not(None), StoredModel.w.is_not(None))
    ):
        yield from _output_layer(matcher)


def _is_there(folder: Path) -> bool:
    """Return whether anything is there; True if its manifest is damaged, which is reported for the object."""
    try:
        return is_there(folder)
    except Damaged:
        return True


def _output_layer(matcher: StoredModel) -> Iterator[str]:
    """Check that the model's own file, which has no checksum, has the same w and b as the row."""
    file = artifacts() / str(matcher.folder) / "matcher.json"
    try:
        known = read_json(file)
        same = (known["w"], known["b"]) == (matcher.w, matcher.b)
    except (InputError, OSError, ValueError, KeyError, TypeError):
        same = False
    if not same and _is_there(file.parent):  # a missing folder is already reported
        yield f"the file is damaged: {file}"


def _objects(remote: Store) -> Iterator[str]:
    """Yield objects that are missing or have another size. Their content is verified when it is fetched."""
    sizes = remote.objects()
    for name in remote.names():
        try:
            for entry in (remote.read(name) or {}).values():
                if sizes.get(entry.key) != entry.size:
                    yield f"the object is damaged or missing: {remote.address}/{entry.key}"
        except InputError as error:
            yield str(error)
