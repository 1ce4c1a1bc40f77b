"""An archive of a project into this installation: all of it or nothing."""

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

from annotate.access.roles import Right
from annotate.access.transactions import acting
from annotate.exchange.project_export import (
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
from db.domain import PICKLED, EventKind, Settings, renamed
from db.errors import InputError
from db.files.artifacts import discard, publish
from db.maintenance.transfer import LATER, TABLES, Arrival, Numbering, Row, lacking
from db.projects.events import add_event
from db.projects.matchers import SCORES, matchers_of
from db.projects.projects import checked_name, numbered_name
from db.results.pipelines import require_reranker
from db.schema.engine import artifacts, person_of
from db.schema.tables import Answer, CheckAnswer, Design, Item, Matcher, Project, Task

MOST_MANIFEST: Final = 1 << 20  # bytes
MOST_LINE: Final = 1 << 26
MOST_PACKED: Final = 200  # times its own size that an archive may unpack to: tables of text reach 30
KEYED: dict[str, type[Answer] | type[CheckAnswer]] = {table.__tablename__: table for table in (Answer, CheckAnswer)}
DECKS = "decks.npz"  # of a design
SIDES = ("left.npy", "right.npy")  # of sampling orders and scores: they hold items' ids
# What a damaged or foreign file makes others raise: zipfile and json (RuntimeError: an unknown compression, a password,
# brackets without end), json and the checks here (ValueError), rows and manifests of another shape (KeyError,
# TypeError, AttributeError, OverflowError), and the tables.
_DAMAGE = (BadZipFile, zlib.error, EOFError, KeyError, TypeError, AttributeError, ValueError, OverflowError,
           RuntimeError, SQLAlchemyError)  # fmt: skip


@dataclass(frozen=True)
class Arrived:
    """The project that came of an archive; notes: what a person should know about it."""

    project_id: int
    name: str
    rows: dict[str, int]
    notes: list[str]


def import_project(engine: Engine, path: Path, name: str | None = None) -> Arrived:
    """What the archive brought. The project has the given name or its own one, with a number where that is taken.

    Raises InputError, and stores nothing, for a file that is no archive, damaged, or of a later version.
    """
    if name is not None:
        checked_name(name)
    with _explained(path), ZipFile(path) as bundle:
        return _Import(path, bundle).into(engine, name)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turns what a damaged archive raises into one line."""
    try:
        yield
    except DBAPIError as error:
        if error.connection_invalidated or "locked" in str(error.orig):
            raise
        raise _damaged(path, "rows that the tables do not take") from None
    except _DAMAGE as error:
        raise _damaged(path, str(error).splitlines()[0] if str(error) else type(error).__name__) from None
    except OSError as error:
        raise InputError(f"{path.name}: cannot read or unpack the file ({error.strerror or error})") from None


def _damaged(path: Path, what: str) -> InputError:
    return InputError(f"{path.name}: this is no whole archive of a project ({what}); nothing was stored: export again")


class _Import:
    """One archive on its way in."""

    def __init__(self, path: Path, bundle: ZipFile) -> None:
        self.path, self.bundle = path, bundle
        self.notes: list[str] = []
        self.tables = self._manifest()

    def into(self, engine: Engine, name: str | None) -> Arrived:
        place = artifacts() / f".import-{uuid4().hex}"
        self._require_room()
        try:
            self._unpack(place)  # before the transaction: nobody should wait for files
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
                discard(home)  # of an import that was killed before it was stored
                place = place.replace(home)
                publish(home)
        except BaseException:
            discard(place)
            raise
        return Arrived(arrival.project_id, project, rows, self.notes)

    def _manifest(self) -> dict[str, Any]:
        """Rows and columns by table."""
        info = self.bundle.getinfo(MANIFEST)
        if info.file_size > MOST_MANIFEST:
            raise ValueError("its list of contents is too long")
        manifest = json.loads(self.bundle.read(info))
        if manifest["format"] != FORMAT:
            raise ValueError(f"its format is {manifest['format']!r}")
        if manifest["version"] > VERSION:
            what = f"the archive has version {manifest['version']} of the format, and this installation reads {VERSION}"
            raise InputError(f"{self.path.name}: {what}; install a newer Allpairs")
        tables: dict[str, Any] = manifest["tables"]
        self.notes += [
            f"this version has no table {name}, so it was left out" for name in tables.keys() - TABLES.keys()
        ]
        for name, table in TABLES.items():
            if name in LATER and name not in tables:
                continue
            if missing := lacking(table, tables[name]["columns"]):
                raise ValueError(f"table {name} lacks {', '.join(missing)}")
            if unknown := [column for column in tables[name]["columns"] if column not in table.columns]:
                self.notes.append(f"{name}: this version has no {', '.join(unknown)}, so it was left out")
        return tables

    def _begin(self, session: Session, arrival: Arrival, name: str | None) -> str:
        row = next(self._rows(Project.__tablename__))
        settings = renamed(row["settings"])
        known = {field: value for field, value in settings.items() if field in Settings.model_fields}
        if len(known) < len(settings):
            unknown = ", ".join(field for field in settings if field not in known)
            self.notes.append(f"settings: this version has no {unknown}, so it was left out")
        try:
            Settings.model_validate(known)
        except ValidationError as error:
            raise ValueError(f"settings: {error.errors()[0]['msg']}") from None
        self._say_what_lacks(known)
        found = numbered_name(session, checked_name(name or row["name"]))
        if found != (name or row["name"]):
            self.notes.append(f"there is a project named {name or row['name']!r} already, so this one is {found!r}")
        arrival.begin({**row, "name": found, "settings": known})
        return found

    def _say_what_lacks(self, settings: dict[str, Any]) -> None:
        """Nothing; there is a note where the settings name a re-ranker, since an archive holds no runs of pipelines."""
        try:
            if settings.get("reranker"):
                require_reranker(settings["reranker"])
        except InputError as problem:
            self.notes.append(f"settings: {problem}; until then batches have the strategy's own order")

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
        """Nothing. Raises ValueError for more than anything real unpacks to, OSError where the disk has no room."""
        size = sum(info.file_size for info in self.bundle.infolist())  # reading ends there, whatever follows
        if size > MOST_PACKED * max(self.path.stat().st_size, 1 << 20):
            raise ValueError(f"it would unpack to {size:,} bytes")
        artifacts().mkdir(parents=True, exist_ok=True)
        if size > shutil.disk_usage(artifacts()).free:
            raise OSError(ENOSPC, f"it unpacks to {size:,} bytes, and the disk has less room")

    def _unpack(self, partial: Path) -> None:
        """Nothing; the files of models, vectors and designs lie in the folder as in a project's."""
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
        """Nothing; designs name items by their new ids, and the notes name the models that are not there."""
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
            self.notes.append(f"the archive has no model of round {rounds}: its figures are there, and nothing else")


def _place(info: ZipInfo) -> Path | None:
    """Where a file of the archive belongs below the project's folder; nothing for tables. Raises ValueError."""
    parts = PurePosixPath(info.filename).parts
    rounds = ("round-{}",)
    kinds = {MODELS: (*rounds, "model"), OLD_SCORES: rounds, VECTORS: rounds, DESIGNS: ("design-{}",)}
    if info.is_dir() or not parts or parts[0] not in kinds:
        return None
    if len(parts) < 3 or not parts[1].isdecimal() or any(part in ("..", "/") or "\\" in part for part in parts):
        raise ValueError(f"the file name {info.filename[:60]!r}")
    if parts[-1].lower().endswith(PICKLED):
        raise ValueError(f"{info.filename[:60]!r} could run code when it is read: save the model as safetensors")
    return Path(*(part.format(parts[1]) for part in kinds[parts[0]]), *parts[2:])


def _folder(project_id: int, table: str, row: Row) -> str | None:
    if row["folder"] is None:
        return None
    kind = "round-{}/model" if table == Matcher.__tablename__ else "design-{}"
    return f"project-{project_id}/{kind.format(int(row['number']))}"


def _renew_keys(session: Session, table: type[Answer] | type[CheckAnswer], rows: list[Row]) -> None:
    """Nothing; answers whose keys are taken, as those of the project itself are, have new ones."""
    taken = set(session.scalars(select(table.key).where(table.key.in_([row["key"] for row in rows]))))
    for row in rows:
        if row["key"] in taken:
            row["key"] = f"copy-{uuid4().hex}"


def _renumbered(pairs: list[list[Any]] | None, items: Numbering) -> list[list[Any]] | None:
    """The pairs, and what is said of each, with the new ids of their items."""
    return None if pairs is None else [[items.of(left), items.of(right), *said] for left, right, *said in pairs]


def _renumber(file: Path, items: Numbering) -> None:
    """Nothing; the file of arrays holds the new ids of items. Other arrays are copied as they are, piece by piece."""
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
