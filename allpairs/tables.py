"""Lists of texts and data frames as files, which the functions on files read and check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from allpairs.db.corpus.csv_writer import write_csv
from allpairs.db.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from allpairs.db.corpus.corpus import Corpus

    Texts: TypeAlias = "str | PathLike[str] | Sequence[str] | pd.DataFrame"
    Pairs: TypeAlias = "str | PathLike[str] | Iterable[Any] | pd.DataFrame"


def read_corpus(left: Texts, right: Texts | None, gold: Pairs | None, folder: Path) -> Corpus:
    """Return the checked corpus; what is not a file yet is written to the folder first. Raises InputError."""
    from allpairs.db.corpus.corpus import load_corpus

    return load_corpus(
        as_items(left, folder / "left.csv"),
        None if right is None else as_items(right, folder / "right.csv"),
        None if gold is None else as_pairs(gold, folder / "gold.csv"),
    )


def as_items(texts: Texts, path: Path) -> Path:
    """Return the file with the columns id and text; a text of a list has its position as its id."""
    if isinstance(texts, (str, PathLike)):
        return Path(texts)
    if _is_table(texts):
        return _written(texts, ("id", "text"), path)
    write_csv(path, ("id", "text"), enumerate(texts))
    return path


def as_pairs(pairs: Pairs, path: Path, columns: Sequence[str] = ("id1", "id2")) -> Path:
    """Return the file with these columns, and others that are there; a list has pairs of ids or of positions."""
    if isinstance(pairs, (str, PathLike)):
        return Path(pairs)
    if _is_table(pairs):
        return _written(pairs, columns, path)
    if len(columns) > 2:
        raise InputError(f"give a data frame or a file with the columns {', '.join(columns)}, not a list")
    write_csv(path, columns, pairs)  # type: ignore[arg-type]
    return path


def _is_table(given: object) -> TypeGuard[pd.DataFrame]:
    return hasattr(given, "columns")  # without loading pandas to ask


def _written(table: pd.DataFrame, columns: Sequence[str], path: Path) -> Path:
    if missing := [name for name in columns if name not in table.columns]:
        there = ", ".join(map(str, table.columns))
        raise InputError(f"the data frame has no column {missing[0]!r} but {there}: rename one")
    from allpairs.db.corpus.table_files import frame_rows

    write_csv(path, list(map(str, table.columns)), frame_rows(table))
    return path
