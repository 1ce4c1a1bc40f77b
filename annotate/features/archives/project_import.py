"""Import of a project's archive: all of it or nothing."""

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4
from zipfile import BadZipFile, ZipFile

from sqlalchemy import Engine, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.orm import Session

from allpairs.annotate.features.archives.archive_files import renumber_files, require_room, unpack
from allpairs.annotate.features.archives.archive_settings import arrived_encoder, arrived_settings, left_out
from allpairs.annotate.features.archives.project_export import FORMAT, MANIFEST, VERSION, table_file
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.db.corpus.cells import shown
from allpairs.db.domain import EventKind
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import discard, publish_files
from allpairs.db.maintenance.error_messages import fault_of
from allpairs.db.maintenance.row_checks import column_checks, wrong_in
from allpairs.db.maintenance.transfer import MAPPED, TABLES, Arrival, Numbering, Row, lacking
from allpairs.db.projects.events import add_event
from allpairs.db.projects.matchers import matchers_of
from allpairs.db.projects.projects import checked_name, numbered_name
from allpairs.db.projects.publications import end_publications
from allpairs.db.schema.engine import artifacts, person_of
from allpairs.db.schema.tables import Design, Item, MachineRater, Project, StoredModel, Task, now

MOST_MANIFEST: Final = 1 << 20  # bytes
MOST_LINE: Final = 1 << 26
MOST_SAID: Final = 240  # characters of an error about a row
# What a damaged or foreign file raises: zipfile and json (RuntimeError: unknown compression, a password, endless
# nesting), json and the checks here (ValueError), rows and manifests of another shape (KeyError, TypeError,
# AttributeError, OverflowError), arrays that claim to be larger than the memory, and the tables.
_DAMAGE = (
    BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    TypeError,
    AttributeError,
    ValueError,
    OverflowError,
    MemoryError,
    RuntimeError,
    SQLAlchemyError,
)


@dataclass(frozen=True)
class Arrived:
    """The imported project; notes: what the user should know about it."""

    project_id: int
    name: str
    rows: dict[str, int]
    notes: list[str]


