"""Results of a study: Table 7 of Kulshreshtha et al. (2021) with the paper's figures, and the agreement of raters."""

import pandas as pd
import streamlit as st

from allpairs.annotate.features.download.routes import study_address
from allpairs.annotate.features.studies.rating_export import FIGURES, RATINGS
from allpairs.annotate.features.studies.rating_scores import AGREEMENT, PAPER, Results, results
from allpairs.annotate.features.studies.rating_studies import TITLES, Standing
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.estimate import Estimate
from allpairs.db.projects.studies import CRITERIA

ABOUT = (
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


def study_results(project_id: int, standing: Standing) -> None:
    """Draw what the study shows so far."""
    if not standing.rated:
        st.info("Nobody has rated a question yet.")
        return
    found = results(engine(), project_id, standing.study.id)
    st.caption(" · ".join(f"{literal(who)}: {n} of {standing.units}" for who, n in standing.rated.items()))
    st.subheader("Quality of the questions", anchor=False)
    _table(score_table(found), "Shares of good ratings of each model by each criterion")
    st.caption(ABOUT)
    st.subheader("Agreement of the raters", anchor=False)
    _agreement(found)
    with st.container(horizontal=True):
        for title, what in (("Ratings as CSV", RATINGS), ("Figures as CSV", FIGURES)):
            st.link_button(title, study_address(project_id, standing.study.id, what), icon=":material/download:")


def score_table(found: Results) -> pd.DataFrame:
    """Return Table 7: a row for each model, followed by the paper's where it prints one."""
    rows = []
    for scores in found.scores:
        ours = {TITLES[name][0]: _figure(one) for name, one in scores.shares.items()}
        rows.append({"Model": scores.model, "Rated": f"{scores.rated} of {found.study.per_model}", **ours})
        if scores.model in PAPER:
            printed = {
                TITLES[name][0]: f"{value:.2f}" for name, value in zip(CRITERIA, PAPER[scores.model], strict=True)
            }
            rows.append({"Model": "– the paper", "Rated": "50", **printed})
    if found.gain:
        gains = {TITLES[name][0]: _signed(one) for name, one in found.gain.differences.items()}
        rows.append({"Model": GAIN, "Rated": f"{found.gain.passages} of {found.study.per_model}", **gains})
    return pd.DataFrame(rows)


def agreement_table(found: Results) -> pd.DataFrame:
    """Return the raters' agreement: a row for each coefficient, a column for each criterion."""
    by_criterion = {TITLES[one.criterion][0]: one.figures for one in found.agreement}
    rows = [
        {"Coefficient": name, **{title: _figure(figures[name]) for title, figures in by_criterion.items()}}
        for name in AGREEMENT
    ]
    return pd.DataFrame(rows)


def _signed(one: Estimate) -> str:
    return f"{one.value:+.2f} ({one.low:+.2f} to {one.high:+.2f})"


def _table(rows: pd.DataFrame, what: str) -> None:
    first = {rows.columns[0]: st.column_config.TextColumn(pinned=True)}  # a phone shows only some of the others
    st.dataframe(rows, hide_index=True, column_config=first, alt=what)


def _figure(one: Estimate | None) -> str:
    return f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f})" if one else "–"


def _agreement(found: Results) -> None:
    if not found.agreement:
        st.info("Agreement appears once two people have rated the same questions.")
        return
    _table(agreement_table(found), "Agreement of the raters by each criterion")
    st.caption(f"Based on {found.common} questions rated by two or more of {len(found.raters)} raters.")
    for one in found.agreement:
        if one.why:
            st.info(literal(f"{TITLES[one.criterion][0]}: {one.why}"))
    with st.expander("What these figures mean"):
        st.markdown(MEANING)
