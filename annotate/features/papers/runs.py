"""Pipeline runs as the app sees them: requested, watched, read, removed. The worker runs them and writes files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Engine

from allpairs.annotate.frame.access.other_projects import project_for
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting, allowed
from allpairs.annotate.kit.jobs import open_jobs
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.domain import Kind
from allpairs.db.errors import InputError, first_wrong
from allpairs.db.files.artifacts import discard, held
from allpairs.db.labels.pipeline_seeds import seed_counts
from allpairs.db.projects.jobs import OPEN, PIPELINE, jobs_of_project, run_of
from allpairs.db.projects.projects import project_of, require_unused
from allpairs.db.results.pipelines import Began, pipeline_folder, read_began, stored_outputs
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Job
from allpairs.learner.light.catalog import PIPELINES
from allpairs.learner.light.catalog.from_project import (
    FEWEST,
    FROM_PROJECT,
    ON_WORKER,
    TWO_LISTS,
    JudgedPairs,
    SeedPairs,
    SourcePairs,
)
from allpairs.learner.light.catalog.section import Section


@dataclass(frozen=True)
class RunRow:
    """A run: its job, and its configuration once it has started."""

    job: Job
    began: Began | None

    @property
    def id(self) -> str:
        return self.job.id

    @property
    def name(self) -> str:
        """The pipeline's title in the catalog."""
        entry = PIPELINES.get(self.began.pipeline) if self.began else None
        return entry.title if entry else "Pipeline"

    @property
    def state(self) -> str:
        return self.job.state

    @property
    def time(self) -> datetime:
        return self.job.created_at


@dataclass(frozen=True)
class RunOutput:
    """An output of a run: its kind and title, its path, and its figures by name."""

    number: int  # place in the run's outputs, from 0
    kind: str
    title: str
    path: Path
    figures: Mapping[str, Any]


def list_runs(engine: Engine, project_id: int) -> list[RunRow]:
    """Return the project's runs, the newest first."""
    with reading(engine) as session:
        pipeline_jobs = [job for job in jobs_of_project(session, project_id) if job.kind == PIPELINE]
    return [RunRow(job, read_began(job.id)) for job in pipeline_jobs]


def run_hindrance(engine: Engine, project_id: int, name: str) -> str:
    """Return why the pipeline cannot run on the project; empty if it can."""
    if name not in FROM_PROJECT:
        return "It cannot run on a project yet: run it on files, with `allpairs pipeline`."
    if name in TWO_LISTS:
        with reading(engine) as session:
            if project_of(session, project_id).kind != Kind.BIPARTITE:
                return "It needs a project of two lists: questions on the left, passages on the right."
    begins = FROM_PROJECT[name]()
    return "" if isinstance(begins, SourcePairs) else _too_few(engine, project_id, begins)


def _too_few(engine: Engine, project_id: int, chosen: Section) -> str:
    """Return why the project has too few positive pairs for the chosen inputs; empty if it has enough.

    Raises InputError for a source project that the person cannot see, and Refused if they may not export its data.
    """
    if not isinstance(chosen, SeedPairs | JudgedPairs):
        return ""
    with reading(engine) as session:
        source_project = chosen.project.strip() if isinstance(chosen, SourcePairs) else ""
        source_id = project_for(session, Right.CHANGE, source_project).id if source_project else project_id
        labelled, known = seed_counts(session, source_id, FEWEST)
    if {"labels": labelled, "known pairs": known}.get(chosen.source, max(labelled, known)) >= FEWEST:
        return ""
    return (
        f"It needs at least {FEWEST} positive pairs of training texts, but there are {labelled or 'no'} labelled "
        f"and {known or 'no'} known ones: label some on the page “Label”."
    )


def request_run(
    engine: Engine, project_id: int, name: str, config: Mapping[str, Any], chosen: Mapping[str, Any]
) -> str:
    """Request the job that runs the pipeline; return its id. config, chosen: as in the catalog.

    Raises InputError for impossible values, for too few positive pairs, while another run is open, and if the person
    may not read the named files; Refused for a project or a model that they may not use.
    """
    if name not in PIPELINES:
        raise InputError(f"there is no pipeline {name!r}: choose one of {', '.join(PIPELINES)}")
    if reason := run_hindrance(engine, project_id, name):
        raise InputError(reason)
    try:
        checked = PIPELINES[name].config.model_validate(config)
        begins = FROM_PROJECT[name].model_validate(chosen)
    except ValidationError as error:
        raise InputError(first_wrong(error)) from None
    if reason := _too_few(engine, project_id, begins) or _unreadable(engine, project_id, name, begins):
        raise InputError(reason)
    return jobs.request_pipeline(engine, project_id, name, checked.model_dump(), begins.model_dump())


def _unreadable(engine: Engine, project_id: int, name: str, chosen: Section) -> str:
    """Return why the person may not read the named files on the worker; empty if none is named or they may."""
    titles = type(chosen).model_fields
    named = [titles[field].title or field for field in ON_WORKER.get(name, ()) if getattr(chosen, field)]
    if not named or allowed(engine, Right.INSTALL, project_id):
        return ""
    return (
        f"only administrators of the installation may use files on the worker's machine: leave “{named[0]}” empty, or "
        "ask one of them to start the run"
    )


def outputs_of(run_id: str) -> Sequence[RunOutput]:
    """Return the existing outputs of the run; ignores paths outside its folder."""
    folder = pipeline_folder(run_id).resolve()
    outputs = [
        RunOutput(number, output["kind"], output["title"], (folder / output["path"]).resolve(), output["about"])
        for number, output in enumerate(stored_outputs(run_id))
    ]
    return [output for output in outputs if output.path.is_relative_to(folder) and _is_here(output.path)]


def _is_here(path: Path) -> bool:
    with held(path):
        return path.exists()


def run_output(engine: Engine, project_id: int, run_id: str, number: int) -> RunOutput:
    """Return an output of the run by its place. Raises InputError if there is no such run or output."""
    with reading(engine) as session:
        run_of(session, project_id, run_id)
    for output in outputs_of(run_id):
        if output.number == number:
            return output
    raise InputError(f"the run {run_id} has no output number {number}, or its files are missing")


def delete_run(engine: Engine, project_id: int, run_id: str) -> None:
    """Delete the run's files and its job's row; labels that came from it stay.

    Raises InputError while it is open, and while a project uses its encoder.
    """
    folder = pipeline_folder(run_id)
    with acting(engine, Right.CHANGE, project_id, put_away=True) as session:
        job = run_of(session, project_id, run_id)
        if job.state in OPEN:
            raise InputError("the run is not finished: cancel it first")
        require_unused(session, folder)
        session.delete(job)
        open_jobs.forget([run_id])
    discard(folder)
