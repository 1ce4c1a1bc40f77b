"""One experiment: its progress, its curves, its tables."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from allpairs.annotate.features.experiments import experiments
from allpairs.annotate.features.experiments.adopt_encoder import plan_change, use_compared
from allpairs.annotate.features.experiments.experiments import ComparedEncoder, ExperimentRow
from allpairs.annotate.features.papers.ui.adopt import adopt
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.jobs.result_files import read_results
from allpairs.annotate.kit.text.formatting import ago, literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.job_status import failure, progress
from allpairs.annotate.kit.ui.result_files import draw_report, draw_results
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.db.projects.jobs import OPEN
from allpairs.db.results.experiments import experiment_folder

MOST_FAILURES = 5  # failed runs shown with their errors
ABOUT_TABLES = (
    "Means over seeds, ± half of the 95% interval. “paper”: Mussmann, Jia and Liang (2020); letters: what differs, see "
    "Conditions."
)


def standing(experiment: ExperimentRow) -> None:
    """Draw the experiment's progress, and what has failed."""
    project = f" on {literal(experiment.project)}" if experiment.project else ""
    done_count = sum(run.state == "done" for run in experiment.runs)
    counted = f", {done_count} of {len(experiment.runs)} runs done" if experiment.runs else ""
    st.caption(f"{experiment.state.capitalize()}{counted}{project}, {ago(experiment.time)}")
    if experiment.job is not None and experiment.job.state in OPEN:
        progress(experiment.job)
    elif experiment.job is not None and experiment.job.state == "failed":
        failure(experiment.job)
    for run in experiment.failed[:MOST_FAILURES]:
        failure_text = f"{run.dataset}, {run.row}, seed {run.seed}: {run.error}"
        st.warning(literal(failure_text), icon=":material/error:")
    if len(experiment.failed) > MOST_FAILURES:
        st.caption(f"{len(experiment.failed) - MOST_FAILURES} more runs failed.")


def experiment_results(experiment: ExperimentRow) -> None:
    """Draw the finished curves and tables, and the downloads."""
    experiment_output = read_results(experiment_folder(experiment.id))
    compared = experiments.compared_encoders(experiment.id)
    draw_results(experiment_output, "" if compared else ABOUT_TABLES)
    _adoption(experiment, compared)
    _runs(experiment)
    _end(experiment, experiment_output.report)


def _adoption(experiment: ExperimentRow, encoders: Sequence[ComparedEncoder]) -> None:
    """Draw the choice of an encoder of a comparison, the best by default, and the button that uses it."""
    job = experiment.job
    if not encoders or job is None or not may(Right.CHANGE, job.project_id):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = st.selectbox(
            "Encoder",
            range(len(encoders)),
            format_func=lambda place: encoders[place].encoder,
            width=420,
            key=f"compared_{experiment.id}",
        )
        adopt(
            f"adopt_{experiment.id}_{place}",
            lambda: plan_change(engine(), job.project_id, encoders[place].encoder),
            lambda: use_compared(engine(), job.project_id, encoders[place].encoder),
        )


def _runs(experiment: ExperimentRow) -> None:
    if not experiment.runs:
        return
    with st.expander(f"{len(experiment.runs)} runs", icon=":material/grid_on:"):
        rows = [{"Data": run.dataset, "Row": run.row, "Seed": run.seed, "State": run.state} for run in experiment.runs]
        st.dataframe(pd.DataFrame(rows), hide_index=True, alt="The runs and their states")


def _end(experiment: ExperimentRow, report: str) -> None:
    """Draw the download of the whole report, and the deletion of an experiment that has ended."""
    with st.container(horizontal=True):
        draw_report(report, experiment.id)
        if experiment.state in OPEN or not _may_delete(experiment):
            return
        if st.button(
            "Delete", key=f"delete_{experiment.id}", icon=":material/delete:", help="Deletes its files permanently."
        ):
            with told():
                experiments.delete_experiment(engine(), experiment.id)
                st.rerun()


def _may_delete(experiment: ExperimentRow) -> bool:
    if experiment.job is None:  # of the command line
        return may(Right.INSTALL)
    return may(Right.CHANGE, experiment.job.project_id)
