"""Diverse batches: caps on how many pairs share a text or a neighbourhood, and a control share."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import MiniBatchKMeans

from allpairs.learner.search.exact import Pairs
from allpairs.learner.strategies.pool import joined

MORE = 4  # factor by which more pairs are ranked each time, until the caps leave enough


@dataclass(frozen=True)
class Cap:
    """At most `most` pairs touch any one group; group: (texts,) the number of each text's group."""

    group: np.ndarray
    most: int


def within_caps(rank: Callable[[int], Pairs], n: int, caps: Sequence[Cap]) -> Pairs:
    """Return the first n pairs of the ranking that the caps allow; if they are too few, the first skipped ones follow.

    rank(k): the first k pairs of the ranking, fewer if there are no more.
    """
    if not caps:
        return rank(n)
    wanted, enough = n, False
    while not enough:
        wanted *= MORE
        ranked = rank(wanted)
        kept = allowed(ranked, n, caps)
        enough = len(kept) == n or len(ranked) < wanted
    skipped = np.setdiff1d(np.arange(len(ranked)), kept)
    return ranked.take(np.r_[kept, skipped][:n])


def allowed(ranked: Pairs, n: int, caps: Sequence[Cap]) -> np.ndarray:
    """Return positions of the first n pairs, taken one by one, within the groups' caps; a pair counts once."""
    touched = [list(zip(cap.group[ranked.left].tolist(), cap.group[ranked.right].tolist(), strict=True))
               for cap in caps]  # fmt: skip
    counts = [Counter[int]() for _ in caps]
    kept: list[int] = []
    for at in range(len(ranked)):
        if len(kept) == n:
            break
        groups = [set(pairs[at]) for pairs in touched]
        if all(counts[i][group] < cap.most for i, cap in enumerate(caps) for group in groups[i]):
            kept.append(at)
            for count, here in zip(counts, groups, strict=True):
                count.update(here)
    return np.array(kept, dtype=np.int64)


def neighbourhoods(vectors: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the cell of each vector, (n,): about √k cells by k-means over these k rows, and -1 for all other rows."""
    cells = np.full(len(vectors), -1)
    means = MiniBatchKMeans(round(len(rows) ** 0.5), n_init=1, max_iter=5, random_state=int(rng.integers(2**31)))
    cells[rows] = means.fit_predict(vectors[rows])
    return cells


def with_controls(chosen: Pairs, candidates: Pairs, n: int, rows: int, rng: np.random.Generator) -> Pairs:
    """Spread n other candidates, drawn uniformly, evenly among the chosen pairs (fewer if fewer exist).

    rows: above every row number.
    """
    others = np.flatnonzero(~np.isin(candidates.keys(rows), chosen.keys(rows)))
    drawn = candidates.take(rng.permutation(others)[:n])
    places = [(np.arange(len(pairs)) + 0.5) / max(1, len(pairs)) for pairs in (chosen, drawn)]
    return joined(chosen, drawn).take(np.argsort(np.concatenate(places), kind="stable"))
