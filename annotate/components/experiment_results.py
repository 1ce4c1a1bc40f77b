"""One experiment: how far it is, its curves, its tables."""

import altair as alt
import pandas as pd
import streamlit as st

from annotate import experiments
from annotate.app_state import engine
from annotate.components.figure import figure
from annotate.components.job_status import failure, progress
from annotate.experiments import ExperimentRow, FigureFile, TableFile, read_figures, read_report, read_tables
from annotate.wording import ago, literal
from db.jobs import OPEN

SHOWN = 5  # failed runs whose reasons stand on the page


def standing(experiment: ExperimentRow) -> None:
    """Nothing; draws how far the experiment is, and what has failed."""
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
        st.caption(f"{len(experiment.failed) - SHOWN} more runs have failed.")


def results(experiment: ExperimentRow) -> None:
    """Nothing; draws the curves and tables of what is finished, and the downloads."""
    figures, tables = read_figures(experiment.id), read_tables(experiment.id)
    for one in figures:
        _figure(one)
    if tables:
        st.subheader("Tables", anchor=False)
        st.caption("Means over seeds, ± half of the 95% interval; “paper”: what Mussmann, Jia and Liang (2020) print.")
    for table in tables:
        _table(table)
    _runs(experiment)
    _end(experiment)


def _figure(found: FigureFile) -> None:
    st.subheader(literal(found.title), anchor=False)
    for column, panel in zip(st.columns(len(found.panels)), found.panels, strict=True):
        with column:
            figure(alt.LayerChart.from_dict(panel.chart), panel.description)


def _table(table: TableFile) -> None:
    st.markdown(table.markdown)
    st.download_button(
        "Download CSV", table.csv.encode(), file_name=f"{table.name}.csv", mime="text/csv", key=f"csv_{table.name}",
        icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def _runs(experiment: ExperimentRow) -> None:
    if not experiment.runs:
        return
    with st.expander(f"{len(experiment.runs)} runs", icon=":material/grid_on:"):
        shown = [{"Data": run.dataset, "Row": run.row, "Seed": run.seed, "State": run.state} for run in experiment.runs]
        st.dataframe(pd.DataFrame(shown), hide_index=True, alt="The runs and their states")


def _end(experiment: ExperimentRow) -> None:
    """Nothing; draws the download of the whole report, and the deletion of an experiment that has ended."""
    with st.container(horizontal=True):
        if report := read_report(experiment.id):
            st.download_button(
                "Download report", report.encode(), file_name="report.md", mime="text/markdown",
                key=f"report_{experiment.id}", icon=":material/description:", on_click="ignore",
            )  # fmt: skip
        if experiment.state not in OPEN and st.button(
            "Delete", key=f"delete_{experiment.id}", icon=":material/delete:", help="Its files go for good."
        ):
            experiments.delete(engine(), experiment.id)
            st.rerun()
