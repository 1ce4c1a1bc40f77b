"""The history of a pair: every answer on it, as a table."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from annotate.ui.common.answers import TITLES
from db.domain import AnswerKind
from db.labels.labels import LabelRow

ACTS = TITLES | {AnswerKind.SKIP: "Skipped", AnswerKind.RETRACT: "Taken back"}


def pair_acts(rows: Sequence[LabelRow], own: bool = False) -> None:
    """Nothing; draws who said what and when, from which batch and model it came, and under which guidelines.

    own: of one annotator, who is not told whether the answer counts: that would tell what others said.
    """
    table = pd.DataFrame([
        {"at": f"{row.created_at:%Y-%m-%d %H:%M} UTC", "who": row.annotator, "answer": ACTS[row.answer],
         "counts": "yes" if row.counts else "", "note": row.note or "", "guidelines": row.guidelines or "",
         "batch": row.round, "chosen by round": row.model}
        for row in rows
    ])  # fmt: skip
    shown = table.drop(columns=["who", "counts"]) if own else table
    st.dataframe(shown, hide_index=True, alt="Every answer on this pair, the oldest first")
