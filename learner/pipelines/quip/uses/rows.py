"""Rows of the tables that uses are measured on."""

from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.corpus.cells import bad, plain_label
from allpairs.db.corpus.files import read_rows

Rows = list[dict[str, Any]]
TABLES = {  # the columns of each use's file
    "paraphrases": ("dataset", "split", "x", "y", "label"),
    "entities": ("dataset", "split", "tokens", "tags"),
    "sentiment": ("dataset", "text", "label"),
}
LABELS = ("0", "1")


def read_table(path: Path, use: str) -> Rows:
    """Return the rows of the use's file; labels are 0 or 1. Raises InputError, naming the row, for other labels."""
    rows = []
    for row in read_rows(path, TABLES[use]):
        values: dict[str, Any] = dict(zip(TABLES[use], row.values, strict=True))
        if "label" in values:
            if plain_label(values["label"]) not in LABELS:
                raise bad(f"{values['label']!r} is not a label; write 1 or 0", path, row.number, "label")
            values["label"] = int(plain_label(values["label"]))
        rows.append(values)
    return rows


def by_dataset(rows: Rows) -> dict[str, Rows]:
    """Return the rows of each data set, in order of appearance."""
    rows_by_name: dict[str, Rows] = {}
    for row in rows:
        rows_by_name.setdefault(row["dataset"], []).append(row)
    return rows_by_name


def sample_rows(rows: Rows, most: int | None, seed: int) -> Rows:
    """Return a random sample of the rows, at most `most`, in their order."""
    if most is None or most >= len(rows):
        return rows
    return [rows[i] for i in np.sort(np.random.default_rng([seed, 3]).permutation(len(rows))[:most])]
