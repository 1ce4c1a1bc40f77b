"""The four steps of every project, each ticked when it was done once."""

import streamlit as st

from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.kit.ui.language import _
from allpairs.annotate.projects.next_step import Standing

TEXTS = (
    (
        later("Label"),
        later(
            "Decide for each pair whether it matches. "
            "By default the model chooses those that it is least certain about."
        ),
    ),
    (
        later("Train"),
        later("The model trains on all answers so far and chooses the next batch: by default when one is complete."),
    ),
    (
        later("Measure"),
        later("The page Monitor estimates precision and recall over all pairs, not only over the labelled ones."),
    ),
    (later("Export"), later("The page Export gives you the matches and the labels, the page Monitor the model.")),
)


def steps(found: Standing) -> None:
    """Draw the steps side by side. The last one is never ticked: exporting leaves no trace."""
    done = (
        bool(found.rounds) or found.batch.complete,
        bool(found.rounds),
        bool(found.rounds) and found.measured,
        False,
    )
    columns = st.columns(len(TEXTS))
    for number, (column, (title, text), is_done) in enumerate(zip(columns, TEXTS, done, strict=True), 1):
        mark = ":green[:material/check_circle:]" if is_done else f"{number}"
        with column.container(border=True, height="stretch"):
            st.markdown(f"**{mark} {_(title)}**")
            st.caption(_(text))
