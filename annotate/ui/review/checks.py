"""Hidden checks and rushes, for administrators: how far each annotator can be relied on."""

from datetime import timedelta

import pandas as pd
import streamlit as st

from annotate.access.roles import Right
from annotate.review.hidden_checks import Quality, read_fast_answers, read_quality
from annotate.text.formatting import literal
from annotate.text.measures import counted
from annotate.ui.common.answers import TITLES
from annotate.ui.common.figure import table_open
from annotate.ui.state import engine, may
from db.estimate import Estimate
from db.labels.fast_answers import Told
from db.schema.tables import now

NEWS = timedelta(days=7)
HOW = (
    "On the page Settings, “Known pairs slipped in” and “Pairs slipped in once more” put pairs before annotators whose "
    "answer is known, or that they answered before. They cannot tell which, and their answers there change no label."
)


def checks_section(project_id: int) -> None:
    """Nothing; the section is drawn for who manages the project's people."""
    if not may(Right.PEOPLE, project_id):
        return
    st.subheader("Hidden checks", anchor=False)
    found = read_quality(engine(), project_id)
    if found:
        st.caption(
            "Shares with 95% intervals (Wilson); unsure is neither right nor wrong. Known matches and others came "
            "with the data or were settled in a review. Repeats are pairs that the annotator had answered before."
        )
        table_open(_quality_table(found), "hidden_checks")
    else:
        st.info(f"No hidden check has been answered yet. {HOW}")
    told = read_fast_answers(engine(), project_id)
    if told:
        st.markdown("**Faster than anyone reads**")
        st.caption(
            "Equal answers in a row, each in less time than it takes to read the beginning of both texts. Some of the "
            "pairs are put up again: for another annotator, or where there is none, for the same one as hidden checks."
        )
        table_open(_fast_answers_table(told), "rushes", {"seconds each": "%.1f"})


def fast_answers_line(project_id: int) -> None:
    """Nothing; who manages the project's people is told of rushes of the last days."""
    if not may(Right.PEOPLE, project_id):
        return
    news = [one for one in read_fast_answers(engine(), project_id) if one.ended > now() - NEWS]
    if news:
        people = ", ".join(sorted({one.annotator for one in news}))
        answers = counted(sum(one.answers for one in news), "answer")
        st.warning(
            f"In the last {NEWS.days} days {answers} came in a row faster than anyone reads, by {literal(people)}: the "
            "page Review says when, and what became of the pairs that were looked at again.",
            icon=":material/speed:",
        )


def _quality_table(found: list[Quality]) -> pd.DataFrame:
    return pd.DataFrame([
        {"annotator": one.annotator, "known matches": _shown(one.sensitivity), "known others": _shown(one.specificity),
         "repeats": _shown(one.repeats), "unsure": one.unsure}
        for one in found
    ])  # fmt: skip


def _fast_answers_table(told: list[Told]) -> pd.DataFrame:
    return pd.DataFrame([
        {"annotator": one.annotator, "since": f"{one.began:%Y-%m-%d %H:%M} UTC", "answer": TITLES[one.answer],
         "in a row": one.answers, "seconds each": one.seconds, "put up again": one.again, "looked at": one.looked_at,
         "otherwise": one.otherwise}
        for one in told
    ])  # fmt: skip


def _shown(found: Estimate | None) -> str:
    if found is None:
        return "–"
    return f"{found.value:.2f} ({found.low:.2f}–{found.high:.2f}) of {found.labels}"
