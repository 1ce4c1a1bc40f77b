"""Explored projects for tests: rounds with their arrays, written as the job writes them, without a model."""

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Engine, select

from allpairs.annotate.explore.prepared import Round, rounds_of
from allpairs.db.results.explorations import KNOWN, PAIRS, Exploration, exploration_folder, write_exploration
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Item, Matcher

Row = tuple[int, int, float]  # positions of two items of the project, and their score
KnownRow = tuple[int, int, float, int, int]  # and the pair's label and gold answer


def explore(
    engine: Engine, project_id: int, number: int, pairs: Sequence[Row], known: Sequence[KnownRow] = (),
    all_pairs: int | None = None, cutoff: int = 0,
) -> Round:  # fmt: skip
    """Make a round with these pairs, best first, and these known ones, and return it."""
    ids = np.array(item_ids(engine, project_id))
    with reading(engine) as session:
        matcher = session.scalars(
            select(Matcher).where(Matcher.project_id == project_id, Matcher.number == number)
        ).one()
    folder = exploration_folder(matcher)
    folder.mkdir(parents=True, exist_ok=True)
    left, right, score = _columns(pairs, 3)
    np.savez(folder / PAIRS, left=ids[left.astype(int)], right=ids[right.astype(int)], score=score.astype(np.float32))
    left, right, score, label, gold = _columns(known, 5)
    np.savez(
        folder / KNOWN, left=ids[left.astype(int)], right=ids[right.astype(int)], score=score.astype(np.float32),
        label=label.astype(np.int8), gold=gold.astype(np.int8), equal=np.zeros(len(left), dtype=bool),
    )  # fmt: skip
    counts = (len(pairs) if all_pairs is None else all_pairs, len(pairs), len(known))
    write_exploration(folder, Exploration(number, *counts, cutoff=cutoff, times=4.0, seconds=3.2))
    return next(one for one in rounds_of(engine, project_id) if one.matcher.number == number)


def _columns(rows: Sequence[Sequence[float]], n: int) -> np.ndarray:
    return np.array(rows, dtype=np.float64).reshape(-1, n).T


def item_ids(engine: Engine, project_id: int) -> list[int]:
    """Return the items of the project in the order of its texts."""
    with reading(engine) as session:
        return list(session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)))


CURVE = {"recall": [0.25, 0.5, 1.0], "precision": [1.0, 0.8, 0.5], "score": [0.8, 0.6, 0.3]}

FIGURES = {"pairs": 1000, "positives": 4, "estimates": {}, "curve": CURVE, "histogram": {}}

SCORED = [(0, 1, 0.9), (0, 2, 0.8), (3, 4, 0.7), (0, 6, 0.65), (6, 7, 0.6), (4, 5, 0.2), (1, 2, 0.1)]
