"""The figures of a peer's scores over all evaluation pairs: one code for every peer.

Pairs that a peer does not score come last, all tied. Ties are one threshold, as everywhere in the project.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from allpairs.db.corpus import graph
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.light.groups.measures import b_cubed
from allpairs.learner.metrics.average_precision import Curve, average_precision, curve_from_scores, precision_at_recall
from allpairs.learner.search.exact import count_pairs


@dataclass(frozen=True)
class Scored:
    """The pairs that a peer scored, each once: left and right positions among evaluation records, and their scores."""

    left: np.ndarray
    right: np.ndarray
    score: np.ndarray


def read_scored(path: Path, dataset: Dataset) -> Scored:
    """Read a file of scores, dense or sparse, of one list each pair with its first record on the left.

    Raises ValueError if pairs are repeated, unknown or not numbers.
    """
    rows = len(dataset.evaluation_left)
    columns = len(dataset.evaluation_right)
    with np.load(path) as file:
        if "scores" in file:
            dense = file["scores"]
            if dense.shape != (rows, columns):
                raise ValueError(f"{path}: scores are {dense.shape}, not {(rows, columns)}")
            left, right = np.triu_indices(rows, 1) if dataset.symmetric else np.indices(dense.shape).reshape(2, -1)
            scored = Scored(left, right, dense[left, right])
        else:
            ends = (file["left"], file["right"])
            scored = Scored(*(np.sort(ends, axis=0) if dataset.symmetric else ends), file["score"])
    inside = (scored.left >= 0) & (scored.left < rows) & (scored.right >= 0) & (scored.right < columns)
    inside &= (scored.left != scored.right) | (not dataset.symmetric)
    given = np.zeros((rows, columns), dtype=bool)  # np.unique of millions of keys took most of the time
    given[scored.left[inside], scored.right[inside]] = True
    if given.sum() < len(scored.score) or not np.isfinite(scored.score).all():
        raise ValueError(f"{path}: each pair of evaluation records at most once, with a finite score")
    return scored


def figures(scored: Scored, dataset: Dataset) -> dict[str, float]:
    """Return average precision, best F1, precision at recall 0.2, B³ F1 at the best F1, and what blocking lost.

    blocking_loss: the share of matches among the pairs that the peer never scored.
    """
    rows = len(dataset.evaluation_left)
    columns = len(dataset.evaluation_right)
    matches = dataset.evaluation_positives
    pairs = count_pairs(rows, columns, dataset.symmetric)
    keys = scored.left * columns + scored.right
    true = matches[:, 0] * columns + matches[:, 1]
    label = np.isin(keys, true)
    unscored = pairs - len(keys)
    lost = len(true) - int(label.sum())
    last = scored.score.min(initial=0.0) - 1.0
    curve = curve_from_scores(
        np.r_[scored.score, last, last], np.r_[label, True, False], np.r_[np.ones(len(keys)), lost, unscored - lost]
    )
    best, threshold = best_f1(curve)
    found = scored.score >= threshold
    called = np.column_stack([scored.left[found], scored.right[found]])
    groups = b_cubed(*(_groups(each, dataset) for each in (called, matches)))
    return {
        "average_precision": average_precision(curve),
        "best_f1": best,
        "precision_at_recall_20": precision_at_recall(curve, 0.2),
        "b_cubed_f1": groups.f1 or 0.0,
        "blocking_loss": lost / len(true),
    }


def best_f1(curve: Curve) -> tuple[float, float]:
    """Return the highest F1 of any threshold, and that threshold."""
    f1 = 2 * curve.precision * curve.recall / (curve.precision + curve.recall)
    at = int(np.argmax(f1))
    return float(f1[at]), float(curve.score[at])


def _groups(pairs: np.ndarray, dataset: Dataset) -> np.ndarray:
    """Return the connected component of each evaluation record, left ones first."""
    rows = len(dataset.evaluation_left)
    columns = len(dataset.evaluation_right)
    if dataset.symmetric:
        return graph.components(rows, pairs)
    return graph.components(rows + columns, np.add(pairs, [0, rows]))
