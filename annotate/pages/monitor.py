"""How good the matcher is over all pairs, round by round, and how many labels it took."""

from collections.abc import Sequence

import streamlit as st

from allpairs.annotate.access.roles import Right
from allpairs.annotate.monitor import charts
from allpairs.annotate.monitor.rounds import (
    BIASED,
    Report,
    batches_table,
    curves_table,
    estimates_table,
    histogram_table,
    read_report,
    round_name,
    threshold,
    why_unmeasured,
)
from allpairs.annotate.stats.label_times import Timed
from allpairs.annotate.text.formatting import literal
from allpairs.annotate.text.measures import MEASURES
from allpairs.annotate.ui.common.figure import plot, table_behind
from allpairs.annotate.ui.common.job_status import job_line
from allpairs.annotate.ui.common.print_style import print_style
from allpairs.annotate.ui.monitor.activity import tally_of, times_of, work
from allpairs.annotate.ui.monitor.audit import audit_section, invitation
from allpairs.annotate.ui.monitor.calibration import calibration
from allpairs.annotate.ui.monitor.correction import corrections
from allpairs.annotate.ui.monitor.figures import headline
from allpairs.annotate.ui.monitor.forecast import forecast
from allpairs.annotate.ui.monitor.method import advising, explanation
from allpairs.annotate.ui.monitor.model import label_downloads, model_card
from allpairs.annotate.ui.monitor.strata import strata
from allpairs.annotate.ui.review.checks import fast_answers_line
from allpairs.annotate.ui.state import current_project, engine, may
from allpairs.db.schema.tables import Project
from allpairs.learner.catalog import STRATEGIES


def main() -> None:
    """Draw the page."""
    print_style()
    st.title("Monitor", anchor=False)
    project = current_project(engine())
    if project is None:
        st.info("There is no project yet. Create one on the page “New project”.", icon=":material/add:")
        return
    st.caption(literal(project.name))
    job_line(project.id)
    fast_answers_line(project.id)
    report = read_report(engine(), project.id, tally_of(project.id))
    times = times_of(project.id)
    if not report.matchers and not report.rounds:
        st.info(
            "There is no round yet. The first job encodes the texts and prepares the first batch.",
            icon=":material/hourglass:",
        )
        return
    measures(report, project.id, times)
    work(project.id, report.tally, times)
    batches(report)
    models(report, project)


def measures(report: Report, project_id: int, times: Sequence[Timed]) -> None:
    """Draw every plot that rests on a measurement, or say why there is none and how to get one."""
    if report.measured:
        headline(report)
        explanation(report)
        advising(report)
        learning(report)
        forecast(report, times)
        curves(report)
        scores(report)
        calibration(report)
        strata(report)
        audit_section(report, project_id)
        corrections(project_id)
    elif not report.evaluation_items:
        st.info(f"This project cannot be measured. {why_unmeasured(report)} {BIASED}", icon=":material/straighten:")
    elif not report.gold_measurable:
        invitation(report, project_id)
    else:
        st.info("There are no figures yet. The first job computes them.", icon=":material/straighten:")


def learning(report: Report) -> None:
    """Draw both measures against labels spent."""
    st.subheader("Learning curve", anchor=False)
    table = estimates_table(report)
    for column, title in zip(st.columns(len(MEASURES)), MEASURES.values(), strict=True):
        part = table[table["measure"] == title]
        if part.empty:
            continue
        with column:
            st.markdown(f"**{title}**")
            plot(charts.estimate_chart, part, described=charts.describe_estimates(part))
    table_behind(table, "estimates")


def curves(report: Report) -> None:
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


def scores(report: Report) -> None:
    """Draw the score histogram of one round."""
    st.subheader("Scores of all pairs", anchor=False)
    by_number = {matcher.number: (matcher, evaluation) for matcher, evaluation in report.measured}
    newest = max(by_number)  # in the key, so that a new round is selected when it arrives
    number = st.selectbox("Round", list(reversed(by_number)), format_func=round_name, key=f"histogram_round_{newest}")
    matcher, evaluation = by_number[number]
    table, at = histogram_table(evaluation), threshold(matcher)
    plot(charts.histogram_chart, table, at, described=charts.describe_histogram(table, at))
    if below := evaluation.histogram.get("below"):
        st.caption(f"{below:,} more pairs score below {table['score_from'].min():.3f} and are not shown.")
    table_behind(table, f"scores-round-{number}")


def batches(report: Report) -> None:
    """Draw the positives found in each batch, and their share."""
    st.subheader("Batches", anchor=False)
    table = batches_table(report)
    if not table["answered"].sum():
        st.caption("No pair is labelled yet.")
        return
    for column, (name, title) in zip(st.columns(2), charts.BATCH_TITLES.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            plot(charts.batch_chart, table, name, described=charts.describe_batches(table))
    shown = table.assign(strategy=table["strategy"].map(strategy_title))
    table_behind(shown, "batches")
    notes(report)


def strategy_title(name: str) -> str:
    """Return a strategy's name for people."""
    return STRATEGIES[name].title if name in STRATEGIES else name.replace("-", " ").capitalize()


def notes(report: Report) -> None:
    """Draw the notes on the batches."""
    for batch in report.rounds:
        if batch.note:
            st.caption(f"Batch {batch.number}: {batch.note}")


def models(report: Report, project: Project) -> None:
    """Draw the card of one matcher, and the downloads."""
    by_number = {matcher.number: matcher for matcher, _ in report.matchers}
    if by_number:
        st.subheader("Model", anchor=False)
        newest = max(by_number)
        number = st.selectbox("Round", list(reversed(by_number)), format_func=round_name, key=f"card_round_{newest}")
        model_card(project.name, by_number[number])
    if may(Right.CHANGE, project.id):
        st.subheader("Labels", anchor=False)
        label_downloads(project.name, report.audited is not None)


main()
