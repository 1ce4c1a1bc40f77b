"""The papers' pipelines on a project's data: start a run, follow it, read its results, use what it made."""

import streamlit as st

from allpairs.annotate.features.papers.runs import list_runs
from allpairs.annotate.features.papers.ui.form import pipeline_card
from allpairs.annotate.features.papers.ui.results import draw_run_outputs
from allpairs.annotate.features.papers.ui.run import run_results, run_standing
from allpairs.annotate.features.papers.ui.work_list import choose_ended, running
from allpairs.annotate.features.studies.ui.start import study_list
from allpairs.annotate.kit.ui.state import current_project, engine
from allpairs.learner.light.catalog import PIPELINES


def main() -> None:
    """Draw the page."""
    st.title("Pipelines", anchor=False)
    project = current_project(engine())
    if project is None:
        st.info("There is no project yet. Create one on the page “New project”.", icon=":material/add:")
        return
    runs = list_runs(engine(), project.id)
    running(runs, lambda: list_runs(engine(), project.id), run_standing)
    for name in PIPELINES:
        pipeline_card(project.id, name)
    if not runs:
        st.caption("There are no runs yet.")
    run = choose_ended(runs, "run_shown")
    if run:
        run_standing(run)
        draw_run_outputs(project.id, run.id)
    study_list(project.id)
    if run:
        run_results(run)


main()
