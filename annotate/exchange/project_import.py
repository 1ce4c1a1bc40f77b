"""Import of a project's archive: all of it or nothing."""

import json
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path, PurePosixPath
from typing import Any, Final
from uuid import uuid4
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np
from pydantic import ValidationError
from sqlalchemy import Engine, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.orm import Session

from allpairs.annotate.access.roles import Right
from allpairs.annotate.access.transactions import acting
from allpairs.annotate.exchange.project_export import (
    COPIED,
    DESIGNS,
    FORMAT,
    MANIFEST,
    MODELS,
    OLD_SCORES,
    VECTORS,
    VERSION,
    table_file,
)
from allpairs.db.domain import PICKLED, EventKind, Settings, renamed
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import discard, publish
from allpairs.db.maintenance.transfer import LATER, TABLES, Arrival, Numbering, Row, lacking
from allpairs.db.projects.events import add_event
from allpairs.db.projects.matchers import SCORES, matchers_of
from allpairs.db.projects.projects import checked_name, numbered_name
from allpairs.db.results.pipelines import require_reranker
from allpairs.db.schema.engine import artifacts, person_of
from allpairs.db.schema.tables import Answer, CheckAnswer, Design, Item, Matcher, Project, Task

MOST_MANIFEST: Final = 1 << 20  # bytes
MOST_LINE: Final = 1 << 26
MOST_PACKED: Final = 200  # an archive may unpack to so many times its size; tables of text reach 30
KEYED: dict[str, type[Answer] | type[CheckAnswer]] = {table.__tablename__: table for table in (Answer, CheckAnswer)}
DECKS = "decks.npz"  # of a design
SIDES = ("left.npy", "right.npy")  # in sampling orders and scores: arrays of item ids
# What a damaged or foreign file raises: zipfile and json (RuntimeError: unknown compression, a password, endless
# nesting), json and the checks here (ValueError), rows and manifests of another shape (KeyError, TypeError,
# AttributeError, OverflowError), and the tables.
_DAMAGE = (BadZipFile, zlib.error, EOFError, KeyError, TypeError, AttributeError, ValueError, OverflowError,
           RuntimeError, SQLAlchemyError)  # fmt: skip


@dataclass(frozen=True)
class Arrived:
    """The imported project; notes: what the user should know about it."""

    project_id: int
    name: str
    rows: dict[str, int]
    notes: list[str]


