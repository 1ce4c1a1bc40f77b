"""Experiments in files below the artifact folder, where the worker writes them and the app reads them. No rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allpairs.db.files.artifacts import children, is_there
from allpairs.db.results.result_file import read_result
from allpairs.db.schema.engine import artifacts

FOLDER = "experiments"
STATE = "experiment.json"  # in an experiment's folder


@dataclass(frozen=True)
class RunState:
    """The state of one run of an experiment: waiting, running, done or failed (then with the reason)."""

    dataset: str
    row: str
    seed: int
    state: str
    error: str | None = None


@dataclass(frozen=True)
class Stored:
    """An experiment as described in its folder; `updated`: seconds since 1970."""

    name: str
    runs: Sequence[RunState]
    updated: float


def experiment_folder(name: str) -> Path:
    """Return the folder of the experiment of this name, which for the app's experiments is the job's id."""
    return artifacts() / FOLDER / name


def experiment_names() -> list[str]:
    """Return the names of all experiments that have started."""
    return sorted(name for name in children(artifacts() / FOLDER) if is_there(experiment_folder(name) / STATE))


def read_stored(name: str) -> Stored | None:
    """Return the experiment as described in its folder; None before it has started."""
    stored = read_result(experiment_folder(name) / STATE, dict[str, Any])
    if stored is None:
        return None
    return Stored(stored["name"], [RunState(**run) for run in stored["cells"]], stored["updated"])
