"""Lists of texts and data frames as the texts that a trained matcher scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from allpairs.arguments import cell_text, filled_cell
from allpairs.db.corpus.cells import shown
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import Side
from allpairs.db.errors import InputError
from allpairs.learner.data.fields import RecordTexts

ONE_COLUMN = TextColumns({Side.LEFT: ("text",)})


def read_records(columns: TextColumns | None, text_lists: Sequence[Iterable[str] | pd.DataFrame]) -> list[RecordTexts]:
    """Return the left list, and the right one if there is one; columns: those that the matcher was trained on.

    Raises InputError for a list beside a data frame, and for a data frame that lacks a column or has other values than
    texts and numbers.
    """
    if len({isinstance(texts, pd.DataFrame) for texts in text_lists}) > 1:
        raise InputError("one list has columns and the other has not: give two data frames, or two lists of texts")
    return [_records(columns or ONE_COLUMN, texts, side) for texts, side in zip(text_lists, Side, strict=False)]


def _records(columns: TextColumns, texts: Iterable[str] | pd.DataFrame, side: Side) -> RecordTexts:
    if isinstance(texts, pd.DataFrame):
        rows = _rows(texts, columns.names.get(side, columns.names[Side.LEFT]), side)
        return RecordTexts.of_rows(rows, side, columns)
    listed = list(texts)
    return RecordTexts(listed, [None] * len(listed), [side] * len(listed), ONE_COLUMN)


def _rows(frame: pd.DataFrame, names: Sequence[str], side: Side) -> Iterable[list[str]]:
    """Yield the values of each row as text: a missing one is empty, and a whole number has no point."""
    if missing := [name for name in names if name not in frame.columns]:
        column_names = ", ".join(map(str, frame.columns))
        raise InputError(f"the data frame has no column {shown(missing[0])} but {column_names}: rename one")
    cells = frame[list(names)].astype(object)
    text_of = cell_text if len(names) > 1 else filled_cell
    for place, row in enumerate(cells.where(cells.notna(), None).itertuples(index=False, name=None)):
        yield [text_of(cell, f"{side}[{place}]", name) for name, cell in zip(names, row, strict=True)]
