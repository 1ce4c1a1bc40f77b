"""Back-ups of a whole installation: all rows in one file, and the models beside it."""

import shutil
from pathlib import Path

from sqlalchemy import Engine

from db.backup import Rows, backup, restore
from db.domain import InputError, Progress
from db.engine import artifacts
from db.models import now

ROWS, MODELS = "allpairs.db", "artifacts"  # in a back-up's folder


def back_up(engine: Engine, folder: Path, models: bool, progress: Progress) -> Rows:
    """The number of rows of each table; a new folder has all rows and, if asked for, all models.

    Raises InputError where the folder exists.
    """
    if folder.exists():
        raise InputError(f"{folder}: there is such a folder already; name another one")
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    rows = backup(engine, part / ROWS, progress)
    if models and artifacts().is_dir():  # after the rows: what a row names is there before the row is
        progress("models", 0.0)
        shutil.copytree(artifacts(), part / MODELS)
    part.replace(folder)
    return rows


def bring_back(engine: Engine, source: Path, replace: bool, progress: Progress) -> Rows:
    """The number of rows of each table; the installation has those of the back-up, and its models where it has any.

    `source` is such a folder, or a file of rows. Models that were here before are kept beside the new ones, in a folder
    that says when. Raises InputError as `db.backup.restore` does; nothing has changed then.
    """
    file = source / ROWS if source.is_dir() else source
    models, part = source / MODELS, artifacts().with_name(f"{MODELS}.part")
    with_models = source.is_dir() and models.is_dir()
    if with_models:
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(models, part)
    try:
        rows = restore(file, engine, replace, progress)
        if with_models:
            if artifacts().exists():
                artifacts().replace(artifacts().with_name(f"{MODELS}-before-{now():%Y-%m-%dT%H-%M-%S}"))
            part.replace(artifacts())
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return rows
