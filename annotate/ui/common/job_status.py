"""The state of a project's jobs: a line for any page, and the parts of the jobs page."""

import streamlit as st

from annotate.access.roles import Right
from annotate.jobs import requests as jobs
from annotate.text.formatting import ago, duration, literal
from annotate.ui.state import engine, may
from db.errors import InputError
from db.projects.jobs import NEXT_ROUND
from db.schema.tables import Job

KINDS = {
    "next_round": "Train and make the next batch",
    "audit": "Measure by audit labels",
    "correction": "Check false positives",
    "preview": "Preview the next pairs",
    "experiment": "Experiment",
    "explore": "Prepare a round for exploring",
    "search": "Search for the nearest texts",
    "matches": "Find matches",
    "pipeline": "Pipeline",
    "suggest": "Suggest questions",
    "opinions": "Tell opinions and why",
}
STAGES = {
    "": "starting",
    "load": "loading the encoder",
    "train": "training",
    "encode": "encoding texts",
    "evaluate": "measuring over all pairs",
    "search": "searching neighbours",
    "rank": "ranking all pairs",
    "draw": "drawing audit pairs",
}
OPEN = ("waiting", "running")
EVERY = 2  # seconds between two looks at a job that is under way


def job_line(project_id: int) -> None:
    """Nothing; draws the newest job's progress or outcome and the "Train now" button, and keeps them fresh."""
    newest = jobs.newest_job(engine(), project_id)
    under_way = newest is not None and newest.state in OPEN
    st.fragment(_line, run_every=EVERY if under_way else None)(project_id, under_way)


def _line(project_id: int, was_under_way: bool) -> None:
    newest = jobs.newest_job(engine(), project_id)
    if newest is not None and newest.state in OPEN:
        progress(newest, KINDS.get(newest.kind, newest.kind) + ": ")
    elif was_under_way:
        st.rerun()  # the job has ended: what the rest of the page shows is out of date
    else:
        _idle(project_id, newest)


def _idle(project_id: int, newest: Job | None) -> None:
    if newest is not None and newest.state == "failed":
        failure(newest)
    with st.container(horizontal=True, vertical_alignment="center"):
        train_now(project_id, "Try again" if has_failed_to_train(newest) else "Train now")
        if newest is not None:
            st.caption(f"Last job {newest.state} {ago(newest.updated_at)}.")


def has_failed_to_train(job: Job | None) -> bool:
    """Whether the job was to train and has failed: the button that trains tries it again."""
    return job is not None and job.state == "failed" and job.kind == NEXT_ROUND


def train_now(project_id: int, label: str = "Train now") -> None:
    """Nothing; draws the button that asks for a training and the next batch."""
    effect = "Trains on all answers so far. Pairs of the batch that are still open are replaced by a new, larger batch."
    if not may(Right.CHANGE, project_id):
        return
    if not st.button(label, key="train_now", type="primary", icon=":material/model_training:", help=effect):
        return
    try:
        jobs.request_round(engine(), project_id)
    except InputError as problem:
        st.warning(literal(str(problem)))
    else:
        st.rerun()


def progress(job: Job, title: str = "") -> None:
    """Nothing; draws how far the job is, with a button that cancels it for those who may."""
    st.progress(min(1.0, max(0.0, job.fraction)), text=title + progress_in_words(job))
    cancels = may(Right.CHANGE, job.project_id)
    if cancels and st.button("Cancel", key=f"cancel_{job.id}", icon=":material/cancel:"):
        jobs.cancel(engine(), job.id)
        st.rerun()


def progress_in_words(job: Job) -> str:
    """What the job does now, how far it is, and how long it still takes."""
    if job.state == "waiting":
        return "waiting for a worker"
    parts = [STAGES.get(job.stage, job.stage), f"{job.fraction:.0%}"]
    if job.seconds_left is not None:
        parts.append(f"about {duration(job.seconds_left)} left")
    return ", ".join(parts)


def failure(job: Job) -> None:
    """Nothing; draws why the job failed in one sentence, the traceback one click away."""
    st.error(literal(job.error or "The job failed without saying why."), icon=":material/error:")
    if job.traceback and may(Right.CHANGE, job.project_id):
        with st.expander("Traceback", icon=":material/bug_report:"):
            st.code(job.traceback, language="python", wrap_lines=True)
