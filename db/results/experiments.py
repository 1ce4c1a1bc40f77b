"""Experiments: where the worker puts them and the app finds them, below the artifact folder. Files alone, no rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.files.artifacts import children, is_there
from db.files.json_file import read_json
from db.schema.engine import artifacts

FOLDER = "experiments"
STATE, REPORT, TABLES, FIGURES = "experiment.json", "report.md", "tables", "figures"  # in an experiment's folder


@dataclass(frozen=True)
class RunState:
    """How far one run of an experiment is: waiting, running, done or failed (then with the reason)."""

    dataset: str
    row: str
    seed: int
    state: str
    error: str | None = None


@dataclass(frozen=True)
class Stored:
    """What an experiment's folder says of it; `updated`: seconds since 1970."""

    name: str
    runs: Sequence[RunState]
    updated: float


def experiment_folder(name: str) -> Path:
    """The folder of the experiment of this name: for one of the app its job's id."""
    return artifacts() / FOLDER / name


def experiment_names() -> list[str]:
    """The names of all experiments that have begun."""
    return sorted(name for name in children(artifacts() / FOLDER) if is_there(experiment_folder(name) / STATE))


def read_stored(name: str) -> Stored | None:
    """What the experiment's folder says of it; nothing before it has begun."""
    try:
        found: dict[str, Any] = read_json(experiment_folder(name) / STATE)
    except FileNotFoundError:
        return None
    return Stored(found["name"], [RunState(**run) for run in found["cells"]], found["updated"])
