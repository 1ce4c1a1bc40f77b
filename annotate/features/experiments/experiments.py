"""Experiments as the app sees them: requested, watched, read. The worker runs them and writes files."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.other_projects import require_models
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting, is_allowed
from allpairs.annotate.kit.jobs import open_jobs
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.annotate.kit.jobs.result_files import read_rows_of
from allpairs.db.domain import AnswerKind, Purpose, Settings
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import discard
from allpairs.db.files.report import ENCODERS
from allpairs.db.labels.answers import purpose_counts
from allpairs.db.projects.evaluations import gold_counts
from allpairs.db.projects.jobs import EXPERIMENT, OPEN, jobs_of_kind
from allpairs.db.projects.projects import all_projects, project_of, project_settings
from allpairs.db.results.experiments import RunState, experiment_folder, experiment_names, read_stored
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Job
from allpairs.learner.light.catalog import STRATEGIES

REFERENCE = "uncertainty"
MATCHED = "stratified-match"
LEAST_LABELS = 10  # of each class
LONGEST_NAME = 200  # characters
LONGEST_ROW = 50  # characters
# Settings that a simulation does not use.
OF_PEOPLE = {"question", "guidelines", "auto_train", "keep_groups", "rater_use"}


@dataclass(frozen=True)
class ExperimentRow:
    """An experiment: its project, if any, its job if the app requested it, and its runs once it has started."""

    id: str
    name: str
    project: str | None
    job: Job | None
    runs: Sequence[RunState]
    time: datetime  # when it was requested, else when its files last changed

    @property
    def state(self) -> str:
        """The job's state; for an experiment of the command line, done or stopped."""
        if self.job is not None:
            return self.job.state
        return "stopped" if any(run.state in OPEN for run in self.runs) else "done"

    @property
    def failed(self) -> list[RunState]:
        return [run for run in self.runs if run.state == "failed"]


@dataclass(frozen=True)
class ComparedEncoder:
    """An encoder of a finished comparison: its row, its name or folder, and its average precision on labels."""

    row: str
    encoder: str
    labels_ap: float


@dataclass(frozen=True)
class Wish:
    """A requested experiment: strategies of the catalog, numbers of seeds and rounds, and the growth of batches."""

    name: str
    strategies: Sequence[str]
    seeds: int
    rounds: int
    first: int
    growth: float


def list_experiments(engine: Engine) -> list[ExperimentRow]:
    """Return every experiment, the newest first: those of jobs, and those whose folder was copied beside theirs.

    Leaves out experiments of projects that are in the bin or whose figures the person may not see.
    """
    with reading(engine) as session:
        stored = all_projects(session, archived=True)
        projects = {project.id: project.name for project in stored if is_allowed(session, Right.SEE, project.id)}
        jobs_of_experiments = jobs_of_kind(session, EXPERIMENT)
    rows = [_of_job(job, projects[job.project_id]) for job in jobs_of_experiments if job.project_id in projects]
    copied = [_of_folder(name) for name in experiment_names() if name not in {job.id for job in jobs_of_experiments}]
    return sorted([*rows, *copied], key=lambda row: row.time, reverse=True)


def _of_job(job: Job, project: str) -> ExperimentRow:
    stored = read_stored(job.id)
    name, runs = (stored.name, stored.runs) if stored else (f"Experiment on {project}", ())
    return ExperimentRow(job.id, name, project, job, runs, job.created_at)


def _of_folder(name: str) -> ExperimentRow:
    stored = read_stored(name)
    assert stored is not None  # its file named it
    return ExperimentRow(name, stored.name, None, None, stored.runs, datetime.fromtimestamp(stored.updated, UTC))


def hindrance(engine: Engine, project_id: int) -> str:
    """Return why no experiment can be run on the project's data; empty if one can."""
    with reading(engine) as session:
        positives, measurable = gold_counts(session, project_id)
    if not positives:
        return "This project has no known pairs to simulate an annotator with. Create a project with known pairs."
    if not measurable:
        return "No known positive is a pair of evaluation items. Create the project with a larger evaluation share."
    return ""


def request(engine: Engine, project_id: int, wish: Wish) -> str:
    """Request the job that runs the experiment; return its id. Raises InputError for impossible wishes."""
    if reason := hindrance(engine, project_id):
        raise InputError(reason)
    with reading(engine) as session:
        settings = project_settings(session, project_id)
    return jobs.request_experiment(engine, project_id, definition_of(wish, settings))


