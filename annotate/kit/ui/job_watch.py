"""Progress of a job that does not change its project, drawn where its result will appear."""

from collections.abc import Callable

import streamlit as st

from allpairs.annotate.kit.jobs.job_progress import JobProgress
from allpairs.annotate.kit.ui.job_status import announce, failure, progress
from allpairs.db.projects.jobs import OPEN

UPDATE_SECONDS = 1  # seconds between two updates of an open job
NO_WORKER = "No worker is running. Start one with `allpairs worker`."


def watch(look: Callable[[], JobProgress], title: str, after: Callable[[], None]) -> None:
    """Draw the job's progress, or what it waits for, until it ends; then any failure, and call `after`.

    look: finds the job, if there is one. The whole page is redrawn when it ends.
    """
    under_way = _under_way(look())
    st.fragment(_watched, run_every=UPDATE_SECONDS if under_way else None)(look, title, after, under_way)


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
