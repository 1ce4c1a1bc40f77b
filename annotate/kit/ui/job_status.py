"""The state of a project's jobs: one line for any page, and the parts of the page Jobs."""

from collections.abc import Callable
from html import escape

import streamlit as st

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.language.translator import ENGLISH_WORDS, Words, later
from allpairs.annotate.kit.jobs import open_jobs
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.annotate.kit.jobs.open_jobs import JobProgress
from allpairs.annotate.kit.text.formatting import ago, duration, literal, sentence
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.language import _
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.db.projects.jobs import NEXT_ROUND, OPEN
from allpairs.db.projects.queues import LONG
from allpairs.db.schema.tables import Job

KINDS = {
    "next_round": later("Train and prepare the next batch"),
    "audit": later("Measure with audit labels"),
    "correction": later("Check false positives"),
    "entities": later("Measure groups"),
    "preview": later("Preview the next pairs"),
    "experiment": later("Experiment"),
    "explore": later("Prepare a round for exploring"),
    "search": later("Search for similar texts"),
    "matches": later("Find matches"),
    "pipeline": later("Pipeline"),
    "suggest": later("Suggest questions"),
    "rate": later("Ask the machine rater"),
}
STAGES = {
    "": later("starting"),
    "load": later("loading the encoder"),
    "train": later("training"),
    "encode": later("encoding texts"),
    "evaluate": later("evaluating over all pairs"),
    "search": later("searching for neighbours"),
    "rank": later("ranking all pairs"),
    "divide": later("grouping pairs for the audit"),
    "draw": later("sampling audit pairs"),
}
UPDATE_SECONDS = 2  # seconds between two updates of an open job
RESULT_SECONDS = 1  # seconds, where somebody waits for a result
NO_WORKER = "No worker is running. Start one with `allpairs worker`."


def job_line(project_id: int) -> None:
    """Draw the newest job's progress or outcome and the "Train now" button, and keep them up to date."""
    newest = open_jobs.read_newest_job(engine(), project_id)
    under_way = newest is not None and newest.state in OPEN
    st.fragment(_line, run_every=UPDATE_SECONDS if under_way else None)(project_id, under_way)


def _line(project_id: int, was_under_way: bool) -> None:
    newest = open_jobs.read_newest_job(engine(), project_id)
    if newest is not None and newest.state in OPEN:
        progress(newest, KINDS.get(newest.kind, newest.kind) + ": ")
    elif was_under_way:
        st.rerun()  # the job has ended, so the rest of the page is out of date
    else:
        _idle(project_id, newest)


def _idle(project_id: int, newest: Job | None) -> None:
    if newest is not None and newest.state == "failed":
        failure(newest)
    with st.container(horizontal=True, vertical_alignment="center"):
        train_now(project_id, "Try again" if has_failed_to_train(newest) else "Train now")
        if newest is not None:
            st.caption(f"Last job {newest.state} {ago(newest.updated_at)}.")
            announce(f"{KINDS.get(newest.kind, newest.kind)}: {newest.state}")


def has_failed_to_train(job: Job | None) -> bool:
    """Return whether the job was a training that failed. The button that trains then offers to try again."""
    return job is not None and job.state == "failed" and job.kind == NEXT_ROUND


def train_now(project_id: int, label: str = "Train now") -> None:
    """Draw the button that trains and makes the next batch."""
    effect = "Trains on all answers so far. A new batch replaces the pairs that are still unanswered."
    if not may(Right.CHANGE, project_id):
        return
    reason = jobs.why_not_train(engine(), project_id)
    if reason:
        st.caption(sentence(reason))
    icon = ":material/model_training:"
    if not st.button(label, key="train_now", type="primary", icon=icon, help=effect, disabled=bool(reason)):
        return
    with told():
        jobs.request_round(engine(), project_id)
        st.rerun()


