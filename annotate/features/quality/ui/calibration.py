"""The calibration plot of one round, or why there is none."""

import streamlit as st

from allpairs.annotate.features.quality.calibration_chart import (
    calibration_in_words,
    describe_reliability,
    reliability_chart,
    reliability_table,
)
from allpairs.annotate.features.quality.rounds import MonitorReport, round_name
from allpairs.annotate.kit.text.measures import estimate
from allpairs.annotate.kit.ui.figure import plot, table_behind

EXPLANATION = (
    "Of the pairs with a probability of 0.7, seven in ten should be positives: that is the dashed line. Points below "
    "it mean that the probabilities are too high."
)
METHODS = {
    "exact": "The intervals are binomial (95%).",
    "audit": "Shares and intervals (95%) are estimated from the audit labels.",
}
SAMPLED = "Negatives are estimated from a sample; the binomial intervals (95%) ignore that and are too narrow."
NOTHING = "There is no plot: the score of this round is not informative, so it has no probabilities."


def calibration(report: MonitorReport) -> None:
    """Draw the section, if a trained matcher is measured."""
    by_number = {matcher.number: (matcher, evaluation) for matcher, evaluation in report.measured if matcher.number}
    if not by_number:
        return
    st.subheader("Calibration", anchor=False)
    number = st.selectbox(
        "Round", list(reversed(by_number)), format_func=round_name, key=f"calibration_round_{max(by_number)}"
    )
    matcher, evaluation = by_number[number]
    table = reliability_table(matcher, evaluation)
    if table.empty:
        st.caption(NOTHING)
        return
    st.write(calibration_in_words(table))
    plot(reliability_chart, table, described=describe_reliability(table, round_name(number)))
    below = evaluation.histogram.get("below") if not evaluation.by_audit else 0
    left_out = f" {below:,} pairs that score below all positives are left out." if below else ""
    figure = estimate(evaluation, "average_precision")
    st.caption(f"{EXPLANATION} {METHODS.get(figure.method if figure else '', SAMPLED)}{left_out}")
    table_behind(table, f"calibration-round-{number}")