def definition_of(wish: Wish, settings: Settings) -> dict[str, Any]:
    """Return the experiment as in its file, without data sets: a row for each strategy, in the catalog's order.

    Raises InputError without a strategy, and if one needs another that is not chosen.
    """
    chosen = [name for name in STRATEGIES if name in wish.strategies]
    if not chosen:
        raise InputError("no strategy is chosen: choose at least one")
    if MATCHED in chosen and REFERENCE not in chosen:
        title = STRATEGIES[MATCHED].title
        needed = STRATEGIES[REFERENCE].title
        raise InputError(f"“{title}” samples as many pairs of each class as “{needed}” collects: choose “{needed}” too")
    common = settings.model_dump(exclude=OF_PEOPLE | {"strategy", "seed"})
    return {
        "name": wish.name.strip() or "Experiment",
        "rows": [{"name": name, "strategy": name} for name in chosen],
        "seeds": list(range(wish.seeds)),
        "rounds": wish.rounds,
        "baseline": REFERENCE if REFERENCE in chosen else chosen[0],
        "settings": {**common, "first": wish.first, "growth": wish.growth},
    }


def label_hindrance(engine: Engine, project_id: int) -> str:
    """Return why the project's labels cannot compare encoders; empty if they can."""
    with reading(engine) as session:
        counts = purpose_counts(session, project_id)
    few = [
        name
        for name, answer in (("yes", AnswerKind.POSITIVE), ("no", AnswerKind.NEGATIVE))
        if counts.get((Purpose.TRAIN, answer), 0) < LEAST_LABELS
    ]
    if few:
        return (
            f"Encoders are compared on labels. Answer at least {LEAST_LABELS} pairs with “{few[0].capitalize()}” first."
        )
    return ""


def request_encoders(engine: Engine, project_id: int, encoders: Sequence[str]) -> str:
    """Request the job that compares these encoders on the project's labels; return its id. The first is the baseline.

    Raises InputError for fewer than two encoders, and Refused for a model that the person may not use.
    """
    names = list(dict.fromkeys(filter(None, map(str.strip, encoders))))
    if len(names) < 2:
        raise InputError("name at least two encoders to compare")
    with acting(engine, Right.CHANGE, project_id) as session:
        require_models(session, names)
        project = project_of(session, project_id)
        settings = Settings.model_validate(project.settings)
        name = project.name
    common = settings.model_dump(exclude=OF_PEOPLE | {"strategy", "seed", "encoder"})
    rows = [{"name": row, "kind": "encoder", "backbone": encoder} for row, encoder in _rows_of(names).items()]
    definition = {"name": f"Encoders on {name}"[:LONGEST_NAME], "rows": rows, "seeds": [0], "settings": common}
    return jobs.request_experiment(engine, project_id, definition)


def _rows_of(encoders: Sequence[str]) -> dict[str, str]:
    """Return a distinct name that a folder can have for each encoder: its last part, numbered if it is taken."""
    encoder_by_name: dict[str, str] = {}
    for encoder in encoders:
        last = re.sub(r"[^A-Za-z0-9 ._+-]+", " ", encoder.rstrip("/").rsplit("/", 1)[-1]).strip(" ._+-")[:LONGEST_ROW]
        name = last or "encoder"
        number = 2
        while name in encoder_by_name:
            name = f"{last} {number}"
            number = number + 1
        encoder_by_name[name] = encoder
    return encoder_by_name


def compared_encoders(id_: str) -> list[ComparedEncoder]:
    """Return the encoders that a finished comparison has measured, the best first; none of other experiments."""
    rows = read_rows_of(experiment_folder(id_), ENCODERS)
    return [ComparedEncoder(row["row"], row["encoder"], row["labels_ap"]) for row in rows]


def delete_experiment(engine: Engine, id_: str) -> None:
    """Delete the experiment's files and its job's row. Raises InputError while it is open."""
    with reading(engine) as session:
        job = _job(session, id_)
    # An experiment of the command line belongs to no project: only the installation's administrators may delete it.
    right, project_id = (Right.CHANGE, job.project_id) if job is not None else (Right.INSTALL, None)
    with acting(engine, right, project_id, put_away=True) as session:
        job = _job(session, id_)
        if job is not None and job.state in OPEN:
            raise InputError("the experiment is running: cancel it first")
        if job is not None:
            session.delete(job)
            open_jobs.forget([id_])
    discard(experiment_folder(id_))


def _job(session: Session, id_: str) -> Job | None:
    job = session.get(Job, id_)
    return job if job is not None and job.kind == EXPERIMENT else None