def progress(job: Job, title: str = "") -> None:
    """Draw the job's progress, with a cancel button for those who may cancel it."""
    st.progress(share_done(job), text=title + progress_in_words(job))
    cancels = may(Right.CHANGE, job.project_id)
    if cancels and st.button("Cancel", key=f"cancel_{job.id}", icon=":material/cancel:"):
        open_jobs.cancel(engine(), job.id)
        st.rerun()


def share_done(job: Job) -> float:
    """Return how much of the job is done, from 0 to 1."""
    return min(1.0, max(0.0, job.fraction))


def progress_in_words(job: Job, _: Words = ENGLISH_WORDS) -> str:
    """Return what the job is doing, how far it is, and how long it will still take."""
    if job.state == "waiting":
        return _waits_for(job, _)
    return ", ".join([_(STAGES.get(job.stage, job.stage)), *_how_far(job, _)])


def _how_far(job: Job, _: Words) -> list[str]:
    parts = [_.number(share_done(job), ".0%")]
    if job.seconds_left is not None:
        parts.append(_("about {time} left", time=duration(job.seconds_left, _)))
    return parts


def _waits_for(job: Job, _: Words) -> str:
    """Return what the job waits for: a worker, or the job that runs before it, and how long that still takes.

    Of a project that the person may not see neither its name nor what its job does is said.
    """
    waited_for = open_jobs.read_job_ahead(engine(), job)
    if waited_for is None:
        return _("waiting for a worker")
    ahead, project = waited_for
    is_seen = ahead.project_id == job.project_id or may(Right.SEE, ahead.project_id)
    stage = [_(STAGES.get(ahead.stage, ahead.stage))] if is_seen else []
    values = {"job": _(KINDS.get(ahead.kind, ahead.kind)), "progress": ", ".join([*stage, *_how_far(ahead, _)])}
    if ahead.project_id == job.project_id:
        reason = _("waits for “{job}” ({progress})", **values)
    elif is_seen:
        reason = _("waits for “{job}” of the project {project} ({progress})", project=literal(project), **values)
    else:
        reason = _("waits for “{job}” of another project ({progress})", **values)
    goes_first = ahead.kind in LONG and job.kind not in LONG
    return reason + (_("; it starts when the current part of that is done") if goes_first else "")


def failure(job: Job) -> None:
    """Draw one sentence that says why the job failed, with the traceback in an expander."""
    st.error(literal(job.error or _("The job failed without a message.")), icon=":material/error:")
    if job.traceback and may(Right.CHANGE, job.project_id):
        with st.expander("Traceback", icon=":material/bug_report:"):
            st.code(job.traceback, language="python", wrap_lines=True)


def announce(text: str) -> None:
    """Have screen readers say the text once it appears on an open page. It takes no room (frame.css)."""
    st.html(f'<span class="announced">{escape(text)}</span>')


def watch(look: Callable[[], JobProgress], title: str, after: Callable[[], None]) -> None:
    """Draw the job's progress, or what it waits for, until it ends; then any failure, and call `after`.

    look: finds the job, if there is one. The whole page is redrawn when it ends.
    """
    under_way = _under_way(look())
    st.fragment(_watched, run_every=RESULT_SECONDS if under_way else None)(look, title, after, under_way)


def _watched(look: Callable[[], JobProgress], title: str, after: Callable[[], None], was_under_way: bool) -> None:
    newest = look()
    if newest.job is not None and _under_way(newest):
        progress(newest.job, title)
        st.caption(why_waiting(newest))
        return
    if was_under_way:
        st.rerun()  # it has ended: stop polling and show the result
    if newest.job is not None:
        announce(title + newest.job.state)
        if newest.job.state == "failed":
            failure(newest.job)
    after()


def _under_way(newest: JobProgress) -> bool:
    return newest.job is not None and newest.job.state in OPEN


def why_waiting(newest: JobProgress) -> str:
    """Return what is missing if no worker can take the job, as Markdown; its progress says which job it waits for."""
    waits = newest.job is not None and newest.job.state == "waiting"
    return NO_WORKER if waits and not newest.has_worker else ""
