"""One run of a pipeline: its progress, figures, tables and deletion."""

import streamlit as st

from allpairs.annotate.features.papers import runs as pipelines
from allpairs.annotate.features.papers.runs import RunRow
from allpairs.annotate.kit.jobs.result_files import read_results
from allpairs.annotate.kit.text.formatting import ago, literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.job_status import failure, progress
from allpairs.annotate.kit.ui.result_files import draw_report, draw_results
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.projects.jobs import OPEN
from allpairs.db.results.pipelines import results_folder


def run_standing(run: RunRow) -> None:
    """Draw the run's progress, what it started from, and why it failed."""
    began = f" {literal(run.began.words)}" if run.began else ""
    st.caption(f"{run.job.state.capitalize()}, {ago(run.job.created_at)}.{began}")
    if run.job.state in OPEN:
        progress(run.job)
    elif run.job.state == "failed":
        failure(run.job)


def run_results(run: RunRow) -> None:
    """Draw the results of a finished run, its configuration, the download of its report, and its deletion."""
    run_output = read_results(results_folder(run.id))
    draw_results(run_output)
    if run.began is not None:
        with st.expander("Configuration", icon=":material/tune:"):
            st.json(run.began.config)
    with st.container(horizontal=True):
        draw_report(run_output.report, run.id)
        deletes = st.button(
            "Delete",
            key=f"delete_{run.id}",
            icon=":material/delete:",
            help="Deletes its files and models permanently. Labels made from it stay.",
        )
    if deletes:
        with told():
            pipelines.delete_run(engine(), run.job.project_id, run.id)
            st.rerun()
