"""Runs of pipelines: where the worker puts them and the app finds them, below the artifact folder. Files, no rows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.errors import InputError
from db.files.artifacts import is_there
from db.files.json_file import read_json
from db.schema.engine import artifacts

FOLDER = "pipelines"
# In a run's folder: what it is a run of, and what of the project it began with.
RUN, BEGAN = "run.json", "began.json"
RERANKER, RERANKER_FILE = "reranker", "reranker.json"  # a kind of what runs make; a file that tells its folder
RESULTS, ARTIFACTS, REPORT, TABLES, FIGURES = "results", "artifacts.json", "report.md", "tables", "figures"


@dataclass(frozen=True)
class Began:
    """What a run was asked for, and in words what of the project it began with."""

    pipeline: str
    config: dict[str, Any]
    words: str


def runs_folder() -> Path:
    """The folder of all runs."""
    return artifacts() / FOLDER


def pipeline_folder(run_id: str) -> Path:
    """The folder of the run of this id: its job's id."""
    return runs_folder() / run_id


def results_folder(run_id: str) -> Path:
    """The folder of the run's last stage, with tables, figures, a report, and what the run made."""
    return pipeline_folder(run_id) / RESULTS


def read_began(run_id: str) -> Began | None:
    """What the run was asked for; nothing before it has begun."""
    try:
        found: dict[str, Any] = read_json(pipeline_folder(run_id) / BEGAN)
    except FileNotFoundError:
        return None
    return Began(**found)


def read_artifacts(run_id: str) -> list[dict[str, Any]]:
    """What the run made: kind, title, path in the run's folder, figures; nothing before it has results."""
    try:
        found: list[dict[str, Any]] = read_json(results_folder(run_id) / ARTIFACTS)
    except FileNotFoundError:
        return []
    return found


def require_reranker(folder: str) -> None:
    """Nothing. Raises InputError where the folder is no re-ranker's."""
    if not is_there(Path(folder).expanduser() / RERANKER_FILE):
        raise InputError(
            f"there is no re-ranker in {folder}: choose one on the page “Pipelines”, or leave the field empty"
        )
