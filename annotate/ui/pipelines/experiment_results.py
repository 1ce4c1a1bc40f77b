"""One experiment: its progress, its curves, its tables."""

import pandas as pd
import streamlit as st

from allpairs.annotate.access.roles import Right
from allpairs.annotate.pipelines import experiments
from allpairs.annotate.pipelines.adopt_encoder import plan_change, use_compared
from allpairs.annotate.pipelines.experiments import ExperimentRow, figures_of, report_of, tables_of
from allpairs.annotate.text.formatting import ago, literal
from allpairs.annotate.ui.common.job_status import failure, progress
from allpairs.annotate.ui.common.result_files import draw_figure, draw_report, draw_table
from allpairs.annotate.ui.pipelines.adopt import adopt
from allpairs.annotate.ui.state import engine, may
from allpairs.db.projects.jobs import OPEN

SHOWN = 5  # failed runs shown with their errors


def standing(experiment: ExperimentRow) -> None:
    """Draw the experiment's progress, and what has failed."""
    of = f" on {literal(experiment.project)}" if experiment.project else ""
    done = sum(run.state == "done" for run in experiment.runs)
    counted = f", {done} of {len(experiment.runs)} runs done" if experiment.runs else ""
    st.caption(f"{experiment.state.capitalize()}{counted}{of}, {ago(experiment.at)}")
    if experiment.job is not None and experiment.job.state in OPEN:
        progress(experiment.job)
    elif experiment.job is not None and experiment.job.state == "failed":
        failure(experiment.job)
    for run in experiment.failed[:SHOWN]:
        what = f"{run.dataset}, {run.row}, seed {run.seed}: {run.error}"
        st.warning(literal(what), icon=":material/error:")
    if len(experiment.failed) > SHOWN:
        st.caption(f"{len(experiment.failed) - SHOWN} more runs failed.")


def results(experiment: ExperimentRow) -> None:
    """Draw the finished curves and tables, and the downloads."""
    figures, tables = figures_of(experiment.id), tables_of(experiment.id)
    for one in figures:
        draw_figure(one)
    if tables:
        st.subheader("Tables", anchor=False)
        if not experiments.compared_encoders(experiment.id):
            paper = "“paper”: Mussmann, Jia and Liang (2020); letters: what differs, see Conditions."
            st.caption(f"Means over seeds, ± half of the 95% interval. {paper}")
    for table in tables:
        draw_table(table)
    _adoption(experiment)
    _runs(experiment)
    _end(experiment)


def _adoption(experiment: ExperimentRow) -> None:
    """Draw the choice of an encoder of a comparison, the best by default, and the button that uses it."""
    found = experiments.compared_encoders(experiment.id)
    job = experiment.job
    if not found or job is None or not may(Right.CHANGE, job.project_id):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        at = st.selectbox(
            "Encoder", range(len(found)), format_func=lambda place: found[place].encoder, width=420,
            key=f"compared_{experiment.id}",
        )  # fmt: skip
        adopt(
            f"adopt_{experiment.id}_{at}",
            lambda: plan_change(engine(), job.project_id, found[at].encoder),
            lambda: use_compared(engine(), job.project_id, found[at].encoder),
        )


def _runs(experiment: ExperimentRow) -> None:
    if not experiment.runs:
        return
    with st.expander(f"{len(experiment.runs)} runs", icon=":material/grid_on:"):
        shown = [{"Data": run.dataset, "Row": run.row, "Seed": run.seed, "State": run.state} for run in experiment.runs]
        st.dataframe(pd.DataFrame(shown), hide_index=True, alt="The runs and their states")


def _end(experiment: ExperimentRow) -> None:
    """Draw the download of the whole report, and the deletion of an experiment that has ended."""
    with st.container(horizontal=True):
        draw_report(report_of(experiment.id), experiment.id)
        if experiment.state in OPEN or not _may_delete(experiment):
            return
        if st.button(
            "Delete", key=f"delete_{experiment.id}", icon=":material/delete:", help="Deletes its files permanently."
        ):
            experiments.delete(engine(), experiment.id)
            st.rerun()


def _may_delete(experiment: ExperimentRow) -> bool:
    if experiment.job is None:  # of the command line
        return may(Right.INSTALL)
    return may(Right.CHANGE, experiment.job.project_id)
