"""Jobs that run, wait or have ended, and the workers that run them."""

import pandas as pd
import streamlit as st

from allpairs.annotate.kit.jobs import open_jobs as jobs
from allpairs.annotate.kit.text.formatting import ago, literal
from allpairs.annotate.kit.ui.job_status import (
    KINDS,
    UPDATE_SECONDS,
    failure,
    has_failed_to_train,
    progress,
    train_now,
)
from allpairs.annotate.kit.ui.state import current_project, engine
from allpairs.db.projects.jobs import OPEN
from allpairs.db.schema.tables import Job, Worker

WORKER_COMMAND = "allpairs worker"
MOST_SHOWN = 20
STATES = {
    "waiting": ("orange", ":material/schedule:"),
    "running": ("blue", ":material/sync:"),
    "done": ("green", ":material/check:"),
    "failed": ("red", ":material/error:"),
    "cancelled": ("gray", ":material/cancel:"),
}


def main() -> None:
    """Draw the page."""
    st.title("Jobs", anchor=False)
    project = current_project(engine())
    if project is None:
        st.info("There is no project yet. Create one on the page “New project”.", icon=":material/add:")
    else:
        st.caption(literal(project.name))
        under_way = any(job.state in OPEN for job in jobs.read_jobs(engine(), project.id))
        st.fragment(job_list, run_every=UPDATE_SECONDS if under_way else None)(project.id, under_way)
    worker_list()


def job_list(project_id: int, was_under_way: bool) -> None:
    """Draw the jobs, newest first, and the button that starts one."""
    job_rows = jobs.read_jobs(engine(), project_id)
    under_way = any(job.state in OPEN for job in job_rows)
    if was_under_way and not under_way:
        st.rerun()  # the last job has ended: stop polling
    if not under_way:
        train_now(project_id, "Try again" if has_failed_to_train(next(iter(job_rows), None)) else "Train now")
    if not job_rows:
        st.info("There are no jobs yet.", icon=":material/inbox:")
    for job in job_rows[:MOST_SHOWN]:
        with st.container(border=True):
            job_row(job)
    if len(job_rows) > MOST_SHOWN:
        st.caption(f"{len(job_rows) - MOST_SHOWN:,} older jobs are not shown.")


def job_row(job: Job) -> None:
    """Draw one job."""
    colour, icon = STATES[job.state]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(job.state, icon=icon, color=colour)  # type: ignore[arg-type]
        st.markdown(f"**{KINDS.get(job.kind, job.kind)}**")
        st.caption(f"{job.id}, requested {ago(job.created_at)}")
    if job.state in OPEN:
        progress(job)
    elif job.state == "failed":
        failure(job)


@st.fragment(run_every=UPDATE_SECONDS)
def worker_list() -> None:
    """Draw the running workers, or the command that starts one."""
    st.subheader("Workers", anchor=False)
    alive = jobs.workers(engine())
    if not alive:
        st.warning("No worker is running, so jobs wait. Start one with this command:")
        st.code(WORKER_COMMAND, language="bash")
        return
    st.dataframe(pd.DataFrame(map(worker_row, alive)), hide_index=True, alt="Running workers")


def worker_row(worker: Worker) -> dict[str, object]:
    """Return what is known of a worker, by column."""
    return {
        "Host": worker.host,
        "Process": str(worker.pid),
        "Device": worker.device,
        "Queue": worker.queue or "",
        "Last seen": ago(worker.seen_at),
    }


main()
