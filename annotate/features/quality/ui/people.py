"""The tab People: who labelled what, how fast, what each batch brought, and what a machine rater is worth."""

import pandas as pd
import streamlit as st

from allpairs.annotate.features.quality.round_tables import batches_table
from allpairs.annotate.features.quality.rounds import MonitorReport
from allpairs.annotate.features.quality.ui import round_charts as charts
from allpairs.annotate.features.quality.ui.activity import labelling_section, times_of
from allpairs.annotate.features.raters.ui.monitor import rater_worth
from allpairs.annotate.kit.ui.figure import plot, table_behind
from allpairs.learner.light.catalog import strategy_title


def people_tab(report: MonitorReport, project_id: int) -> None:
    """Draw the tab."""
    if report.tally:
        labelling_section(project_id, report.tally, times_of(project_id))
    _batches(report)
    rater_worth(project_id)


def _batches(report: MonitorReport) -> None:
    """Draw the positives found in each batch, and their share."""
    st.subheader("Batches", anchor=False)
    table = batches_table(report)
    if not table["answered"].sum():
        st.caption("No pair is labelled yet.")
        return
    st.write(_share(table))
    answered = table[table["answered"] > 0]
    for column, (name, title) in zip(st.columns(2), charts.BATCH_TITLES.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            plot(charts.batch_chart, answered, name, described=charts.describe_batches(answered))
    renamed = table.assign(strategy=table["strategy"].map(strategy_title)).rename(columns={"round": "batch"})
    table_behind(renamed, "batches")
    for batch in report.rounds:
        if batch.note:
            st.caption(f"Batch {batch.number}: {batch.note}")


def _share(table: pd.DataFrame) -> str:
    """Return the share of positives in the last answered batch, compared with the one before; empty without any."""
    answered = table.dropna(subset=["share_positive"])
    if answered.empty:
        return ""
    last = answered.iloc[-1]
    before = f"; in the batch before, {answered.iloc[-2].share_positive:.0%}" if len(answered) > 1 else ""
    return f"In batch {last['round']}, {last.share_positive:.0%} of the decided pairs were positives{before}."
