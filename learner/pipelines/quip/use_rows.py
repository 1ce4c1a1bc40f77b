"""Rows of the tables that uses are measured on."""

from typing import Any

import numpy as np

Rows = list[dict[str, Any]]


def by_dataset(rows: Rows) -> dict[str, Rows]:
    """The rows of each data set, in the order in which these appear."""
    found: dict[str, Rows] = {}
    for row in rows:
        found.setdefault(row["dataset"], []).append(row)
    return found


def some(rows: Rows, most: int | None, seed: int) -> Rows:
    """So many of the rows, drawn from the seed, in their order."""
    if most is None or most >= len(rows):
        return rows
    return [rows[i] for i in np.sort(np.random.default_rng([seed, 3]).permutation(len(rows))[:most])]
