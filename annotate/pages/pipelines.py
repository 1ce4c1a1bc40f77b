"""The papers' pipelines on a project's data: start a run, follow it, read its results, use what it made."""

import streamlit as st

from allpairs.annotate.kit.ui.state import current_project, engine
from allpairs.annotate.pipelines.runs import list_runs
from allpairs.annotate.ui.pipelines.form import pipeline_card
from allpairs.annotate.ui.pipelines.results import made
from allpairs.annotate.ui.pipelines.run import results, standing
from allpairs.annotate.ui.pipelines.study_start import study_list
from allpairs.annotate.ui.pipelines.work_list import chosen, running
from allpairs.learner.light.catalog import PIPELINES


def main() -> None:
    """Draw the page."""
    st.title("Pipelines", anchor=False)
    project = current_project(engine())
    if project is None:
        st.info("There is no project yet. Create one on the page “New project”.", icon=":material/add:")
        return
    found = list_runs(engine(), project.id)
    running(found, lambda: list_runs(engine(), project.id), standing)
    for name in PIPELINES:
        pipeline_card(project.id, name)
    if not found:
        st.caption("There are no runs yet.")
    shown = chosen(found, "run_shown")
    if shown:
        standing(shown)
        made(project.id, shown.id)
    study_list(project.id)
    if shown:
        results(shown)


main()
