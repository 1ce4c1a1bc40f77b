"""Lists of texts and data frames as the texts that a trained matcher scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from allpairs.db.corpus.cells import shown
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import Side
from allpairs.db.errors import InputError
from allpairs.learner.data.fields import RecordTexts

ONE_COLUMN = TextColumns({Side.LEFT: ("text",)})


def read_records(columns: TextColumns | None, given: Sequence[Sequence[str] | pd.DataFrame]) -> list[RecordTexts]:
    """Return the left list, and the right one if there is one; columns: those that the matcher was trained on.

    Raises InputError for a single text, for a list beside a data frame, and for a data frame that lacks a column.
    """
    if any(isinstance(texts, str) for texts in given):
        raise InputError("give lists of texts, not a single text: [text]")
    if len({isinstance(texts, pd.DataFrame) for texts in given}) > 1:
        raise InputError("one list has columns and the other has not: give two data frames, or two lists of texts")
    return [_records(columns or ONE_COLUMN, texts, side) for texts, side in zip(given, Side, strict=False)]


def _records(columns: TextColumns, texts: Sequence[str] | pd.DataFrame, side: Side) -> RecordTexts:
    if isinstance(texts, pd.DataFrame):
        rows = _rows(texts, columns.names.get(side, columns.names[Side.LEFT]))
        return RecordTexts.of_rows((list(map(str, row)) for row in rows), side, columns)
    return RecordTexts(list(texts), [None] * len(texts), [side] * len(texts), ONE_COLUMN)


def _rows(frame: pd.DataFrame, names: Sequence[str]) -> Iterable[tuple[object, ...]]:
    if missing := [name for name in names if name not in frame.columns]:
        there = ", ".join(map(str, frame.columns))
        raise InputError(f"the data frame has no column {shown(missing[0])} but {there}: rename one")
    return frame[list(names)].astype(object).fillna("").itertuples(index=False, name=None)
