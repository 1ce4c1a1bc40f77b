"""Results of a study: Table 7 of Kulshreshtha et al. (2021) with the paper's figures, and the agreement of raters."""

import pandas as pd
import streamlit as st

from allpairs.annotate.features.download.routes import study_address
from allpairs.annotate.features.studies.rating_export import FIGURES, RATINGS
from allpairs.annotate.features.studies.rating_scores import AGREEMENT, PAPER, StudyResults, results
from allpairs.annotate.features.studies.rating_studies import TITLES, StudyStanding
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.estimate import Estimate
from allpairs.db.projects.studies import CRITERIA

EXPLANATION = (
    "The share of questions that raters find good, with its 95% interval over other passages, for these raters. The "
    "paper's figures come from 50 questions and three experts, without intervals."
)
GAIN = "back-training minus self-training"  # passage by passage
MEANING = """\
- **Agreement**: how often two raters of a question give the same answer.
- **AC1**, **kappa**, **alpha**: agreement beyond chance; 1 is perfect. They differ in how they estimate chance
  agreement: kappa (Cohen's for two raters, Fleiss' for more) and alpha (Krippendorff's) assume much of it where one
  answer is rare, AC1 (Gwet's) does not.
- **On yes**, **on no**: where one rater says yes (no), how often another one does too.

Intervals (95%) come from a bootstrap over questions. –: not defined, since raters gave only one answer.
"""


def study_results(project_id: int, standing: StudyStanding) -> None:
    """Draw what the study shows so far."""
    if not standing.rated:
        st.info("Nobody has rated a question yet.")
        return
    outcome = results(engine(), project_id, standing.study.id)
    st.caption(" · ".join(f"{literal(rater)}: {n} of {standing.units}" for rater, n in standing.rated.items()))
    st.subheader("Quality of the questions", anchor=False)
    _table(score_table(outcome), "Shares of good ratings of each model by each criterion")
    st.caption(EXPLANATION)
    st.subheader("Agreement of the raters", anchor=False)
    _agreement(outcome)
    with st.container(horizontal=True):
        for title, table in (("Ratings as CSV", RATINGS), ("Figures as CSV", FIGURES)):
            st.link_button(title, study_address(project_id, standing.study.id, table), icon=":material/download:")


def score_table(outcome: StudyResults) -> pd.DataFrame:
    """Return Table 7: a row for each model, followed by the paper's where it prints one."""
    rows = []
    for scores in outcome.scores:
        shares = {TITLES[name][0]: _figure(estimate) for name, estimate in scores.shares.items()}
        rows.append({"Model": scores.model, "Rated": f"{scores.rated} of {outcome.study.per_model}", **shares})
        if scores.model in PAPER:
            printed = {
                TITLES[name][0]: f"{value:.2f}" for name, value in zip(CRITERIA, PAPER[scores.model], strict=True)
            }
            rows.append({"Model": "– the paper", "Rated": "50", **printed})
    if outcome.gain:
        gains = {TITLES[name][0]: _signed(estimate) for name, estimate in outcome.gain.differences.items()}
        rows.append({"Model": GAIN, "Rated": f"{outcome.gain.passages} of {outcome.study.per_model}", **gains})
    return pd.DataFrame(rows)


def rater_agreement(outcome: StudyResults) -> pd.DataFrame:
    """Return the raters' agreement: a row for each coefficient, a column for each criterion."""
    by_criterion = {TITLES[agreement.criterion][0]: agreement.figures for agreement in outcome.agreement}
    rows = [
        {"Coefficient": name, **{title: _figure(figures[name]) for title, figures in by_criterion.items()}}
        for name in AGREEMENT
    ]
    return pd.DataFrame(rows)


def _signed(estimate: Estimate) -> str:
    return f"{estimate.value:+.2f} ({estimate.low:+.2f} to {estimate.high:+.2f})"


def _table(rows: pd.DataFrame, description: str) -> None:
    first = {rows.columns[0]: st.column_config.TextColumn(pinned=True)}  # a phone shows only some of the others
    st.dataframe(rows, hide_index=True, column_config=first, alt=description)


def _figure(estimate: Estimate | None) -> str:
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})" if estimate else "–"


def _agreement(outcome: StudyResults) -> None:
    if not outcome.agreement:
        st.info("Agreement appears once two people have rated the same questions.")
        return
    _table(rater_agreement(outcome), "Agreement of the raters by each criterion")
    st.caption(f"Based on {outcome.common} questions rated by two or more of {len(outcome.raters)} raters.")
    for agreement in outcome.agreement:
        if agreement.kappa_note:
            st.info(literal(f"{TITLES[agreement.criterion][0]}: {agreement.kappa_note}"))
    with st.expander("What these figures mean"):
        st.markdown(MEANING)
