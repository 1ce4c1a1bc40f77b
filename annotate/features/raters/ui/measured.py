"""What the machine rater is worth, on the tab People."""

from dataclasses import asdict

import pandas as pd
import streamlit as st

from allpairs.annotate.features.quality.calibration_chart import describe_reliability, reliability_chart
from allpairs.annotate.features.raters.in_words import COLUMNS, quality_rows, sentences
from allpairs.annotate.features.raters.rater_state import read_raters, read_worth
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.figure import plot, table_behind
from allpairs.annotate.kit.ui.state import engine

WHAT = (
    "On pairs that people answered, without seeing what it said, and by thirds of the matcher’s scores. Each share has "
    "its 95% interval and its number of pairs. Abstentions count under “Abstains” alone, which is a share of all pairs "
    "answered. The model’s figures do not use its verdicts, unless they guided the choice of audit pairs; the tab "
    "Audit then says so."
)


def rater(project_id: int) -> None:
    """Draw the section, if the project has or had a machine rater."""
    found = read_raters(engine(), project_id)
    if not found:
        return
    newest = found[0]
    st.subheader("Machine rater", anchor=False)
    st.write(
        f"**{literal(newest.setup.name)}**, {literal(newest.in_words)}: {counted(newest.spent.pairs, 'pair')} rated, "
        f"cost {newest.spent.cost:,.2f}."
    )
    worth = read_worth(engine(), project_id)
    if worth is None or not worth.quality.pairs:
        st.caption("It has rated no pair that people answered yet. Press “Ask” on the page “Settings”.")
        return
    named = {COLUMNS[0]: st.column_config.Column(pinned=True)}  # on a phone the rest scrolls
    st.dataframe(pd.DataFrame(quality_rows(worth), columns=COLUMNS), hide_index=True, column_config=named)
    st.caption(WHAT)
    for line in sentences(worth):
        st.write(line)
    if worth.calibration:
        table = pd.DataFrame(map(asdict, worth.calibration))
        st.markdown("**Calibration of its probabilities**")
        plot(reliability_chart, table, described=describe_reliability(table, newest.setup.name))
        table_behind(table, "calibration-machine-rater")