def import_project(engine: Engine, path: Path, name: str | None = None) -> Arrived:
    """Import a project under the given name or its own, with a number added if the name is taken.

    Raises InputError, and stores nothing, for a file that is damaged, from a later version, or not an archive.
    """
    if name is not None:
        checked_name(name)
    with _explained(path), ZipFile(path) as bundle:
        return _Import(path, bundle).into(engine, name)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn the exceptions of a damaged archive into a one-line error."""
    try:
        yield
    except DBAPIError as error:
        if error.connection_invalidated or "locked" in str(error.orig):
            raise
        raise _damaged(path, "rows that do not fit the tables") from None
    except RecursionError:  # which every version of Python words in its own way
        raise _damaged(path, "lists in lists without end") from None
    except _DAMAGE as error:
        raise _damaged(path, str(error).splitlines()[0] if str(error) else type(error).__name__) from None
    except OSError as error:
        raise InputError(f"{path.name}: cannot read or unpack the file ({error.strerror or error})") from None


def _damaged(path: Path, what: str) -> InputError:
    return InputError(f"{path.name}: not a complete project archive ({what}); nothing was imported: export it again")


class _Import:
    """One archive during its import."""

    def __init__(self, path: Path, bundle: ZipFile) -> None:
        self.path, self.bundle = path, bundle
        self.notes: list[str] = []
        self.tables = self._manifest()

    def into(self, engine: Engine, name: str | None) -> Arrived:
        place = artifacts() / f".import-{uuid4().hex}"
        self._require_room()
        try:
            self._unpack(place)  # before the transaction: other writers should not wait for files
            with acting(engine, Right.INSTALL) as session:
                arrival = Arrival(session)
                project = self._begin(session, arrival, name)
                rows = {Project.__tablename__: 1} | {
                    name: self._add(arrival, name) for name in list(TABLES)[1:] if name in self.tables
                }
                arrival.set_cutoffs()
                self._settle(session, arrival, place)
                new = {"archive": self.path.name}
                add_event(session, person_of(engine), EventKind.MADE, arrival.project_id, project, new=new)
                home = artifacts() / f"project-{arrival.project_id}"
                discard(home)  # left by an import that was killed before its commit
                place = place.replace(home)
                publish(home)
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
            raise ValueError(f"its format is {manifest['format']!r}")
        if manifest["version"] > VERSION:
            what = f"the archive has format version {manifest['version']}, but this installation reads up to {VERSION}"
            raise InputError(f"{self.path.name}: {what}; install a newer Allpairs")
        tables: dict[str, Any] = manifest["tables"]
        self.notes += [
            f"this version of Allpairs has no table {name}, so it was left out"
            for name in tables.keys() - TABLES.keys()
        ]
        for name, table in TABLES.items():
            if name in LATER and name not in tables:
                continue
            if missing := lacking(table, tables[name]["columns"]):
                raise ValueError(f"table {name} lacks {', '.join(missing)}")
            if unknown := [column for column in tables[name]["columns"] if column not in table.columns]:
                self.notes.append(f"{name}: this version of Allpairs has no {', '.join(unknown)}, so it was left out")
        return tables

    def _begin(self, session: Session, arrival: Arrival, name: str | None) -> str:
        row = next(self._rows(Project.__tablename__))
        settings = renamed(row["settings"])
        known = {field: value for field, value in settings.items() if field in Settings.model_fields}
        if len(known) < len(settings):
            unknown = ", ".join(field for field in settings if field not in known)
            self.notes.append(f"settings: this version of Allpairs has no {unknown}, so it was left out")
        try:
            Settings.model_validate(known)
        except ValidationError as error:
            raise ValueError(f"settings: {error.errors()[0]['msg']}") from None
        self._say_what_lacks(known)
        found = numbered_name(session, checked_name(name or row["name"]))
        if found != (name or row["name"]):
            self.notes.append(f"a project named {name or row['name']!r} exists already, so this one is named {found!r}")
        arrival.begin({**row, "name": found, "settings": known})
        return found

    def _say_what_lacks(self, settings: dict[str, Any]) -> None:
        """Add a note if the settings name a re-ranker that is missing: an archive holds no pipeline runs."""
        try:
            if settings.get("reranker"):
                require_reranker(settings["reranker"])
        except InputError as problem:
            self.notes.append(f"settings: {problem}; until then, batches keep the strategy's order")

    def _add(self, arrival: Arrival, name: str) -> int:
        def changed(rows: list[Row]) -> list[Row]:
            if name in KEYED:
                _renew_keys(arrival.session, KEYED[name], rows)
            for row in rows:
                if name == Task.__tablename__:
                    row["alike"] = _renumbered(row.get("alike"), arrival.numbers[Item.__tablename__])
                if name in (Matcher.__tablename__, Design.__tablename__):
                    row["folder"] = _folder(arrival.project_id, name, row)
            return rows

        stored = arrival.add(TABLES[name], self._rows(name), changed)
        if stored != self.tables[name]["rows"]:
            raise ValueError(f"table {name} has {stored:,} of {self.tables[name]['rows']:,} rows")
        return stored

    def _rows(self, name: str) -> Iterator[Row]:
        with self.bundle.open(table_file(name)) as stream:
            while line := stream.readline(MOST_LINE):
                yield json.loads(line)

    def _require_room(self) -> None:
        """Raise ValueError if the archive unpacks to more than is plausible, OSError if the disk lacks the space."""
        size = sum(info.file_size for info in self.bundle.infolist())  # reading stops at these sizes, whatever follows
        if size > MOST_PACKED * max(self.path.stat().st_size, 1 << 20):
            raise ValueError(f"it would unpack to {size:,} bytes")
        artifacts().mkdir(parents=True, exist_ok=True)
        if size > shutil.disk_usage(artifacts()).free:
            raise OSError(ENOSPC, f"it unpacks to {size:,} bytes, but the disk has less space")

    def _unpack(self, partial: Path) -> None:
        """Unpack the files of models, vectors and designs to where a project keeps them."""
        partial.mkdir(parents=True)
        for info in self.bundle.infolist():
            place = _place(info)
            if place is None:
                continue
            target = partial / place
            target.parent.mkdir(parents=True, exist_ok=True)
            with self.bundle.open(info) as source, target.open("wb") as out:
                shutil.copyfileobj(source, out, COPIED)

    def _settle(self, session: Session, arrival: Arrival, partial: Path) -> None:
        """Give designs and arrays the new item ids, and note which models are missing."""
        items = arrival.numbers[Item.__tablename__]
        for design in session.scalars(select(Design).where(Design.project_id == arrival.project_id)):
            if "sample" in design.details:
                design.details = {**design.details, "sample": _renumbered(design.details["sample"], items)}
        for file in (*partial.glob(f"design-*/{DECKS}"), *partial.glob(f"round-*/{SCORES}")):
            _renumber(file, items)
        without = [
            matcher.number
            for matcher in matchers_of(session, arrival.project_id)
            if matcher.folder and not (partial / f"round-{matcher.number}" / "model").is_dir()
        ]
        if without:
            rounds = ", ".join(map(str, sorted(without)))
            self.notes.append(f"the archive has no model of round {rounds}: only its figures were imported")


def _place(info: ZipInfo) -> Path | None:
    """Return where a file of the archive belongs below the project's folder; None for tables. Raises ValueError."""
    parts = PurePosixPath(info.filename).parts
    rounds = ("round-{}",)
    kinds = {MODELS: (*rounds, "model"), OLD_SCORES: rounds, VECTORS: rounds, DESIGNS: ("design-{}",)}
    if info.is_dir() or not parts or parts[0] not in kinds:
        return None
    if len(parts) < 3 or not parts[1].isdecimal() or any(part in ("..", "/") or "\\" in part for part in parts):
        raise ValueError(f"bad file name {info.filename[:60]!r}")
    if parts[-1].lower().endswith(PICKLED):
        raise ValueError(f"{info.filename[:60]!r} could run code when it is read: save the model as safetensors")
    return Path(*(part.format(parts[1]) for part in kinds[parts[0]]), *parts[2:])


