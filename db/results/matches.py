"""Matches: the pairs that a model finds in a whole project, in files that the worker writes and the app reads."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from allpairs.db.files.artifacts import publishing
from allpairs.db.files.atomic import partial_path
from allpairs.db.results.result_file import read_result
from allpairs.db.schema.engine import artifacts

FOLDER = "matches"  # below the project's: only the newest ones
SUMMARY = "about.json"
PAIRS = "pairs.parquet"
GROUPS = "groups.parquet"
NEAR = "near.parquet"  # pairs just below the threshold: left_id, right_id, p
GROUP_COLUMNS = {
    "group": int,
    "group_id": str,
    "size": int,
    "side": str,
    "id": str,
    "text": str,
    "representative": int,
    "weakest": float,
    "coherence": float,
}


@dataclass(frozen=True)
class Matches:
    """A search's result: the model's round, the threshold, and the numbers of pairs, groups and texts in groups.

    pairs: of texts; below: how many of them score below the threshold, but are known to match; rows: pairs of ids, of
    which so many are left out because they are many; alike: texts that have several ids.

    reranker: the folder of the re-ranker that ordered the pairs, relative to that of all pipeline runs. clustering,
    representative, newest_by: how they were grouped. changed: how many groups of the project are not what they were;
    None if the matches are not the project's groups.
    """

    job_id: str
    matcher: int
    threshold: float
    pairs: int
    groups: int
    grouped: int
    reranker: str | None
    clustering: str
    representative: str
    newest_by: str
    changed: int | None
    texts: int  # number of the newest change of texts
    note: str  # on the column that the newest texts were found by
    below: int
    rows: int
    left_out: int
    alike: int


def folder_of_matches(project_id: int) -> Path:
    """Return the folder of the project's matches."""
    return artifacts() / f"project-{project_id}" / FOLDER


@contextmanager
def writing_matches(project_id: int) -> Iterator[Path]:
    """Yield a folder to write to; at the end it replaces the project's last matches."""
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


def write_summary(folder: Path, matches: Matches) -> None:
    """Write the description of what is in the folder."""
    (folder / SUMMARY).write_text(json.dumps(asdict(matches)), encoding="utf-8")


def read_matches(project_id: int) -> Matches | None:
    """Return the description of the project's newest matches; None if there are none."""
    return read_result(folder_of_matches(project_id) / SUMMARY, Matches)
