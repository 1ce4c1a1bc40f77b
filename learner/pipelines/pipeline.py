"""A pipeline: stages that each leave a folder. A stage whose folder exists is not run again, so a run can resume."""

import hashlib
import importlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from allpairs.db.errors import InputError
from allpairs.db.files.checksums import seal_models
from allpairs.db.progress import Progress, no_progress, part_of
from allpairs.learner.light.catalog import PIPELINES
from allpairs.learner.light.catalog.section import Section
from allpairs.learner.runtime.device import default_device, reads_in_bfloat16

RUN = "run.json"  # in a run's folder: its pipeline, configuration and inputs
RESULTS = "results"  # the last stage of every pipeline
ARTIFACTS = "artifacts.json"  # in its folder: the run's artifacts


@dataclass(frozen=True)
class Run:
    """A run of a pipeline: its folder, and `inputs` and `config` as the catalog defines them."""

    folder: Path
    inputs: Any
    config: Any

    def of(self, stage: str) -> Path:
        """Return the folder of a finished stage."""
        return self.folder / stage

    def has(self, stage: str) -> bool:
        """Return whether the stage is finished."""
        return self.of(stage).is_dir()


@dataclass(frozen=True)
class Artifact:
    """A result of a run that a project can use: pairs, a bi-encoder, a cross-encoder.

    path: relative to the run's folder; figures: by name, the key `about` of the file.
    """

    kind: str
    title: str
    path: str
    figures: dict[str, Any]


@dataclass(frozen=True)
class Stage:
    """A part of a pipeline that is run as a whole. share: its part of the expected cost.

    work(run, folder, progress) writes into the folder, which gets the stage's name when the work is done. goes_on: a
    stage that was stopped resumes with what it left, and its work makes its parts with `finish`, each once.
    """

    name: str
    share: float
    work: Callable[[Run, Path, Progress], None]
    goes_on: bool = False


@dataclass(frozen=True)
class Pipeline:
    """Stages in order, and a check of the inputs before anything expensive. The last stage is named `results`."""

    check: Callable[[Run], None]
    stages: Sequence[Stage]


def pipeline_named(name: str) -> Pipeline:
    """Return the pipeline of that name in the catalog. Raises InputError if there is none."""
    if name not in PIPELINES:
        raise InputError(f"there is no pipeline {name!r}: choose one of {', '.join(PIPELINES)}")
    pipeline: Pipeline = importlib.import_module(f"allpairs.learner.pipelines.{PIPELINES[name].place}").PIPELINE
    return pipeline


def begin(name: str, folder: Path, inputs: Section, config: Section) -> Run:
    """Check and return the run in this folder, ready for its first unfinished stage.

    Raises InputError for unusable inputs, and if the folder holds a run with other inputs or another configuration.
    """
    run = Run(folder, inputs, config)
    pipeline = pipeline_named(name)
    missing = [path for path in _paths(inputs) if not Path(path).is_file()]
    if missing:
        raise InputError(f"{missing[0]}: file not found; check the path")
    pipeline.check(run)
    _keep(folder, {"pipeline": name, "config": config.model_dump(), "inputs": _digests(inputs)})
    return run


def run_stage(run: Run, stage: Stage, progress: Progress = no_progress) -> None:
    """Run the stage unless it is finished, seal its models with checksums, and move its folder into place."""
    if run.has(stage.name):
        return
    partial = run.folder / f".{stage.name}"
    if not stage.goes_on:
        shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True, exist_ok=True)
    stage.work(run, partial, progress)
    seal_models(partial)
    partial.replace(run.of(stage.name))


def finish(path: Path, work: Callable[[Path], None]) -> Path:
    """Return the path of a complete file or folder; if it is missing, work(partial path) writes it first."""
    if not path.exists():
        partial = path.with_name(f".{path.name}")
        shutil.rmtree(partial, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        work(partial)
        partial.replace(path)
    return path


def run_pipeline(name: str, run: Run, progress: Progress = no_progress) -> None:
    """Run every unfinished stage. progress: called with 0 to 1 over the whole run, and the stage's words."""
    stages = pipeline_named(name).stages
    total = sum(stage.share for stage in stages)
    for stage, before in zip(stages, shares_before(stages), strict=True):
        run_stage(run, stage, part_of(progress, before, before + stage.share / total, f"{stage.name}: "))


def write_artifacts(results: Path, artifacts: Sequence[Artifact]) -> None:
    """Write the list of the run's artifacts into the results' folder, and that a GPU rounded, if one did."""
    rounded = {"read in": "bfloat16"} if reads_in_bfloat16(torch.device(default_device())) else {}
    rows = [
        {"kind": artifact.kind, "title": artifact.title, "path": artifact.path, "about": artifact.figures | rounded}
        for artifact in artifacts
    ]
    (results / ARTIFACTS).write_text(json.dumps(rows, indent=1), encoding="utf-8")


def read_artifacts(results: Path) -> list[dict[str, Any]]:
    """Return the run's artifacts, with the fields of `Artifact`."""
    artifacts: list[dict[str, Any]] = json.loads((results / ARTIFACTS).read_text(encoding="utf-8"))
    return artifacts


def shares_before(stages: Sequence[Stage]) -> list[float]:
    """Return the part of the whole expected cost that lies before each stage."""
    whole = sum(stage.share for stage in stages)
    return [sum(stage.share for stage in stages[:number]) / whole for number in range(len(stages))]


def _paths(inputs: Section) -> list[str]:
    return [value for value in inputs.model_dump().values() if isinstance(value, str)]


def _digests(inputs: Section) -> dict[str, str]:
    """Return the SHA-256 of each input file, by the name of the input."""
    digests = {}
    for name, path in inputs.model_dump().items():
        if isinstance(path, str):
            with Path(path).open("rb") as file:
                digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests


def _keep(folder: Path, record: dict[str, Any]) -> None:
    """Record the run's pipeline, configuration and inputs. Raises InputError if the folder records others already."""
    path = folder / RUN
    text = json.dumps(record, indent=1)
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        changed = [key for key, value in json.loads(text).items() if before.get(key) != value]
        if changed:
            raise InputError(
                f"{folder} holds a run with another {changed[0]}: choose another folder, or remove this one"
            )
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".tmp")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise InputError(f"cannot write to {folder} ({error.strerror}): choose another folder") from None
