"""Manual correction: draw putative false positives, follow their labelling, and show the corrected precision."""

import altair as alt
import pandas as pd
import streamlit as st

from allpairs.annotate.features.quality.false_negatives import (
    DRAW,
    FORMS,
    RECALL,
    Correction,
    comparison_in_words,
    correctable_rounds,
    correction_in_words,
    correction_strata,
    precisions_table,
    read_corrections,
)
from allpairs.annotate.features.quality.rounds import round_name
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.charts import MATCHER, NEUTRAL, Plot, share_axis, tooltips
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.figure import plot, table_open
from allpairs.annotate.kit.ui.state import engine, may

ROW = 52  # pixels for a form
AROUND = 60  # pixels for the axis


def correction_chart(table: pd.DataFrame) -> Plot:
    """Return a point with its interval for each form, the recommended one in colour. table: of `precisions_table`."""
    drawn = table.assign(
        written=table["value"].map("{:.3f}".format), believed=table["precision"] == FORMS["consistent"]
    )
    across = share_axis(float(drawn["low"].min()), float(drawn["high"].max()))
    numbers = {"value": ("Value", ".3f"), "low": ("Low", ".3f"), "high": ("High", ".3f")}
    base = alt.Chart(drawn).encode(
        y=alt.Y("precision:N", title=None, sort=None, axis=alt.Axis(labelLimit=180, domain=False, ticks=False)),
        color=alt.condition("datum.believed", alt.value(MATCHER), alt.value(NEUTRAL)),
        tooltip=[alt.Tooltip("precision:N", title="Precision"), *tooltips(numbers)],
    )
    rules = base.mark_rule(strokeWidth=3, opacity=0.45).encode(
        x=alt.X("low:Q", title="Precision", **across), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x=alt.X("value:Q", **across))
    words = base.mark_text(dy=-13, fontSize=13, fontWeight=600).encode(x=alt.X("value:Q", **across), text="written:N")
    return alt.layer(rules, points, words).properties(height=ROW * len(drawn) + AROUND)


def describe_correction(table: pd.DataFrame) -> str:
    """Return a sentence with the precision in each form and its interval."""
    parts = [f"{row.precision} {row.value:.3f} ({row.low:.3f} to {row.high:.3f})" for row in table.itertuples()]
    return f"Precision with its 95% interval: {'; '.join(parts)}."


EXPLANATION = (
    "Pairs that are not known positives count as negatives. Some of them are positives after all, so the measured "
    "precision is too low. Label a random sample of a round's false positives, and the precision is corrected "
    "accordingly."
)
FORMS_DIFFER = (
    "Corrected: pairs found to be positives count as true positives. The paper's form (Mussmann, Jia and Liang 2020, "
    "appendix A.3) only removes them from the false positives, so it is too low. Intervals are 95%."
)
PAIRS_OF_KIND = (
    "Pairs drawn from the near pairs (neighbours under the pre-trained encoder), and as many from the others."
)


def corrections(project_id: int) -> None:
    """Draw the section with its heading, if known pairs measure a round."""
    rounds = correctable_rounds(engine(), project_id)
    if not rounds:
        return
    st.subheader("Check the false positives", anchor=False)
    st.caption(EXPLANATION)
    if may(Right.CHANGE, project_id):
        _form(project_id, rounds)
    all_corrections = read_corrections(engine(), project_id)
    if all_corrections:
        _standing(project_id, all_corrections[0])
    _results([correction for correction in all_corrections if correction.result])


def _form(project_id: int, rounds: list[int]) -> None:
    """Draw the fields that say what to sample, and the button that samples it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox("Round", rounds, format_func=round_name, key=f"correction_round_{rounds[0]}", width=180)
        recall = st.number_input("At recall", 0.05, 0.95, RECALL, step=0.05, key="correction_recall", width=140)
        draw = st.number_input(
            "Pairs of each kind", 1, 10_000, DRAW, step=10, key="correction_draw", width=160, help=PAIRS_OF_KIND
        )
        if st.button("Draw pairs to check", key="draw_correction", icon=":material/fact_check:"):
            _ask(project_id, number, round(recall, 2), draw)


def _standing(project_id: int, newest: Correction) -> None:
    """Draw how many pairs of the newest correction are labelled, and what to do next."""
    if newest.left:
        labelled = newest.drawn - newest.left
        st.progress(labelled / newest.drawn, text=f"{newest.name}: {labelled:,} of {newest.drawn:,} pairs labelled")
        st.page_link("../pages/label.py", label="Label the remaining pairs", icon=":material/rule:")
    elif newest.result is None and newest.drawn:
        st.caption(f"{newest.name}: all {newest.drawn:,} pairs are labelled. The figures are not computed yet.")
        pressed = may(Right.CHANGE, project_id) and st.button(
            "Compute figures", key="compute_correction", icon=":material/refresh:"
        )
        if pressed:
            _ask(project_id, newest.round, newest.recall, 0)


def _results(corrected: list[Correction]) -> None:
    """Draw the precision in each form, for one of the corrections that have figures."""
    if not corrected:
        return
    names = [correction.name for correction in corrected]
    chosen = names[0]
    if len(names) > 1:
        chosen = st.selectbox("Check", names, key=f"correction_of_{len(names)}_{names[0]}")
    correction = corrected[names.index(chosen)]
    assert correction.result is not None
    table = precisions_table(correction.result)
    st.markdown(correction_in_words(correction, correction.result))
    if compared := comparison_in_words(correction, correction.result):
        st.markdown(compared)
    plot(correction_chart, table, described=describe_correction(table))
    st.caption(FORMS_DIFFER)
    with st.expander("Tables", icon=":material/table:"):
        table_open(table, f"correction-round-{correction.round}-recall-{correction.recall:.2f}")
        table_open(
            correction_strata(correction, correction.result),
            f"checked-round-{correction.round}-recall-{correction.recall:.2f}",
        )


def _ask(project_id: int, number: int, recall: float, draw: int) -> None:
    """Request the job and redraw the page, or show why it cannot be requested."""
    with told():
        jobs.request_correction(engine(), project_id, number, recall, draw)
        st.rerun()
