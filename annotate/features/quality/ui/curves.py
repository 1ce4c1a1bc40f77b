"""The tab Curves: every figure of the newest round, and the plots of all rounds."""

import streamlit as st

from allpairs.annotate.features.quality.round_tables import curves_table, estimates_table, histogram_table
from allpairs.annotate.features.quality.rounds import MonitorReport, round_name, threshold
from allpairs.annotate.features.quality.ui import round_charts as charts
from allpairs.annotate.features.quality.ui.activity import times_of
from allpairs.annotate.features.quality.ui.calibration import calibration
from allpairs.annotate.features.quality.ui.figures import all_figures
from allpairs.annotate.features.quality.ui.forecast import forecast
from allpairs.annotate.kit.text.measures import TITLES
from allpairs.annotate.kit.ui.figure import plot, table_behind

LEARNING_CURVES = ("precision_at_recall_20", "precision", "recall", "f1")  # measures with a learning curve of their own
SMALL = 200  # pixels: the height of one of several plots


def curves(report: MonitorReport, project_id: int) -> None:
    """Draw the tab."""
    if not report.measured:
        st.caption("There are no figures yet. The tab Summary says how to get them.")
        return
    all_figures(report)
    _precision_recall(report)
    _scores(report)
    calibration(report)
    _learning(report)
    forecast(report, times_of(project_id))


def _precision_recall(report: MonitorReport) -> None:
    """Draw the precision-recall curves of the chosen rounds."""
    st.subheader("Precision and recall", anchor=False)
    numbers = [matcher.number for matcher, _ in report.measured]
    chosen = st.pills(
        "Rounds",
        numbers,
        selection_mode="multi",
        default=sorted({numbers[0], numbers[-1]}),
        format_func=round_name,
        key=f"curve_rounds_{numbers[-1]}",
    )
    table = curves_table(report, chosen)
    if table.empty:
        st.caption("Choose a round to see its curve.")
        return
    plot(charts.curve_chart, table, described=charts.describe_curves(table))
    if len(chosen) > charts.BANDS and table["low"].notna().any():
        st.caption(f"95% bands are shown for at most {charts.BANDS} rounds at a time.")
    table_behind(table, "precision-recall")


def _scores(report: MonitorReport) -> None:
    """Draw the score histogram of one round."""
    st.subheader("Scores of all pairs", anchor=False)
    by_number = {matcher.number: (matcher, evaluation) for matcher, evaluation in report.measured}
    newest = max(by_number)  # in the key, so that a new round is selected when it arrives
    number = st.selectbox("Round", list(reversed(by_number)), format_func=round_name, key=f"histogram_round_{newest}")
    matcher, evaluation = by_number[number]
    table = histogram_table(evaluation)
    half_score = threshold(matcher)
    plot(charts.histogram_chart, table, half_score, described=charts.describe_histogram(table, half_score))
    if below := evaluation.histogram.get("below"):
        st.caption(f"{below:,} more pairs score below {table['score_from'].min():.3f} and are not shown.")
    table_behind(table, f"scores-round-{number}")


def _learning(report: MonitorReport) -> None:
    """Draw every other measure against labels spent."""
    st.subheader("Learning curves", anchor=False)
    table = estimates_table(report)
    parts = [part for name in LEARNING_CURVES if not (part := table[table["measure"] == TITLES[name]]).empty]
    for begin in range(0, len(parts), 2):
        for column, part in zip(st.columns(2), parts[begin : begin + 2], strict=False):
            with column:
                st.markdown(f"**{part['measure'].iloc[0]}**")
                plot(charts.estimate_chart, part, SMALL, described=charts.describe_estimates(part))
    table_behind(table, "estimates")
