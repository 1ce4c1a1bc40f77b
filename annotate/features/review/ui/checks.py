"""Hidden test pairs and fast answers, for administrators: how reliable each annotator is."""

from datetime import timedelta

import pandas as pd
import streamlit as st

from allpairs.annotate.features.review.hidden_checks import CheckQuality, read_fast_answers, read_quality
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.figure import table_open
from allpairs.annotate.kit.ui.pair_history import TITLES
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.db.estimate import Estimate
from allpairs.db.labels.fast_answers import FastAnswersRow
from allpairs.db.schema.tables import now

NEWS = timedelta(days=7)
ADVICE = (
    "On the page “Settings”, “Hidden test pairs” and “Repeated pairs” add pairs with a known answer, and pairs that "
    "the annotator answered before. Annotators cannot tell which these are. Their answers there change no label."
)


def checks_section(project_id: int) -> None:
    """Draw the section for those who manage the project's people."""
    if not may(Right.PEOPLE, project_id):
        return
    st.subheader("Hidden test pairs", anchor=False)
    results = read_quality(engine(), project_id)
    if results:
        st.caption(
            "Shares of correct answers with 95% intervals (Wilson 1927). Unsure answers do not count. Known answers "
            "came with the data or from a review. Repeats are pairs that the annotator had answered before."
        )
        table_open(_quality_table(results), "hidden_checks")
    else:
        st.info(f"No hidden test pair has been answered yet. {ADVICE}")
    runs = read_fast_answers(engine(), project_id)
    if runs:
        st.markdown("**Suspiciously fast answers**")
        st.caption(
            "Identical answers in a row, each given in less time than it takes to read the beginning of both texts. "
            "Some of the pairs are asked again: of another annotator or, if there is none, of the same one as hidden "
            "test pairs."
        )
        table_open(_fast_answers_table(runs), "fast_answers", {"seconds each": "%.1f"})


def fast_answers_line(project_id: int) -> None:
    """Tell those who manage the project's people about fast answers of the last days."""
    if not may(Right.PEOPLE, project_id):
        return
    news = [run for run in read_fast_answers(engine(), project_id) if run.ended > now() - NEWS]
    if news:
        people = ", ".join(sorted({run.annotator for run in news}))
        answers = counted(sum(run.answers for run in news), "answer")
        st.warning(
            f"In the last {NEWS.days} days {literal(people)} gave {answers} too fast to have read the texts, in runs "
            "of identical answers. See the page “Review” for the times and the re-checked pairs.",
            icon=":material/speed:",
        )


def _quality_table(results: list[CheckQuality]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "annotator": row.annotator,
                "known matches": _shown(row.sensitivity),
                "known non-matches": _shown(row.specificity),
                "repeats": _shown(row.repeats),
                "unsure": row.unsure,
            }
            for row in results
        ]
    )


def _fast_answers_table(runs: list[FastAnswersRow]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "annotator": run.annotator,
                "since": f"{run.began:%Y-%m-%d %H:%M} UTC",
                "answer": TITLES[run.answer],
                "in a row": run.answers,
                "seconds each": run.seconds,
                "re-asked": run.queued_again,
                "re-answered": run.looked_at,
                "changed": run.otherwise,
            }
            for run in runs
        ]
    )


def _shown(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    return f"{estimate.value:.2f} ({estimate.low:.2f}–{estimate.high:.2f}) of {estimate.labels}"
