"""All matches above a threshold: the slider, the expected precision and recall, the pages of pairs, the download."""

from functools import partial
from math import ceil, floor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import streamlit as st

from allpairs.annotate.features.explore import matches
from allpairs.annotate.features.explore.ui.charts import describe_thresholds, threshold_chart
from allpairs.annotate.features.groups.groups import Answered, answered_pairs, matches_at
from allpairs.annotate.features.label.last_answer import state_of_labels
from allpairs.annotate.features.label.ui.pair_view import pair_rows
from allpairs.annotate.features.quality.rounds import DIGITS
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.jobs.prepared import ExploredRound, Scored, prepared_best_pairs, probability, shown_pairs
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.figure import figure
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.db.schema.tables import Evaluation

PAGE_SIZE = 20  # pairs on one page
STEP = 10**-DIGITS


@st.fragment
def matches_view(project_id: int, round_: ExploredRound) -> None:
    """Draw the matches of the round."""
    scored = prepared_best_pairs(round_)
    if not len(scored):
        st.info("There are no pairs. The project needs at least two texts.", icon=":material/inbox:")
        return
    threshold = threshold_slider(round_, scored, f"threshold_{round_.folder.name}")
    answered = answered_now(round_, scored)
    above = matches_at(scored, threshold, answered)
    expectation(round_, scored, above, threshold)
    st.caption(" ".join(_apart(above, threshold, len(answered.several))))
    if round_.evaluation is not None:
        _curve(round_, round_.evaluation, scored, threshold)
    _table(project_id, round_, above, threshold)


def answered_now(round_: ExploredRound, scored: Scored) -> Answered:
    """Return what people say of pairs now; read anew after each answer, not at each move of the slider."""
    return _answered(prepared_state(round_), round_, scored)


def prepared_state(round_: ExploredRound) -> str:
    """Return what names a round's pairs as they are: what is prepared, what people say, and the texts."""
    state = state_of_labels(engine(), round_.matcher.project_id)
    return f"{round_.folder} {round_.exploration} {state}"


@st.cache_data(max_entries=20, show_spinner=False)
def _answered(state: str, _round: ExploredRound, _scored: Scored) -> Answered:
    return answered_pairs(engine(), _round, _scored)


def threshold_slider(round_: ExploredRound, scored: Scored, key: str) -> float:
    """Draw the slider; return the chosen threshold, within the range of the scores (sorted, best first)."""
    low, high = matches.worth_a_look(round_, scored)
    low = floor(low / STEP) * STEP
    high = ceil(high / STEP) * STEP
    start = min(high, max(low, matches.start_at(round_, scored)))
    return st.slider(
        "Threshold",
        low,
        max(high, low + STEP),
        start,
        STEP,
        format=f"%.{DIGITS}f",
        key=key,
        persist_state="session",
        help="Every pair that scores at least this is a match.",
    )


def _apart(above: Scored, threshold: float, several: int) -> list[str]:
    """Explain what the number of matches includes and leaves out."""
    below = int((above.score < np.float32(threshold)).sum())
    words = ["Pairs of texts, without known non-matches."]
    if below:
        words.append(f"{below:,} of them score below the threshold: they are known to match, or equal.")
    if several:
        words.append(f"{counted(several, 'text')} with several ids: the download has a row for each pair of ids.")
    return words


def expectation(round_: ExploredRound, scored: Scored, above: Scored, threshold: float) -> None:
    """Draw the number of matches, and the precision and recall that the stored evaluation estimates for them."""
    evaluation = round_.evaluation
    expected = matches.expected_at(evaluation, threshold) if evaluation else None
    p = probability(round_.matcher, np.array([threshold]))
    figures = {
        "Matches": f"{len(above):,}" + ("+" if threshold < _lowest(round_, scored) else ""),
        "Estimated precision": "–" if expected is None else _at_most(expected.precision, expected.beyond),
        "Estimated recall": "–" if expected is None else f"{expected.recall:.1%}",
        "p at the threshold": "–" if p is None else f"{p[0]:.3f}",
    }
    with st.container(horizontal=True):
        for title, value in figures.items():
            st.metric(title, value, width=160)
    st.caption(" ".join(_words(round_, expected, matches.mean_p(round_, above, threshold))))


