"""Back-ups of a whole installation: all rows in one file, and the models beside it."""

import shutil
from pathlib import Path

from sqlalchemy import Engine

from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import discard, held, publish_files, store
from allpairs.db.files.private import private_files
from allpairs.db.maintenance.backup import Rows, backup, restore
from allpairs.db.maintenance.file_modes import close_tree
from allpairs.db.progress import Progress
from allpairs.db.schema.engine import artifacts
from allpairs.db.schema.tables import now

ROWS = "allpairs.db"  # in a back-up's folder
MODELS = "artifacts"  # in a back-up's folder


@private_files()
def back_up(engine: Engine, folder: Path, models: bool, progress: Progress) -> Rows:
    """Write all rows and, if asked for, all models to a new folder; return the number of rows of each table.

    Raises InputError if the folder exists.
    """
    if folder.exists():
        raise InputError(f"{folder}: this folder exists already; name another one")
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    rows = backup(engine, part / ROWS, progress)
    if models:  # after the rows: files are written before the rows that name them
        progress("models", 0.0)
        _copy_models(part / MODELS)
        close_tree(part)
    part.replace(folder)
    return rows


def _copy_models(target: Path) -> None:
    """Copy all artifacts to the target, those of an object store one at a time."""
    object_store = store()
    if object_store is None and artifacts().is_dir():
        shutil.copytree(artifacts(), target)
    for name in object_store.names() if object_store is not None else ():
        copied = target / name
        copied.parent.mkdir(parents=True, exist_ok=True)
        with held(artifacts() / name) as path:
            if path.exists():  # otherwise a job has just removed it
                shutil.copytree(path, copied) if path.is_dir() else shutil.copyfile(path, copied)


@private_files()
def bring_back(engine: Engine, source: Path, replace: bool, progress: Progress) -> Rows:
    """Restore the rows of a back-up, and its models if it has any; return the number of rows of each table.

    `source` is a back-up folder, or a file of rows. Existing models are kept in a folder named after the time; in an
    object store they are removed. Raises InputError as `db.maintenance.backup.restore` does; then nothing has changed.
    """
    file = source / ROWS if source.is_dir() else source
    models = source / MODELS
    part = artifacts().with_name(f"{MODELS}.part")
    with_models = source.is_dir() and models.is_dir()
    if with_models:
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(models, part)
        close_tree(part)
    try:
        rows = restore(file, engine, replace, progress)
        if with_models:
            if artifacts().exists():
                artifacts().replace(artifacts().with_name(f"{MODELS}-before-{now():%Y-%m-%dT%H-%M-%S-%f}"))
            part.replace(artifacts())
            publish_files(artifacts(), replace=True)
            _remove_others()
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return rows


def _remove_others() -> None:
    """Remove from the object store what is not here: a later project with the same id must not find it."""
    object_store = store()
    for name in object_store.names() if object_store is not None else ():
        if not (artifacts() / name).exists():
            discard(artifacts() / name)
