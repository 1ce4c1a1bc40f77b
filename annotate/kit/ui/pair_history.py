"""The history of a pair: every answer to it, as a table."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.kit.ui.language import _
from allpairs.db.domain import AnswerKind
from allpairs.db.labels.labels import LabelRow

TITLES = {AnswerKind.POSITIVE: later("Yes"), AnswerKind.NEGATIVE: later("No"), AnswerKind.UNSURE: later("Unsure")}


COLUMNS = {
    "at": later("At"),
    "who": later("Who"),
    "answer": later("Answer"),
    "counts": later("Counts"),
    "note": later("Note"),
    "guidelines": later("Guidelines"),
    "batch": later("Batch"),
    "chosen by round": later("Chosen by round"),
}
ACTS = TITLES | {AnswerKind.SKIP: later("Skipped"), AnswerKind.RETRACT: later("Undone")}


def pair_acts(rows: Sequence[LabelRow], is_own: bool = False) -> None:
    """Draw who gave which answer and when, from which batch and model, and under which guidelines.

    is_own: the annotator's own answers, without whether they count, since that would reveal the answers of others.
    """
    table = pd.DataFrame(
        [
            {
                "at": f"{row.created_at:%Y-%m-%d %H:%M} UTC",
                "who": row.annotator,
                "answer": _(ACTS[row.answer]),
                "counts": "yes" if row.counts else "",
                "note": row.note or "",
                "guidelines": row.guidelines or "",
                "batch": row.round,
                "chosen by round": row.model,
            }
            for row in rows
        ]
    )
    columns = table.drop(columns=["who", "counts"]) if is_own else table
    titles = {name: _(title) for name, title in COLUMNS.items() if name in columns}
    st.dataframe(columns, hide_index=True, column_config=titles, alt=_("Every answer to this pair, oldest first"))
