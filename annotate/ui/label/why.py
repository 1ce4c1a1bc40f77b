"""Why a pair was chosen: in words, a plot of its score, and the most similar labelled pairs."""

from collections.abc import Sequence

import altair as alt
import pandas as pd
import streamlit as st

from allpairs.annotate.explore.pair_reason import Alike, Reasons, Scored
from allpairs.annotate.monitor.charts import Plot, tooltips
from allpairs.annotate.projects.setting_effects import ORDERS
from allpairs.annotate.text.formatting import beginning, literal
from allpairs.annotate.text.palette import MATCHER
from allpairs.annotate.ui.common.figure import figure
from allpairs.annotate.ui.common.pair_view import ANSWERS
from allpairs.db.domain import DesignKind, Purpose
from allpairs.learner.catalog import STRATEGIES


def why(found: Reasons) -> None:
    """Draw the reasons."""
    st.markdown(_sentence(found))
    if found.purpose == Purpose.AUDIT or found.strategy == DesignKind.MINED:
        return
    _history(found.scores)
    if found.alike:
        st.markdown("**Most similar labelled pairs, when it was chosen**")
        for pair in found.alike:
            _labelled(pair)


def _sentence(found: Reasons) -> str:
    where = f"batch {found.batch}" if found.batch else "an audit batch"
    if found.purpose == Purpose.AUDIT:
        return f"An audit pair of {where}, sampled at random. Its label measures and is never used for training."
    if found.strategy == DesignKind.MINED:
        return "A mined pair, sampled at random from its rank band. Its label is used for training."
    entry = STRATEGIES.get(found.strategy)
    model = f"the model of round {found.chosen_by}" if found.chosen_by else "the pre-trained encoder"
    place = f"Number {found.rank:,} of the {found.of:,} pairs of {where}"
    if found.rank > found.of:
        place = f"Number {found.rank - found.of:,} of the reserve of {where}"
    chosen = f"chosen by **{literal(found.strategy)}** with {model}"
    sentence = f"{place}, {chosen} on {found.put_up_at:%Y-%m-%d}."
    parts = [sentence, entry.description if entry else "", _order(found)]
    return " ".join(part for part in parts if part)


def _order(found: Reasons) -> str:
    """Return how a re-ranker placed the pair; empty where none did."""
    if found.ordered is None or found.rerank is None:
        return ""
    return (
        f"A re-ranker ordered the batch: {ORDERS[found.ordered]} came first. It scored this pair "
        f"**{found.rerank:.2f}**; a score above 0 means match."
    )


def _history(scores: Sequence[Scored]) -> None:
    if len(scores) == 1:
        st.markdown(f"Its score was {_scored(scores[0])} when it was chosen. Later rounds will add theirs here.")
        return
    newest = f"{_scored(scores[-1])} in round {scores[-1].number}"
    st.markdown(f"Its score was {_scored(scores[0])} when it was chosen, and {newest}.")
    listed = ", ".join(f"{each.score:.3f} in round {each.number}" for each in scores)
    figure(score_chart(scores), f"Score of this pair by round: {listed}.")


def _scored(at: Scored) -> str:
    return f"**{at.score:.3f}**" + ("" if at.p is None else f" (p {at.p:.2f})")


def score_chart(scores: Sequence[Scored]) -> Plot:
    """Return a line chart of the score by round."""
    table = pd.DataFrame([{"round": each.number, "score": each.score, "p": each.p} for each in scores])
    line = alt.Chart(table, height=140).encode(
        x=alt.X("round:O", title="Round"),
        y=alt.Y("score:Q", title="Score", scale=alt.Scale(zero=False)),
        tooltip=tooltips({"round": ("Round", "d"), "score": ("Score", ".3f"), "p": ("p", ".2f")}),
    )
    return alt.layer(line.mark_line(color=MATCHER), line.mark_point(color=MATCHER, filled=True, size=70, opacity=1))


def _labelled(pair: Alike) -> None:
    label = ANSWERS[pair.answer] if pair.answer else "label removed"
    st.caption(f"{label} · similarity {pair.alike:.2f}")
    st.text(f"{beginning(pair.left)}\n{beginning(pair.right)}")