def import_project(engine: Engine, path: Path, name: str | None = None, encoder: str | None = None) -> Arrived:
    """Import a project under the given name or its own, with a number added if the name is taken or looks like one.

    encoder: takes the place of folders that the archive names as encoders. Raises InputError, and stores nothing, for a
    file that is damaged, from a later version, or not an archive, for a value that the tables cannot hold, and for such
    a folder if no encoder is given.
    """
    if name is not None:
        checked_name(name)
    with _explained(path), ZipFile(path) as bundle:
        return _Import(path, bundle, encoder).into(engine, name)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn the exceptions of a damaged archive into a one-line error."""
    try:
        yield
    except DBAPIError as error:
        if fault_of(error):
            raise
        raise _damaged(path, "rows that do not fit the tables") from None
    except RecursionError:  # which every version of Python words in its own way
        raise _damaged(path, "lists in lists without end") from None
    except _DAMAGE as error:
        raise _damaged(path, str(error).splitlines()[0] if str(error) else type(error).__name__) from None
    except OSError as error:
        raise InputError(f"{path.name}: cannot read or unpack the file ({error.strerror or error})") from None


def _damaged(path: Path, damage: str) -> InputError:
    return InputError(f"{path.name}: not a complete project archive ({damage}); nothing was imported: export it again")


class _Import:
    """One archive during its import."""

    def __init__(self, path: Path, bundle: ZipFile, encoder: str | None) -> None:
        self.path = path
        self.bundle = bundle
        self.encoder = encoder
        self.notes: list[str] = []
        self.tables = self._manifest()

    def into(self, engine: Engine, name: str | None) -> Arrived:
        place = artifacts() / f".import-{uuid4().hex}"
        require_room(self.bundle.infolist(), self.path)
        try:
            unpack(self.bundle, place, self.path)  # before the transaction: other writers should not wait for files
            with acting(engine, Right.INSTALL) as session:
                arrival = Arrival(session)
                project = self._begin(session, arrival, name)
                rows = {Project.__tablename__: 1} | {name: self._add(arrival, name) for name in list(TABLES)[1:]}
                arrival.set_cutoffs()
                self._settle(session, arrival, place)
                new = {"archive": self.path.name}
                add_event(session, person_of(engine), EventKind.CREATED, arrival.project_id, project, new=new)
                home = artifacts() / f"project-{arrival.project_id}"
                discard(home)  # left by an import that was killed before its commit
                place = place.replace(home)
                publish_files(home)
        except BaseException:
            discard(place)
            raise
        return Arrived(arrival.project_id, project, rows, self.notes)

    def _manifest(self) -> dict[str, Any]:
        """Return the rows and columns of each table."""
        info = self.bundle.getinfo(MANIFEST)
        if info.file_size > MOST_MANIFEST:
            raise ValueError("its manifest is too long")
        manifest = json.loads(self.bundle.read(info))
        if manifest["format"] != FORMAT:
            raise ValueError(f"its format is {shown(manifest['format'])}")
        if manifest["version"] > VERSION:
            versions = f"format version {manifest['version']:.9g}, this installation reads up to {VERSION}"
            raise InputError(f"{self.path.name}: the archive has {versions}; install a newer Allpairs")
        tables: dict[str, Any] = manifest["tables"]
        self.notes += [
            f"this version of Allpairs has no table {shown(name)}, so it was left out"
            for name in tables.keys() - TABLES.keys()
        ]
        for name, table in TABLES.items():
            if name not in tables:
                raise ValueError(f"table {name} is missing")
            if missing := lacking(table, tables[name]["columns"]):
                raise ValueError(f"table {name} lacks {', '.join(missing)}")
            if unknown := [column for column in tables[name]["columns"] if column not in table.columns]:
                self.notes.append(left_out(name, unknown))
        return tables

    def _begin(self, session: Session, arrival: Arrival, name: str | None) -> str:
        row = next(self._rows(Project.__tablename__), None)
        if row is None:
            raise ValueError(f"table {Project.__tablename__} is empty")
        try:
            original_name = name or checked_name(row["name"])
            settings = arrived_settings(row["settings"], self.encoder, self.notes.append)
        except InputError as error:
            raise self._refused(Project.__tablename__, 1, "", str(error)) from None
        project_name = numbered_name(session, original_name)
        if project_name != original_name:
            notice = f"a project named {original_name!r}, or with a name that looks like it, exists already"
            self.notes.append(f"{notice}, so this one is named {project_name!r}")
        arrival.begin({**row, "name": project_name, "settings": settings})
        return project_name

    def _add(self, arrival: Arrival, name: str) -> int:
        def changed(rows: list[Row]) -> list[Row]:
            for row in rows:
                if name == Task.__tablename__:
                    row["alike"] = _renumbered(row.get("alike"), arrival.numbers[Item.__tablename__])
                if name in (StoredModel.__tablename__, Design.__tablename__):
                    row["folder"] = _folder(arrival.project_id, name, row)
                if name == MachineRater.__tablename__:
                    self._end_rater(row)
            return rows

        stored = arrival.add(TABLES[name], self._rows(name), changed)
        if stored != self.tables[name]["rows"]:
            raise ValueError(f"table {name} has {stored:,} of {self.tables[name]['rows']:,} rows")
        return stored

    def _rows(self, name: str) -> Iterator[Row]:
        """Yield the table's rows, checked. Raises InputError for the first value that a table cannot hold."""
        checks = column_checks(MAPPED[name])
        with self.bundle.open(table_file(name)) as stream:
            number = 0
            while line := stream.readline(MOST_LINE):
                number += 1
                row = json.loads(line, parse_constant=lambda _: None)  # NaN, which PostgreSQL does not take in JSON
                if wrong := wrong_in(row, checks):
                    raise self._refused(name, number, *wrong)
                if name == StoredModel.__tablename__:
                    try:
                        row["encoder"] = arrived_encoder(row["encoder"], self.encoder)
                    except InputError as error:
                        raise self._refused(name, number, "encoder", str(error)) from None
                yield row

    def _refused(self, table: str, row: int, column: str, problem: str) -> InputError:
        place = f", column {column!r}" if column else ""
        problem = problem if len(problem) <= MOST_SAID else problem[:MOST_SAID] + "…"
        return InputError(f"{self.path.name}: {table_file(table)}, row {row}{place}: {problem}; nothing was imported")

    def _settle(self, session: Session, arrival: Arrival, partial: Path) -> None:
        """Give designs and files the new item ids, end what is published, and note which models are missing."""
        items = arrival.numbers[Item.__tablename__]
        for design in session.scalars(select(Design).where(Design.project_id == arrival.project_id)):
            if "sample" in design.details:
                design.details = {**design.details, "sample": _renumbered(design.details["sample"], items)}
        renumber_files(partial, items)
        for kind in end_publications(session, arrival.project_id):
            self.notes.append(f"the {kind} that was in service has ended: publish a round to have it answer here")
        without = [
            matcher.number
            for matcher in matchers_of(session, arrival.project_id)
            if matcher.folder and not (partial / f"round-{matcher.number}" / "model").is_dir()
        ]
        if without:
            rounds = ", ".join(map(str, sorted(without)))
            self.notes.append(f"the archive has no model of round {rounds}: only its figures were imported")

    def _end_rater(self, row: Row) -> None:
        """End a rater on arrival: whoever wrote the archive must not choose where texts and the worker's key go."""
        if row.get("ended_at") is None:
            row["ended_at"] = now()
            name = shown(row["setup"]["name"])
            self.notes.append(f"the machine rater {name} has ended: set it up again to have it asked here")


def _folder(project_id: int, table: str, row: Row) -> str | None:
    if row["folder"] is None:
        return None
    kind = "round-{}/model" if table == StoredModel.__tablename__ else "design-{}"
    return f"project-{project_id}/{kind.format(int(row['number']))}"


def _renumbered(pairs: list[list[Any]] | None, items: Numbering) -> list[list[Any]] | None:
    """Return the pairs, and any values beside them, with the new ids of their items."""
    return None if pairs is None else [[items.of(left), items.of(right), *values] for left, right, *values in pairs]
