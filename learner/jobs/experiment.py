"""The job `experiment`: the project's data as files → the grid → tables and figures. The project does not change.

A killed job resumes with the unfinished runs.
"""

import re
from pathlib import Path
from typing import Any

from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import held, publish_files, publishing
from allpairs.db.progress import Progress
from allpairs.db.projects.jobs import EXPERIMENT
from allpairs.db.projects.projects import project_of
from allpairs.db.results.experiments import STATE, experiment_folder
from allpairs.db.schema.engine import reading
from allpairs.learner.experiment.display import grid_bar
from allpairs.learner.experiment.grid import Grid, run_grid
from allpairs.learner.experiment.process import checked_devices
from allpairs.learner.experiment.report import write_report
from allpairs.learner.experiment.spec import Experiment, make_experiment
from allpairs.learner.jobs.data.experiment_files import Files, write_labels, write_project_files
from allpairs.learner.jobs.queue.job_state import database, job_workflow
from allpairs.learner.jobs.queue.progress import Reporter
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.jobs.queue.turns import Turn


@job_workflow(EXPERIMENT)
def experiment(job_id: str, project_id: int, definition: dict[str, Any]) -> str:
    """Run the job and return a summary. definition: as in an experiment's file, but without data sets."""
    turn = Turn()
    compares = any(row.get("kind") == "encoder" for row in definition["rows"])
    datasets = write_files(job_id, project_id, compares)
    while not (summary := run_experiment(job_id, {**definition, "datasets": datasets})):
        turn.give_way()
    return summary


@job_step
def write_files(job_id: str, project_id: int, labels: bool = False) -> dict[str, Files]:
    """Write the project's files and return them under its name, as the experiment's data sets.

    labels: write the labels that train, too.
    """
    with database() as engine, reading(engine) as session:
        name = project_of(session, project_id).name
        folder = experiment_folder(job_id) / "data"
        files = write_project_files(session, project_id, folder)
        if labels:
            files["labels"] = write_labels(session, project_id, folder)
    publish_files(experiment_folder(job_id) / "data")
    return {as_file_name(name): files}


@job_step
def run_experiment(job_id: str, definition: dict[str, Any]) -> str:
    """Run the grid, write tables and figures of the finished runs, and return a summary.

    Empty, after one run or more, if other jobs should go first. Raises InputError if no run finished.
    """
    folder = experiment_folder(job_id)
    with held(folder), publishing(folder):
        spec = make_experiment(definition, folder)
        grid = Grid(spec, folder, checked_devices([], 1))
        try:
            is_done = _run(job_id, grid)
        finally:
            write_report(spec, folder)  # of the finished runs, even if the user cancelled the rest
            publish_files(folder)
    return _summary(spec, grid) if is_done else ""


class _Over(Exception):
    """Other jobs should go first."""


def _run(job_id: str, grid: Grid) -> bool:
    """Run the grid and report its progress to the job's row; return whether it was not stopped for other jobs."""
    turn = Turn()
    before = grid.count("done") / len(grid.standings)
    with database() as engine, grid_bar() as bar:
        reporter: Progress = Reporter(engine, job_id, before, 1 - before)

        published: set[Path] | None = None

        def report(words: str, share_done: float) -> None:
            nonlocal published
            reporter(words, share_done)
            bar(words, share_done)
            ended = {standing.cell.folder for standing in grid.standings if standing.state == "done"}
            if ended != published:  # now another machine can resume here, and the page shows it
                for folder in ended - (published or set()):
                    publish_files(grid.out / folder)
                publish_files(grid.out / STATE)
                if published is not None and turn.is_over():
                    raise _Over
                published = ended

        try:
            run_grid(grid, report)
        except _Over:
            return False
        return True


def _summary(spec: Experiment, grid: Grid) -> str:
    if grid.failed and not grid.count("done"):
        raise InputError(f"no run of {spec.name} finished; the first failure was: {grid.failed[0].error}")
    return f"{grid.count('done')} of {len(grid.standings)} runs done"


def as_file_name(name: str) -> str:
    """Return the name without the characters that a data set's name must not contain."""
    cleaned = " ".join(re.sub(r"[^A-Za-z0-9 ._+-]", " ", name).split())
    return cleaned.lstrip("._+-")[:60].strip() or "project"
