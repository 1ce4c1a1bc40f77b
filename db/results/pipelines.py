"""Pipeline runs in files below the artifact folder, where the worker writes them and the app reads them. No rows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allpairs.db.results.result_file import read_result
from allpairs.db.schema.engine import artifacts

FOLDER = "pipelines"
# In a run's folder: its configuration, and its input from the project.
RUN = "run.json"
BEGAN = "began.json"
RERANKER = "reranker"  # a kind of output
RESULTS = "results"
ARTIFACTS = "artifacts.json"


@dataclass(frozen=True)
class Began:
    """A run's pipeline and configuration, and its input from the project, in words."""

    pipeline: str
    config: dict[str, Any]
    words: str


def runs_folder() -> Path:
    """Return the folder of all runs."""
    return artifacts() / FOLDER


def pipeline_folder(run_id: str) -> Path:
    """Return the folder of the run of this id, which is its job's id."""
    return runs_folder() / run_id


def results_folder(run_id: str) -> Path:
    """Return the folder of the run's last stage, with tables, figures, a report, and the outputs."""
    return pipeline_folder(run_id) / RESULTS


def read_began(run_id: str) -> Began | None:
    """Return the run's configuration; None before it has started."""
    return read_result(pipeline_folder(run_id) / BEGAN, Began)


def stored_outputs(run_id: str) -> list[dict[str, Any]]:
    """Return the run's outputs: kind, title, path in the run's folder, figures; none before it has results."""
    return read_result(results_folder(run_id) / ARTIFACTS, list[dict[str, Any]]) or []
