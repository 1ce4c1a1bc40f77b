"""The job `pipeline`: the project's data as files → one durable step for each stage. The project does not change.

A killed job resumes with the current stage. Finished stages leave a folder and are not run again.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import held, publish_files, publishing
from allpairs.db.projects.jobs import PIPELINE
from allpairs.db.results.pipelines import BEGAN, RUN, Began, pipeline_folder, stored_outputs
from allpairs.db.schema.engine import reading
from allpairs.learner.jobs.data.pipeline_files import write_data
from allpairs.learner.jobs.queue.job_state import database, job_workflow
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.jobs.queue.turns import Turn
from allpairs.learner.light.catalog import PIPELINES
from allpairs.learner.pipelines.pipeline import Run, begin, pipeline_named, run_stage, shares_before

Files = dict[str, str | None]


@job_workflow(PIPELINE)
def pipeline(job_id: str, project_id: int, name: str, config: dict[str, Any], chosen: dict[str, Any]) -> str:
    """Run the job and return a summary. config: the pipeline's; chosen: its inputs; both as the catalog has them."""
    turn = Turn()
    files = write_inputs(job_id, project_id, name, config, chosen)
    for stage in check_inputs(job_id, name, config, files):
        turn.give_way()
        do_stage(job_id, name, config, files, stage)
    return tell(job_id, name)


@job_step
def write_inputs(job_id: str, project_id: int, name: str, config: dict[str, Any], chosen: dict[str, Any]) -> Files:
    """Write the files that the pipeline reads, return them by input name, and describe them in the run's folder."""
    if name not in PIPELINES:
        raise InputError(f"there is no pipeline {name!r}: choose one of {', '.join(PIPELINES)}")
    folder = pipeline_folder(job_id)
    with database() as engine, reading(engine) as session:
        begun = write_data(session, project_id, name, chosen, int(config.get("seed", 0)), folder / "data")
    (folder / BEGAN).write_text(json.dumps(asdict(Began(name, config, begun.words))), encoding="utf-8")
    publish_files(folder)
    return begun.files


@job_step
def check_inputs(job_id: str, name: str, config: dict[str, Any], files: Files) -> list[str]:
    """Return the names of the stages. Raises InputError for inputs that the pipeline cannot use."""
    run = _run(job_id, name, config, files)
    with _held(run, files), publishing(run.folder / RUN):
        begin(name, run.folder, run.inputs, run.config)
    return [stage.name for stage in pipeline_named(name).stages]


@job_step
def do_stage(job_id: str, name: str, config: dict[str, Any], files: Files, stage: str) -> None:
    """Run the stage, which leaves its folder whole, and report its progress to the job's row."""
    stages = pipeline_named(name).stages
    place = [entry.name for entry in stages].index(stage)
    share = stages[place].share / sum(entry.share for entry in stages)
    with database() as engine, reporting(engine, job_id, shares_before(stages)[place], share) as tell_row:
        title = f"{stage} ({place + 1} of {len(stages)})"

        def report(words: str, share_done: float) -> None:
            tell_row(f"{title}: {words}", share_done)

        tell_row(title, 0.0)
        run = _run(job_id, name, config, files)
        with _held(run, files), publishing(run.of(stage)):
            run_stage(run, stages[place], report)


@job_step
def tell(job_id: str, name: str) -> str:
    """Return a summary of what the run made."""
    artifacts = stored_outputs(job_id)
    return f"{PIPELINES[name].title}: {', '.join(str(artifact['title']) for artifact in artifacts) or 'results'}"


@contextmanager
def _held(run: Run, files: Files) -> Iterator[None]:
    """Keep the run's results so far and its inputs on this machine until the end of the block."""
    with ExitStack() as stack:
        for path in (run.folder, *(Path(file) for file in files.values() if file)):
            stack.enter_context(held(path))
        yield


def _run(job_id: str, name: str, config: dict[str, Any], files: Files) -> Run:
    entry = PIPELINES[name]
    inputs = entry.inputs.model_validate(files)
    return Run(pipeline_folder(job_id), inputs, entry.config.model_validate(config))
