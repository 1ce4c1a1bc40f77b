"""Matches: the pairs that a model finds in a whole project, left by the worker in files and read by the app."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from db.files.artifacts import publishing
from db.files.atomic import partial_path
from db.files.json_file import read_json
from db.schema.engine import artifacts

FOLDER = "matches"  # below the project's: the newest ones alone
ABOUT, PAIRS, GROUPS = "about.json", "pairs.parquet", "groups.parquet"


@dataclass(frozen=True)
class Matches:
    """What was found: the round of the model, the threshold, and how many pairs, groups and texts in groups.

    reranker: the folder of the re-ranker that put the pairs in order, below that of all runs of pipelines.
    """

    job_id: str
    matcher: int
    threshold: float
    pairs: int
    groups: int
    grouped: int
    reranker: str | None = None


def folder_of_matches(project_id: int) -> Path:
    """Where the project's matches lie."""
    return artifacts() / f"project-{project_id}" / FOLDER


@contextmanager
def writing_matches(project_id: int) -> Iterator[Path]:
    """A folder to write the files to; it takes the place of the project's last matches at the end."""
    folder = folder_of_matches(project_id)
    partial = partial_path(folder)
    partial.mkdir(parents=True)
    try:
        yield partial
        with publishing(folder):
            shutil.rmtree(folder, ignore_errors=True)
            partial.replace(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_about(folder: Path, matches: Matches) -> None:
    """Nothing; the folder says what is in it."""
    (folder / ABOUT).write_text(json.dumps(asdict(matches)))


def read_matches(project_id: int) -> Matches | None:
    """What the project's newest matches are; nothing where there are none."""
    try:
        return Matches(**read_json(folder_of_matches(project_id) / ABOUT))
    except FileNotFoundError:
        return None
