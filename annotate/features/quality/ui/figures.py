"""The newest round's figures, each with its interval, its method and its change."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from allpairs.annotate.features.quality.method_in_words import explain, meaning
from allpairs.annotate.features.quality.rounds import MonitorReport, round_name
from allpairs.annotate.kit.text.measures import (
    AT_THRESHOLD,
    MEASURES,
    OVER_ALL,
    STATED,
    MeasureChange,
    change,
    counted,
    estimate,
    in_figures,
    interval,
    measure_change_in_words,
    method_in_words,
    signed,
    stored_change,
)
from allpairs.db.estimate import Estimate, stored_estimate
from allpairs.db.schema.tables import Evaluation

HEURISTIC = (
    "The pairs that came with a label in the data were selected by somebody. Figures on them can be compared with "
    "published ones, but say little about all pairs."
)
TOP = "As if there were no other pairs: these figures do not tell how many positives lie below."
UNNAMED = MEASURES | AT_THRESHOLD | {"positives": OVER_ALL["positives"]}
HELP = {
    "average_precision": "All pairs are ordered by score. 1: every positive comes before every other pair.",
    "precision_at_recall_20": "Of the first pairs, which hold a fifth of the positives, the share that are positives.",
}
FEW = 5  # positives among the audit labels
NARROW = 104  # pixels of a small figure, so that three fit side by side on a phone


def headline(report: MonitorReport) -> None:
    """Draw the newest round's average precision: its change, its interval and method, and what it means."""
    matcher, evaluation = report.measured[-1]
    after = f", after {matcher.labels:,} labels" if matcher.number else ""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader(f"{round_name(matcher.number)}{after}", anchor=False, width="content")
        _how(report)
    _measure(report, "average_precision")
    st.markdown("\n".join(f"- {sentence}" for sentence in meaning(evaluation)))
    if evaluation.by_audit and evaluation.audit["positives"] < FEW:
        st.warning(_few(evaluation.audit), icon=":material/warning:")


def _how(report: MonitorReport) -> None:
    """Draw, in a popover, how the figures were computed."""
    if paragraphs := explain(report):
        with st.popover("Explain the method", type="tertiary", icon=":material/help:", width="content"):
            for paragraph in paragraphs:
                st.write(paragraph)


def all_figures(report: MonitorReport) -> None:
    """Draw every figure of the newest round."""
    matcher, evaluation = report.measured[-1]
    st.subheader(f"All figures: {round_name(matcher.number)}", anchor=False)
    for column, name in zip(st.columns(len(MEASURES)), MEASURES, strict=True):
        with column:
            _measure(report, name, in_full=True)
    with st.container(horizontal=True, gap="large"):
        _row("At the 50% threshold", AT_THRESHOLD, evaluation.estimates)
        _row("Over all pairs", OVER_ALL, evaluation.estimates)
    if evaluation.audit.get("estimates"):
        _row("With the positives that nobody named", UNNAMED, evaluation.audit["estimates"], _beside(evaluation))
    top = evaluation.audit.get("top")
    if top and top["pairs"] < evaluation.pairs:
        _row(f"Among the highest {top['pairs']:,} pairs alone", MEASURES, top["estimates"], _of_top(top))
    _row("On the known pairs", STATED, evaluation.estimates, HEURISTIC)


def _measure(report: MonitorReport, name: str, in_full: bool = False) -> None:
    """Draw one measure of the newest round with its interval and its method; nothing without a value.

    in_full: say of its change, too, what the interval is.
    """
    _, evaluation = report.measured[-1]
    figure = estimate(evaluation, name)
    if figure is None:
        return
    changed = change(report.measured, name)
    with st.container(border=True, height="stretch"):
        _with_change(name, figure, changed)
        st.caption(method_in_words(name, figure, evaluation))
        if in_full and changed and (words := measure_change_in_words(changed)):
            st.caption(words)


def _few(audit: Mapping[str, Any]) -> str:
    """Return what the figures are worth while hardly a positive is labelled."""
    positives = audit["positives"]
    subject = f"Only {positives:,}" if positives else "None"
    verb = "are positives" if positives > 1 else "is a positive"
    return (
        f"{subject} of {counted(audit['labels'], 'audit label')} {verb}. These figures rest mostly on the assumption "
        "that positives get rarer with the rank: label more audit pairs before you rely on them."
    )


def _of_top(top: Mapping[str, Any]) -> str:
    """Return what the figures among the highest pairs leave out, and how they changed."""
    moved = stored_change(top, "average_precision")
    if moved is None:
        return TOP
    return (
        f"{TOP} Average precision {since(moved)}: {signed(moved.value)}. {measure_change_in_words(moved)} If as many "
        "positives lie below in both rounds, this comparison is the clearer one."
    )


def _beside(evaluation: Evaluation) -> str:
    """Return what the figures above count, and what those that count them too rest on."""
    labels = counted(evaluation.audit["labels"], "audit label")
    return (
        f"The figures above count every pair as a negative that is no known positive, so their precision is a lower "
        f"bound. These rest on the known pairs, the checked false positives and {labels}, over all "
        f"{evaluation.pairs:,} pairs."
    )


def _with_change(name: str, figure: Estimate, changed: MeasureChange | None) -> None:
    """Draw the figure and its change. A change that may be chance has neither arrow nor colour."""
    clear = changed is not None and changed.clear
    st.metric(
        MEASURES[name],
        f"{figure.value:.3f}",
        help=HELP[name],
        delta=None if changed is None else f"{changed.value:+.3f}",
        delta_color="normal" if clear else "off",
        delta_arrow="auto" if clear else "off",
        delta_description=None if changed is None else since(changed),
    )


def since(changed: MeasureChange) -> str:
    """Return what the change is measured from, in words."""
    return f"since round {changed.since}" if changed.since else "since before training"


def _row(heading: str, titles: Mapping[str, str], estimates: Mapping[str, Any], caption: str = "") -> None:
    """Draw the figures that could be measured, small, under a heading."""
    figures = {name: known for name in titles if (known := stored_estimate(estimates, name)) is not None}
    if not figures:
        return
    with st.container(width="content", gap="xsmall"):
        st.markdown(f"**{heading}**")
        with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
            for name, known in figures.items():
                _small(titles[name], name, known)
        if caption:
            st.caption(caption)


def _small(title: str, name: str, figure: Estimate) -> None:
    with st.container(width=NARROW, gap=None):
        st.caption(title)
        st.markdown(f"##### {in_figures(name, figure.value)}")
        st.caption(interval(name, figure))
