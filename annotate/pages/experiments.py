"""Experiments that compare strategies on data with known answers: start one, follow it, read its results."""

import streamlit as st

from allpairs.annotate.features.experiments.experiments import list_experiments
from allpairs.annotate.features.experiments.ui.form import encoder_form, experiment_form
from allpairs.annotate.features.experiments.ui.results import experiment_results, standing
from allpairs.annotate.features.papers.ui.work_list import choose_ended, running
from allpairs.annotate.kit.ui.state import current_project, engine


def main() -> None:
    """Draw the page."""
    st.title("Experiments", anchor=False)
    experiments = list_experiments(engine())
    project = current_project(engine())
    if project is None:
        st.info("There is no project yet. Create one on the page “New project”.", icon=":material/add:")
    else:
        with st.expander("New experiment", icon=":material/science:", expanded=not experiments):
            experiment_form(project)
        with st.expander("Compare encoders", icon=":material/compare:"):
            encoder_form(project)
    if not experiments:
        st.caption("There are no experiments yet.")
        return
    running(experiments, lambda: list_experiments(engine()), standing)
    if experiment := choose_ended(experiments, "experiment_shown"):
        standing(experiment)
        experiment_results(experiment)


main()
