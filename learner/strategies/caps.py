"""Diverse batches: a cap on how many pairs share a text, and a control share."""

from collections import Counter
from collections.abc import Callable

import numpy as np

from allpairs.learner.search.exact import Pairs
from allpairs.learner.strategies.pool import joined_pairs

MORE = 4  # factor by which more pairs are ranked each time, until the cap leaves enough


def within_cap(rank: Callable[[int], Pairs], n: int, per_text: int) -> Pairs:
    """Return the first n pairs of the ranking with at most `per_text` pairs of any text (0: no limit).

    If they are too few, the first skipped ones follow. rank(k): the first k pairs of the ranking, fewer if there are no
    more.
    """
    if not per_text:
        return rank(n)
    count = n
    enough = False
    while not enough:
        count *= MORE
        ranked = rank(count)
        positions = positions_within_cap(ranked, n, per_text)
        enough = len(positions) == n or len(ranked) < count
    skipped = np.setdiff1d(np.arange(len(ranked)), positions)
    return ranked.take(np.r_[positions, skipped][:n])


def positions_within_cap(ranked: Pairs, n: int, per_text: int) -> np.ndarray:
    """Return positions of the first n pairs, taken one by one, with at most `per_text` pairs of any text."""
    counts = Counter[int]()
    positions: list[int] = []
    for position, texts in enumerate(zip(ranked.left.tolist(), ranked.right.tolist(), strict=True)):
        if len(positions) == n:
            break
        if all(counts[text] < per_text for text in texts):
            positions.append(position)
            counts.update(texts)
    return np.array(positions, dtype=np.int64)


def with_controls(chosen: Pairs, candidates: Pairs, n: int, rows: int, rng: np.random.Generator) -> Pairs:
    """Spread n other candidates, drawn uniformly, evenly among the chosen pairs (fewer if fewer exist).

    rows: above every row number.
    """
    unchosen = np.flatnonzero(~np.isin(candidates.keys(rows), chosen.keys(rows)))
    drawn = candidates.take(rng.permutation(unchosen)[:n])
    places = [(np.arange(len(pairs)) + 0.5) / max(1, len(pairs)) for pairs in (chosen, drawn)]
    return joined_pairs(chosen, drawn).take(np.argsort(np.concatenate(places), kind="stable"))
