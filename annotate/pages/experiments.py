"""Experiments that compare strategies on data with known answers: start one, follow it, read its results."""

import streamlit as st

from allpairs.annotate.pipelines.experiments import ExperimentRow, list_experiments
from allpairs.annotate.text.formatting import literal
from allpairs.annotate.ui.common.job_status import EVERY
from allpairs.annotate.ui.pipelines.experiment_form import encoder_form, experiment_form
from allpairs.annotate.ui.pipelines.experiment_results import results, standing
from allpairs.annotate.ui.state import current_project, engine
from allpairs.db.projects.jobs import OPEN


def main() -> None:
    """Draw the page."""
    st.title("Experiments", anchor=False)
    found = list_experiments(engine())
    project = current_project(engine())
    if project is None:
        st.info("There is no project yet. Create one on the page “New project”.", icon=":material/add:")
    else:
        with st.expander("New experiment", icon=":material/science:", expanded=not found):
            experiment_form(project)
        with st.expander("Compare encoders", icon=":material/compare:"):
            encoder_form(project)
    if not found:
        st.caption("There are no experiments yet.")
        return
    at_work = [row.id for row in found if row.state in OPEN]
    st.fragment(_watch, run_every=EVERY if at_work else None)(at_work)
    ended = [row for row in found if row.state not in OPEN]
    if ended:
        shown = chosen(ended)
        standing(shown)
        results(shown)


def chosen(ended: list[ExperimentRow]) -> ExperimentRow:
    """Draw the choice of an experiment, the newest by default, and return the one to show."""
    names = {row.id: f"{row.name}, {row.at:%d %b %H:%M}" for row in ended}
    newest = ended[0].id  # in the key, so that a new experiment is selected when it ends
    id_ = st.selectbox("Results of", list(names), format_func=names.__getitem__, key=f"experiment_shown_{newest}")
    return next(row for row in ended if row.id == id_)


def _watch(at_work: list[str]) -> None:
    """Draw every experiment that is running, and redraw the page when one has ended."""
    rows = [row for row in list_experiments(engine()) if row.state in OPEN]
    if {row.id for row in rows} != set(at_work):
        st.rerun()
    for row in rows:
        with st.container(border=True):
            st.markdown(f"**{literal(row.name)}**")
            standing(row)


main()
