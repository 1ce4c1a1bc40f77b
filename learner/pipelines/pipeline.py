"""A pipeline: stages that each leave a folder. One whose folder is there is not run again, so that a run goes on."""

import hashlib
import importlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from db.errors import InputError
from db.files.checksums import seal_models
from db.progress import Progress, no_progress
from learner.catalog import PIPELINES
from learner.catalog.section import Section

RUN = "run.json"  # in a run's folder: what it is a run of
RESULTS = "results"  # the last stage of every pipeline
ARTIFACTS = "artifacts.json"  # in its folder: what the run made


@dataclass(frozen=True)
class Run:
    """A run of a pipeline: its folder, and what was asked for; `inputs` and `config` as the catalog has them."""

    folder: Path
    inputs: Any
    config: Any

    def of(self, stage: str) -> Path:
        """The folder of a finished stage."""
        return self.folder / stage

    def has(self, stage: str) -> bool:
        """Whether the stage is finished."""
        return self.of(stage).is_dir()


@dataclass(frozen=True)
class Artifact:
    """Something that a run made and that a project can use: pairs, a bi-encoder, a cross-encoder.

    path: relative to the run's folder; about: its figures, by name.
    """

    kind: str
    title: str
    path: str
    about: dict[str, Any]


@dataclass(frozen=True)
class Stage:
    """A part of a pipeline that is done as a whole. share: its part of the expected cost.

    work(run, folder, progress) writes into the folder, which gets the stage's name when it is done. goes_on: the next
    try finds what a stopped one left, and its work makes its parts with `finish`, each once.
    """

    name: str
    share: float
    work: Callable[[Run, Path, Progress], None]
    goes_on: bool = False


@dataclass(frozen=True)
class Pipeline:
    """Stages in their order, and a check of the inputs before anything expensive. The last stage is named `results`."""

    check: Callable[[Run], None]
    stages: Sequence[Stage]


def pipeline_named(name: str) -> Pipeline:
    """The pipeline of that name in the catalog. Raises InputError where there is none."""
    if name not in PIPELINES:
        raise InputError(f"there is no pipeline {name!r}: choose one of {', '.join(PIPELINES)}")
    found: Pipeline = importlib.import_module(f"learner.pipelines.{PIPELINES[name].place}").PIPELINE
    return found


def begin(name: str, folder: Path, inputs: Section, config: Section) -> Run:
    """The run in this folder, checked, ready for its first unfinished stage.

    Raises InputError for inputs that cannot be used, and where the folder holds a run of something else.
    """
    run = Run(folder, inputs, config)
    pipeline = pipeline_named(name)
    missing = [path for path in _paths(inputs) if not Path(path).is_file()]
    if missing:
        raise InputError(f"{missing[0]}: there is no such file; check the path")
    pipeline.check(run)
    _keep(folder, {"pipeline": name, "config": config.model_dump(), "inputs": _digests(inputs)})
    return run


def run_stage(run: Run, stage: Stage, progress: Progress = no_progress) -> None:
    """Nothing; the stage's folder is there, whole, and its models have their checksums."""
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
    """The path of a file or folder that is there as a whole; work(aside) writes it, where it is not there yet."""
    if not path.exists():
        partial = path.with_name(f".{path.name}")
        shutil.rmtree(partial, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        work(partial)
        partial.replace(path)
    return path


def run_pipeline(name: str, run: Run, progress: Progress = no_progress) -> None:
    """Nothing; every stage is done. progress: hears of the whole run, 0 to 1, in the words of the stage."""
    for stage, before in zip((stages := pipeline_named(name).stages), shares_before(stages), strict=True):
        share = stage.share / sum(one.share for one in stages)

        def part(words: str, done: float, before: float = before, share: float = share, of: str = stage.name) -> None:
            progress(f"{of}: {words}", before + share * done)

        run_stage(run, stage, part)


def write_artifacts(results: Path, artifacts: Sequence[Artifact]) -> None:
    """Nothing; the folder of the results names what the run made."""
    (results / ARTIFACTS).write_text(json.dumps([asdict(artifact) for artifact in artifacts], indent=1))


def read_artifacts(results: Path) -> list[dict[str, Any]]:
    """What the run made, as `Artifact` names it."""
    found: list[dict[str, Any]] = json.loads((results / ARTIFACTS).read_text())
    return found


def shares_before(stages: Sequence[Stage]) -> list[float]:
    """The part of the whole expected cost that lies before each stage."""
    whole = sum(stage.share for stage in stages)
    return [sum(stage.share for stage in stages[:at]) / whole for at in range(len(stages))]


def _paths(inputs: Section) -> list[str]:
    return [value for value in inputs.model_dump().values() if isinstance(value, str)]


def _digests(inputs: Section) -> dict[str, str]:
    """What the files of the inputs hold, by the names of the inputs."""
    found = {}
    for name, path in inputs.model_dump().items():
        if isinstance(path, str):
            with Path(path).open("rb") as file:
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _keep(folder: Path, what: dict[str, Any]) -> None:
    """Nothing; the folder says what it is a run of. Raises InputError where it says something else already."""
    path = folder / RUN
    text = json.dumps(what, indent=1)
    if path.exists():
        before = json.loads(path.read_text())
        changed = [key for key, value in json.loads(text).items() if before.get(key) != value]
        if changed:
            raise InputError(f"{folder} holds a run with another {changed[0]}: name another folder, or remove this one")
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".tmp")
        partial.write_text(text)
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{folder} cannot be written to: {error.strerror}; name another folder") from None
