"""The history of a pair: every answer to it, as a table."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from allpairs.annotate.ui.common.answers import TITLES
from allpairs.db.domain import AnswerKind
from allpairs.db.labels.labels import LabelRow

ACTS = TITLES | {AnswerKind.SKIP: "Skipped", AnswerKind.RETRACT: "Undone"}


def pair_acts(rows: Sequence[LabelRow], own: bool = False) -> None:
    """Draw who gave which answer and when, from which batch and model, and under which guidelines.

    own: the annotator's own answers, without whether they count, since that would reveal the answers of others.
    """
    table = pd.DataFrame([
        {"at": f"{row.created_at:%Y-%m-%d %H:%M} UTC", "who": row.annotator, "answer": ACTS[row.answer],
         "counts": "yes" if row.counts else "", "note": row.note or "", "guidelines": row.guidelines or "",
         "batch": row.round, "chosen by round": row.model}
        for row in rows
    ])  # fmt: skip
    shown = table.drop(columns=["who", "counts"]) if own else table
    st.dataframe(shown, hide_index=True, alt="Every answer to this pair, oldest first")
