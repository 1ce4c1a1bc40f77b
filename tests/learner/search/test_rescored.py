"""Pairs that have another score than their vectors' product, wherever all pairs are scored."""

import numpy as np
import pytest

from allpairs.learner.evaluation.audit.ranking import rank_all
from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.evaluation.false_negatives import find_putative
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.rescored import NOTHING, Rescored
from allpairs.learner.search.top_pairs import best_pairs

N = 40


@pytest.mark.parametrize("symmetric", [True, False])
def test_pairs_are_measured_searched_and_ranked_by_new_scores(symmetric: bool) -> None:
    left, right, positives, rescored, table = example(symmetric)
    rows, columns = np.triu_indices(N, 1) if symmetric else np.indices((N, N)).reshape(2, -1)
    score = table[rows, columns]
    order = np.lexsort((columns, rows, -score))
    best = best_pairs(left, right, symmetric, top=60, rescored=rescored)
    assert best.left.tolist() == rows[order[:60]].tolist() and best.right.tolist() == columns[order[:60]].tolist()
    assert best.score == pytest.approx(score[order[:60]], abs=1e-6)
    label = np.isin(rows * N + columns, positives[:, 0] * N + positives[:, 1])
    measured = evaluate_exact(left, right, positives, symmetric, layer=OutputLayer(9.0, -4.0), rescored=rescored)
    assert measured is not None and measured.pairs == len(rows)
    hit = label[order]
    wanted = (np.cumsum(hit) / np.arange(1, len(hit) + 1))[hit].mean()
    assert measured.estimates["average_precision"].value == pytest.approx(wanted, abs=1e-6)
    at = score >= 4 / 9
    assert measured.estimates["precision"].value == pytest.approx(label[at].mean())
    ranking = rank_all(left, right, symmetric, rescored=rescored)
    assert ranking.pairs == len(rows)
    assert ranking.rank(score[order[:60]] - 1e-4) == pytest.approx(np.arange(1, 61), abs=3)
    putative = find_putative(left, right, positives, 1.0, symmetric, rescored=rescored)
    assert len(putative.false) == ((score >= putative.threshold) & ~label).sum()


def test_places_of_some_rows_and_no_pairs_at_all() -> None:
    rescored = Rescored(Pairs(np.array([1, 3, 5]), np.array([4, 8, 6]), np.array([0.1, 0.2, 0.3], np.float32)), 10)
    within = rescored.within(np.array([1, 5]), np.array([4, 6, 9]))
    assert (within.pairs.left.tolist(), within.pairs.right.tolist()) == ([0, 1], [0, 1])
    replaced = rescored.replace(np.array([5, 5, 1]), np.array([6, 4, 4]), np.zeros(3, np.float32))
    assert replaced == pytest.approx([0.3, 0, 0.1])
    assert NOTHING.replace(np.array([5]), np.array([6]), np.array([0.5])) == [0.5]


def example(symmetric: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, Rescored, np.ndarray]:
    """Return vectors, positives, 30 pairs scored again, and the table of all scores, (N, N)."""
    rng = np.random.default_rng(int(symmetric))
    left, right = (rng.normal(size=(N, 8)) for _ in range(2))
    left, right = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (left, right))
    left, right = left.astype(np.float32), (left if symmetric else right).astype(np.float32)
    rows, columns = np.triu_indices(N, 1) if symmetric else np.indices((N, N)).reshape(2, -1)
    some = rng.choice(len(rows), 30, replace=False)
    again = Pairs(rows[some], columns[some], rng.uniform(0.3, 1, 30).astype(np.float32))
    table = left @ right.T
    table[again.left, again.right] = again.score
    positives = np.column_stack([rows, columns])[rng.choice(np.r_[some[:10], np.arange(len(rows))], 25, replace=False)]
    return left, right, np.unique(positives, axis=0), Rescored(again, N), table
