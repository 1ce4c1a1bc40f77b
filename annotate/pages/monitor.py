"""How good the matcher is over all pairs, round by round, and what it cost."""

import streamlit as st

from annotate import charts
from annotate.app_state import current_project, engine
from annotate.components.figure import figure, table_behind
from annotate.components.job_status import job_line
from annotate.components.model_card import label_downloads, model_card
from annotate.monitoring import (
    BIASED,
    MEASURES,
    Report,
    batches_table,
    curves_table,
    estimate,
    estimates_table,
    histogram_table,
    method_in_words,
    read_report,
    round_name,
    threshold,
    why_unmeasured,
)
from annotate.wording import literal
from learner.catalog import STRATEGIES


def main() -> None:
    """Nothing; draws the page."""
    st.title("Monitor", anchor=False)
    project = current_project(engine())
    if project is None:
        st.info("There is no project yet. Make one on the page “New project”.", icon=":material/add:")
        return
    st.caption(literal(project.name))
    job_line(project.id)
    report = read_report(engine(), project.id)
    if not report.matchers and not report.rounds:
        st.info("No round yet. The first job encodes the texts and makes the first batch.", icon=":material/hourglass:")
        return
    measures(report)
    batches(report)
    models(report, project.name)


def measures(report: Report) -> None:
    """Nothing; draws every plot that rests on a measurement, or says why there is none."""
    if report.measured:
        headline(report)
        learning(report)
        curves(report)
        scores(report)
    elif reason := why_unmeasured(report):
        st.info(f"There is nothing to measure against yet. {reason} {BIASED}", icon=":material/straighten:")
    else:
        st.info("Nothing is measured yet: the first job does it.", icon=":material/straighten:")


def headline(report: Report) -> None:
    """Nothing; draws the newest round's figures, each with its interval and its method."""
    matcher, evaluation = report.measured[-1]
    after = f", after {matcher.labels:,} labels" if matcher.number else ""
    st.subheader(f"{round_name(matcher.number)}{after}", anchor=False)
    for column, (name, title) in zip(st.columns(len(MEASURES)), MEASURES.items(), strict=True):
        found = estimate(evaluation, name)
        if found is None:
            continue
        with column, st.container(border=True):
            figure_with_change(title, found.value, change(report, name), previous(report))
            st.caption(method_in_words(found, evaluation))


def figure_with_change(title: str, value: float, difference: float | None, since: str | None) -> None:
    """Nothing; draws the figure, and beside it how it changed; no change has neither arrow nor colour."""
    st.metric(
        title,
        f"{value:.3f}",
        delta=None if difference is None else f"{difference:+.3f}",
        delta_color="normal" if difference else "off",
        delta_arrow="auto" if difference else "off",
        delta_description=since,
    )


def change(report: Report, name: str) -> float | None:
    """How much the newest round's measure differs from the round before, to three digits."""
    values = [estimate(evaluation, name) for _, evaluation in report.measured[-2:]]
    if len(values) < 2 or values[0] is None or values[1] is None:
        return None
    return round(values[1].value - values[0].value, 3) + 0.0  # -0.0 becomes 0.0


def previous(report: Report) -> str | None:
    """The name of the round before the newest."""
    if len(report.measured) < 2:
        return None
    before = report.measured[-2][0].number
    return f"since round {before}" if before else "since before training"


def learning(report: Report) -> None:
    """Nothing; draws both measures against labels spent."""
    st.subheader("Learning curve", anchor=False)
    table = estimates_table(report)
    for column, title in zip(st.columns(len(MEASURES)), MEASURES.values(), strict=True):
        with column:
            part = table[table["measure"] == title]
            st.markdown(f"**{title}**")
            figure(charts.estimate_chart(part), charts.describe_estimates(part))
    table_behind(table, "estimates")


def curves(report: Report) -> None:
    """Nothing; draws the precision-recall curves of the chosen rounds."""
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
    figure(charts.curve_chart(table), charts.describe_curves(table))
    table_behind(table, "precision-recall")


def scores(report: Report) -> None:
    """Nothing; draws the score histogram of one round."""
    st.subheader("Scores of all pairs", anchor=False)
    by_number = {matcher.number: (matcher, evaluation) for matcher, evaluation in report.measured}
    newest = max(by_number)  # in the keys, so that a new round is shown when it arrives
    number = st.selectbox("Round", list(reversed(by_number)), format_func=round_name, key=f"histogram_round_{newest}")
    matcher, evaluation = by_number[number]
    table, at = histogram_table(evaluation), threshold(matcher)
    figure(charts.histogram_chart(table, at), charts.describe_histogram(table, at))
    if below := evaluation.histogram.get("below"):
        st.caption(f"{below:,} more pairs score below {table['score_from'].min():.3f}, less than any positive.")
    table_behind(table, f"scores-round-{number}")


def batches(report: Report) -> None:
    """Nothing; draws the positives found in each batch and their share."""
    st.subheader("Batches", anchor=False)
    table = batches_table(report)
    if not table["answered"].sum():
        st.caption("No pair is labelled yet.")
        return
    for column, (name, title) in zip(st.columns(2), charts.BATCH_TITLES.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            figure(charts.batch_chart(table, name), charts.describe_batches(table))
    shown = table.assign(strategy=table["strategy"].map(strategy_title))
    table_behind(shown, "batches")
    notes(report)


def strategy_title(name: str) -> str:
    """A strategy's name for people."""
    return STRATEGIES[name].title if name in STRATEGIES else name.replace("-", " ").capitalize()


def notes(report: Report) -> None:
    """Nothing; draws what a person should know about a batch."""
    for batch in report.rounds:
        if batch.note:
            st.caption(f"Batch {batch.number}: {batch.note}")


def models(report: Report, project: str) -> None:
    """Nothing; draws the card of one matcher, and the downloads."""
    by_number = {matcher.number: matcher for matcher, _ in report.matchers}
    if by_number:
        st.subheader("Model", anchor=False)
        newest = max(by_number)
        number = st.selectbox("Round", list(reversed(by_number)), format_func=round_name, key=f"card_round_{newest}")
        model_card(project, by_number[number])
    st.subheader("Labels", anchor=False)
    label_downloads(project)


main()
