"""The papers' pipelines on a project's data: start a run, follow it, read its results, use what it made."""

import streamlit as st

from allpairs.annotate.pipelines.runs import RunRow, list_runs
from allpairs.annotate.ui.common.job_status import EVERY
from allpairs.annotate.ui.pipelines.form import pipeline_card
from allpairs.annotate.ui.pipelines.results import made
from allpairs.annotate.ui.pipelines.run import end, results, standing
from allpairs.annotate.ui.pipelines.study_start import study_list
from allpairs.annotate.ui.state import current_project, engine
from allpairs.db.projects.jobs import OPEN
from allpairs.learner.catalog import PIPELINES


def main() -> None:
    """Draw the page."""
    st.title("Pipelines", anchor=False)
    project = current_project(engine())
    if project is None:
        st.info("There is no project yet. Create one on the page “New project”.", icon=":material/add:")
        return
    found = list_runs(engine(), project.id)
    at_work = [run.id for run in found if run.job.state in OPEN]
    st.fragment(_watch, run_every=EVERY if at_work else None)(project.id, at_work)
    for name in PIPELINES:
        pipeline_card(project.id, name)
    ended = [run for run in found if run.job.state not in OPEN]
    if ended:
        shown = _chosen(ended)
        standing(shown)
        made(project.id, shown.id)
    elif not found:
        st.caption("There are no runs yet.")
    study_list(project.id)
    if ended:
        results(shown)
        end(shown)


def _chosen(ended: list[RunRow]) -> RunRow:
    """Draw the choice of a run, the newest by default, and return the one to show."""
    names = {run.id: f"{run.title}, {run.job.created_at:%d %b %H:%M}" for run in ended}
    newest = ended[0].id  # in the key, so that a new run is selected when it ends
    id_ = st.selectbox("Results of", list(names), format_func=names.__getitem__, key=f"run_shown_{newest}")
    return next(run for run in ended if run.id == id_)


def _watch(project_id: int, at_work: list[str]) -> None:
    """Draw every run that is running, and redraw the page when one has ended."""
    rows = [run for run in list_runs(engine(), project_id) if run.job.state in OPEN]
    if {run.id for run in rows} != set(at_work):
        st.rerun()
    for run in rows:
        with st.container(border=True):
            st.markdown(f"**{run.title}**")
            standing(run)


main()
