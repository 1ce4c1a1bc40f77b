"""Lists and data frames as files, which the functions on files read and check."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from allpairs.arguments import cell_text, is_table
from allpairs.db.domain import Side
from allpairs.db.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from allpairs.db.corpus.corpus import Corpus
    from allpairs.db.corpus.text_columns import TextColumns

    Texts: TypeAlias = "str | PathLike[str] | Iterable[str] | pd.DataFrame"
    Pairs: TypeAlias = "str | PathLike[str] | Iterable[Any] | pd.DataFrame"

ONE_COLUMN = ("text",)
WRITTEN = "{}.argument.jsonl"  # a name that no file of a user has
PLACE = re.compile(r"\b(left|right|gold|audit)\.argument\.jsonl(?:, row (\d+))?")


def read_corpus(
    left: Texts, right: Texts | None, gold: Pairs | None, folder: Path, columns: TextColumns | None = None
) -> Corpus:
    """Return the checked corpus; what is not a file yet is written to the folder first.

    columns: those that a model of records was trained on. Raises InputError.
    """
    from allpairs.db.corpus.corpus import Columns, load_corpus

    names = _names(left, columns, Side.LEFT)
    right_names = _names(right, columns, Side.RIGHT)
    return load_corpus(
        as_items(left, folder / WRITTEN.format("left"), names),
        None if right is None else as_items(right, folder / WRITTEN.format("right"), right_names),
        None if gold is None else as_pairs(gold, folder / WRITTEN.format("gold")),
        text_columns=names,
        right_columns=Columns("id", right_names),
    )


def _names(texts: Texts | None, columns: TextColumns | None, side: Side) -> tuple[str, ...]:
    """Return the text columns of a table or file: those of the records, or the one column `text`."""
    from allpairs.db.corpus.files import column_names

    if columns is None or not (is_table(texts) or isinstance(texts, (str, PathLike))):
        return ONE_COLUMN
    names = tuple(columns.names.get(side, columns.names[Side.LEFT]))
    columns_of_texts = column_names(Path(texts)) if isinstance(texts, (str, PathLike)) else list(texts.columns)  # type: ignore[union-attr]
    return ONE_COLUMN if "text" in columns_of_texts and not set(names) <= set(columns_of_texts) else names


def as_items(texts: Texts, path: Path, names: Sequence[str] = ONE_COLUMN) -> Path:
    """Return the file with the columns id and text; a text of a list has its position as its id."""
    if isinstance(texts, (str, PathLike)):
        return Path(texts)
    if is_table(texts):
        return _written(texts, ("id", *names), path)
    return _write(path, ("id", *names), enumerate(texts))


def as_pairs(
    pairs: Pairs, path: Path, columns: Sequence[str] = ("id1", "id2"), more: Sequence[str] = ("label",)
) -> Path:
    """Return the file with these columns, and those of `more` that are there; a list has pairs of ids or positions."""
    if isinstance(pairs, (str, PathLike)):
        return Path(pairs)
    if is_table(pairs):
        from allpairs.db.corpus.cells import present_columns

        present = present_columns(more, pairs.columns, "the data frame")  # type: ignore[union-attr]
        return _written(pairs, (*columns, *present), path)
    if len(columns) > 2:
        raise InputError(f"give a data frame or a file with the columns {', '.join(columns)}, not a list")
    rows = list(pairs)
    labelled = any(len(row) > 2 for row in rows)
    return _write(path, (*columns, "label") if labelled else columns, ([*row, 1][: 2 + labelled] for row in rows))


@contextmanager
def places_as_arguments() -> Iterator[None]:
    """Name the place in an argument, such as `left[2]`, in errors about the files that are written here."""
    try:
        yield
    except InputError as error:
        raise InputError(PLACE.sub(_place, str(error))) from error


def _place(match: re.Match[str]) -> str:
    return f"{match[1]}[{int(match[2]) - 1}]" if match[2] else match[1]


def _written(table: Any, columns: Sequence[str], path: Path) -> Path:
    if missing := [name for name in columns if name not in table.columns]:
        names = ", ".join(map(str, table.columns))
        raise InputError(f"the data frame has no column {missing[0]!r} but {names}: rename one")
    cells = table[list(columns)].astype(object)
    return _write(path, columns, cells.where(cells.notna(), None).itertuples(index=False, name=None))


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """Write the rows as JSON Lines, where a row is a line whatever it holds."""
    argument = path.name.partition(".")[0]
    with path.open("w", encoding="utf-8") as file:
        for place, row in enumerate(rows):
            row_name = f"{argument}[{place}]"
            cells = {name: cell_text(cell, row_name, name) for name, cell in zip(columns, row, strict=True)}
            file.write(json.dumps(cells) + "\n")
    return path