def _folder(project_id: int, table: str, row: Row) -> str | None:
    if row["folder"] is None:
        return None
    kind = "round-{}/model" if table == Matcher.__tablename__ else "design-{}"
    return f"project-{project_id}/{kind.format(int(row['number']))}"


def _renew_keys(session: Session, table: type[Answer] | type[CheckAnswer], rows: list[Row]) -> None:
    """Give new keys to answers whose keys are taken, as they are by the original project."""
    taken = set(session.scalars(select(table.key).where(table.key.in_([row["key"] for row in rows]))))
    for row in rows:
        if row["key"] in taken:
            row["key"] = f"copy-{uuid4().hex}"


def _renumbered(pairs: list[list[Any]] | None, items: Numbering) -> list[list[Any]] | None:
    """Return the pairs, and any values beside them, with the new ids of their items."""
    return None if pairs is None else [[items.of(left), items.of(right), *said] for left, right, *said in pairs]


def _renumber(file: Path, items: Numbering) -> None:
    """Rewrite the file of arrays with the new item ids. Other arrays are copied in chunks."""
    partial = file.with_suffix(".tmp")
    with ZipFile(file) as source, ZipFile(partial, "w") as target:
        for info in source.infolist():
            with source.open(info) as old, target.open(info.filename, "w", force_zip64=True) as new:
                if info.filename in SIDES:
                    ids = np.lib.format.read_array(old, allow_pickle=False)
                    renewed = np.array([items.of(id_) for id_ in ids.tolist()], dtype=np.int64)
                    np.lib.format.write_array(new, renewed, allow_pickle=False)
                else:
                    shutil.copyfileobj(old, new, COPIED)
    partial.replace(file)
