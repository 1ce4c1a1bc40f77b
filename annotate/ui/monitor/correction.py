"""The section of manual correction: draw putative false positives, see how far they are labelled, see the precision."""

import streamlit as st

from annotate.access.roles import Right
from annotate.jobs import requests as jobs
from annotate.monitor.correction_chart import correction_chart, describe_correction
from annotate.monitor.false_negatives import (
    DRAW,
    RECALL,
    Correction,
    comparison_in_words,
    correctable_rounds,
    in_words,
    precisions_table,
    read_corrections,
    strata_table,
)
from annotate.monitor.rounds import round_name
from annotate.text.formatting import literal
from annotate.ui.common.figure import plot, table_open
from annotate.ui.state import engine, may
from db.errors import InputError

WHAT = (
    "Pairs that are not known to be positives count as negatives here, but some of them are positives all the same, "
    "and the measured precision is then too low. Check some of a round's false positives at random, and the precision "
    "is corrected for what you find."
)
FORMS_DIFFER = (
    "Corrected: what turned out to be a positive counts as found. The paper's form (Mussmann, Jia and Liang 2020, "
    "appendix A.3) only takes it from the false positives, and comes out too low. Intervals are 95%."
)
EACH = "Drawn from the near pairs (neighbours under the pre-trained encoder), and as many from the others."


def corrections(project_id: int) -> None:
    """Nothing; draws the section with its heading, where known pairs measure a round; nothing elsewhere."""
    rounds = correctable_rounds(engine(), project_id)
    if not rounds:
        return
    st.subheader("Check the false positives", anchor=False)
    st.caption(WHAT)
    if may(Right.CHANGE, project_id):
        _form(project_id, rounds)
    found = read_corrections(engine(), project_id)
    if found:
        _standing(project_id, found[0])
    _results([one for one in found if one.result])


def _form(project_id: int, rounds: list[int]) -> None:
    """Nothing; draws what to draw, and the button that asks for it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox("Round", rounds, format_func=round_name, key=f"correction_round_{rounds[0]}", width=180)
        recall = st.number_input("At recall", 0.05, 0.95, RECALL, step=0.05, key="correction_recall", width=140)
        draw = st.number_input(
            "Pairs of each kind", 1, 10_000, DRAW, step=10, key="correction_draw", width=160, help=EACH
        )
        if st.button("Draw pairs to check", key="draw_correction", icon=":material/fact_check:"):
            _ask(project_id, number, round(recall, 2), draw)


def _standing(project_id: int, newest: Correction) -> None:
    """Nothing; draws how far the newest correction is labelled, and what to do next."""
    if newest.left:
        done = newest.drawn - newest.left
        st.progress(done / newest.drawn, text=f"{newest.name}: {done:,} of {newest.drawn:,} pairs labelled")
        st.page_link("../pages/label.py", label="Label the others on the page “Label”", icon=":material/rule:")
    elif newest.result is None and newest.drawn:
        st.caption(f"{newest.name}: all {newest.drawn:,} pairs are labelled; the figures are not computed yet.")
        asked = may(Right.CHANGE, project_id) and st.button(
            "Compute the figures", key="compute_correction", icon=":material/refresh:"
        )
        if asked:
            _ask(project_id, newest.round, newest.recall, 0)


def _results(found: list[Correction]) -> None:
    """Nothing; draws the precision in its forms for one of the corrections that have figures."""
    if not found:
        return
    names = [one.name for one in found]
    chosen = names[0]
    if len(names) > 1:
        chosen = st.selectbox("Correction", names, key=f"correction_of_{len(names)}_{names[0]}")
    shown = found[names.index(chosen)]
    assert shown.result is not None
    table = precisions_table(shown.result)
    st.markdown(in_words(shown, shown.result))
    if compared := comparison_in_words(shown, shown.result):
        st.markdown(compared)
    plot(correction_chart, table, described=describe_correction(table))
    st.caption(FORMS_DIFFER)
    with st.expander("Tables", icon=":material/table:"):
        table_open(table, f"correction-round-{shown.round}-recall-{shown.recall:.2f}")
        table_open(strata_table(shown, shown.result), f"checked-round-{shown.round}-recall-{shown.recall:.2f}")


def _ask(project_id: int, number: int, recall: float, draw: int) -> None:
    """Nothing; the job is asked for and the page drawn anew, or what hinders it is on the page."""
    try:
        jobs.request_correction(engine(), project_id, number, recall, draw)
    except InputError as problem:
        st.error(literal(str(problem)), icon=":material/error:")
    else:
        st.rerun()
