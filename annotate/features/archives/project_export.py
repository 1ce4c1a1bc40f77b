"""Export of a whole project as one archive: a zip file with a manifest, rows as JSON Lines, and models.

manifest.json            format, version, and the rows and columns of each table
tables/items.jsonl       one object a row, with every column of the table
models/3/…               the model of round 3, as sentence-transformers loads it
scores/3/…               its scores of the labelled pairs
vectors/3/…              optional: the texts' vectors under that model, which can be recomputed
designs/1/…              the sampling orders of an audit design
"""

import json
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from sqlalchemy import Engine, Table, select
from sqlalchemy.orm import Session

from allpairs.db.corpus.table_files import whole_file
from allpairs.db.files.artifacts import held
from allpairs.db.maintenance.transfer import TABLES, project_rows
from allpairs.db.projects.matchers import SCORES, matchers_of
from allpairs.db.projects.projects import project_named
from allpairs.db.schema.engine import artifacts, reading
from allpairs.db.schema.tables import Design, now
from allpairs.db.version import VERSION as ALLPAIRS

FORMAT = "allpairs-project"
VERSION = 1
MANIFEST = "manifest.json"
MODELS = "models"
OLD_SCORES = "scores"
VECTORS = "vectors"
DESIGNS = "designs"
VECTOR_FILES = ("vectors.npy", "texts.json", "evaluation.npz")  # beside a model's folder
COPIED = 1 << 20  # bytes at a time


@dataclass(frozen=True)
class Exported:
    """What an archive holds: rows by table, rounds whose models are in it, and rounds whose folder is missing."""

    rows: dict[str, int]
    models: list[int]
    missing: list[int]


def export_project(engine: Engine, project: str, out: Path, models: bool = True, vectors: bool = False) -> Exported:
    """Write the project to the zip file `out`, which appears only when complete; uses constant memory.

    Raises InputError if there is no such project or the file cannot be written.
    """
    with (
        whole_file(out) as partial,
        reading(engine) as session,
        ZipFile(partial, "w", ZIP_DEFLATED, compresslevel=1) as bundle,
    ):
        return _write(session, project_named(session, project).id, bundle, models, vectors)


def _write(session: Session, project_id: int, bundle: ZipFile, models: bool, vectors: bool) -> Exported:
    rows = {name: _write_table(session, table, project_id, bundle) for name, table in TABLES.items()}
    matchers = [matcher for matcher in reversed(matchers_of(session, project_id)) if matcher.folder]
    for design in session.scalars(select(Design).where(Design.project_id == project_id)):
        _write_folder(artifacts() / design.folder, f"{DESIGNS}/{design.number}", bundle)
    exported: list[int] = []
    missing: list[int] = []
    for matcher in matchers:
        folder = artifacts() / str(matcher.folder)
        _write_file(folder.parent / SCORES, f"{OLD_SCORES}/{matcher.number}/{SCORES}", bundle)
        if models:
            has_files = _write_folder(folder, f"{MODELS}/{matcher.number}", bundle)
            (exported if has_files else missing).append(matcher.number)
        for file in VECTOR_FILES if models and vectors else ():
            _write_file(folder.parent / file, f"{VECTORS}/{matcher.number}/{file}", bundle)
    tables = {name: {"rows": count, "columns": list(TABLES[name].columns.keys())} for name, count in rows.items()}
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "allpairs": ALLPAIRS,
        "written_at": now().isoformat(),
        "tables": tables,
    }
    bundle.writestr(MANIFEST, json.dumps(manifest, indent=2))  # written last: a file without it is not an archive
    return Exported(rows, exported, missing)


def _write_table(session: Session, table: Table, project_id: int, bundle: ZipFile) -> int:
    count = 0
    with bundle.open(table_file(table.name), "w", force_zip64=True) as stream:
        for row in project_rows(session, table, project_id):
            stream.write(json.dumps(row).encode() + b"\n")
            count += 1
    return count


def table_file(name: str) -> str:
    """Return a table's path in an archive."""
    return f"tables/{name}.jsonl"


def _write_folder(folder: Path, name: str, bundle: ZipFile) -> bool:
    """Add the folder's files to the archive under the name; return whether there are any."""
    with held(folder):
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        for file in files:
            bundle.write(file, f"{name}/{file.relative_to(folder).as_posix()}", ZIP_STORED)  # weights do not compress
    return bool(files)


def _write_file(file: Path, name: str, bundle: ZipFile) -> None:
    with held(file):
        if file.is_file():
            bundle.write(file, name, ZIP_STORED)