def _lowest(round_: ExploredRound, scored: Scored) -> float:
    """Return the score down to which the list is complete; pairs that score lower were not kept."""
    exploration = round_.exploration
    return -1e9 if exploration is None or exploration.kept == exploration.pairs else float(scored.score[-1])


def _at_most(precision: float, beyond: bool) -> str:
    return f"{'≤ ' if beyond else ''}{precision:.1%}"


def _words(round_: ExploredRound, expected: matches.Expected | None, mean: float | None) -> list[str]:
    """Return what the figures mean, and how far they can be trusted. mean: probability of the model's matches."""
    evaluation = round_.evaluation
    model_estimate = (
        f"The model's own probabilities predict a precision of {mean:.1%}; that is not a measurement." if mean else ""
    )
    if evaluation is None or not evaluation.curve.get("score"):
        return ["This round has not been measured, so precision and recall are unknown.", model_estimate]
    if expected is None:
        return [
            "No measured match scores that high, so precision and recall are unknown at this threshold.",
            model_estimate,
        ]
    words = [f"Measured on the {evaluation.pairs:,} pairs of evaluation items{_interval(expected)}."]
    times = round_.exploration.times if round_.exploration else 1.0
    if times > 1.01:
        less = matches.over_all(expected.precision, times)
        words.append(
            f"This list covers all items, where matches are {times:.1f} times rarer than among the evaluation items. "
            f"Precision may drop to {less:.1%}."
        )
    return [*words, model_estimate]


def _interval(expected: matches.Expected) -> str:
    """Return the interval of the precision in words; empty where it is exact."""
    if expected.low is None or expected.high is None or expected.high <= expected.low:
        return ""
    return f" (95% interval of precision: {expected.low:.1%} to {expected.high:.1%})"


def _curve(round_: ExploredRound, evaluation: Evaluation, scored: Scored, threshold: float) -> None:
    low, high = matches.worth_a_look(round_, scored)
    table = matches.curve_table(evaluation, low, high)
    if len(table) > 1:
        figure(threshold_chart(table, threshold, low, max(high, threshold)), describe_thresholds(table))


def _table(project_id: int, round_: ExploredRound, above: Scored, threshold: float) -> None:
    """Draw one page of the matches, best first, and for those who may export, the download of all of them."""
    if not len(above):
        st.info("No pair scores that high. Lower the threshold.", icon=":material/inbox:")
        return
    page = paged(len(above), f"matches_page_{round_.folder.name}")
    part = above.take(slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE))
    pair_rows(project_id, [(pair, "") for pair in shown_pairs(engine(), round_.matcher, part)])
    if not may(Right.CHANGE, project_id):
        return
    name = f"matches-round-{round_.matcher.number}.csv"
    st.download_button(
        f"Download {counted(len(above), 'match').replace('matchs', 'matches')} as CSV",
        partial(_csv, round_, threshold, name),
        file_name=name,
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="download_matches",
    )


def paged(length: int, key: str, page_size: int = PAGE_SIZE, order: str = "best first") -> int:
    """Draw the choice of a page, where there are several; return the chosen one, counted from 0."""
    pages = ceil(length / page_size)
    if pages < 2:
        return 0
    if st.session_state.get(key, 1) > pages:
        st.session_state[key] = pages  # the list has become shorter
    with st.container(horizontal=True, vertical_alignment="center"):
        page = st.number_input("Page", 1, pages, key=key, label_visibility="collapsed", width=140)
        st.caption(f"page {page:,} of {pages:,}, {order}")
    return page - 1


def _csv(round_: ExploredRound, threshold: float, name: str) -> bytes:
    with TemporaryDirectory(prefix="allpairs-") as folder:
        path = Path(folder) / name
        matches.write_round_matches(engine(), round_, threshold, path)
        return path.read_bytes()
