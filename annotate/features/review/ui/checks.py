"""Hidden test pairs and fast answers, for administrators: how reliable each annotator is."""

from datetime import timedelta

import pandas as pd
import streamlit as st

from allpairs.annotate.features.review.hidden_checks import Quality, read_fast_answers, read_quality
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.figure import table_open
from allpairs.annotate.kit.ui.pair_history import TITLES
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.db.estimate import Estimate
from allpairs.db.labels.fast_answers import Told
from allpairs.db.schema.tables import now

NEWS = timedelta(days=7)
HOW = (
    "On the page “Settings”, “Hidden test pairs” and “Repeated pairs” add pairs with a known answer, and pairs that "
    "the annotator answered before. Annotators cannot tell which these are. Their answers there change no label."
)


def checks_section(project_id: int) -> None:
    """Draw the section for those who manage the project's people."""
    if not may(Right.PEOPLE, project_id):
        return
    st.subheader("Hidden test pairs", anchor=False)
    found = read_quality(engine(), project_id)
    if found:
        st.caption(
            "Shares of correct answers with 95% intervals (Wilson 1927). Unsure answers do not count. Known answers "
            "came with the data or from a review. Repeats are pairs that the annotator had answered before."
        )
        table_open(_quality_table(found), "hidden_checks")
    else:
        st.info(f"No hidden test pair has been answered yet. {HOW}")
    told = read_fast_answers(engine(), project_id)
    if told:
        st.markdown("**Suspiciously fast answers**")
        st.caption(
            "Identical answers in a row, each given in less time than it takes to read the beginning of both texts. "
            "Some of the pairs are asked again: of another annotator or, if there is none, of the same one as hidden "
            "test pairs."
        )
        table_open(_fast_answers_table(told), "fast_answers", {"seconds each": "%.1f"})


def fast_answers_line(project_id: int) -> None:
    """Tell those who manage the project's people about fast answers of the last days."""
    if not may(Right.PEOPLE, project_id):
        return
    news = [one for one in read_fast_answers(engine(), project_id) if one.ended > now() - NEWS]
    if news:
        people = ", ".join(sorted({one.annotator for one in news}))
        answers = counted(sum(one.answers for one in news), "answer")
        st.warning(
            f"In the last {NEWS.days} days {literal(people)} gave {answers} too fast to have read the texts, in runs "
            "of identical answers. See the page “Review” for the times and the re-checked pairs.",
            icon=":material/speed:",
        )


def _quality_table(found: list[Quality]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "annotator": one.annotator,
                "known matches": _shown(one.sensitivity),
                "known non-matches": _shown(one.specificity),
                "repeats": _shown(one.repeats),
                "unsure": one.unsure,
            }
            for one in found
        ]
    )


def _fast_answers_table(told: list[Told]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "annotator": one.annotator,
                "since": f"{one.began:%Y-%m-%d %H:%M} UTC",
                "answer": TITLES[one.answer],
                "in a row": one.answers,
                "seconds each": one.seconds,
                "re-asked": one.again,
                "re-answered": one.looked_at,
                "changed": one.otherwise,
            }
            for one in told
        ]
    )


def _shown(found: Estimate | None) -> str:
    if found is None:
        return "–"
    return f"{found.value:.2f} ({found.low:.2f}–{found.high:.2f}) of {found.labels}"
