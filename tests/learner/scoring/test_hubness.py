"""The hubness correction: what is subtracted from a score, and that search and evaluation agree on it."""

import numpy as np
import pytest

from allpairs.db.domain import Side, Split
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.loop.round import evaluate_dataset
from allpairs.learner.scoring.hubness import NEIGHBOURS
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.inner_product import Space, as_left, as_right, scores

LEFT, RIGHT, D = 9, 14, 5


def unit(n: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(n, D)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def bipartite() -> Dataset:
    sides = [Side.LEFT] * LEFT + [Side.RIGHT] * RIGHT
    splits = [Split.TRAIN] * 4 + [Split.EVALUATION] * 5 + [Split.SHARED] * RIGHT
    return make_dataset([""] * (LEFT + RIGHT), sides, splits, False, np.array([(5, 9), (6, 12), (1, 10)]))


def one_list(n: int = 8) -> Dataset:
    return make_dataset(
        [""] * n, [Side.LEFT] * n, [Split.TRAIN] * 4 + [Split.EVALUATION] * (n - 4), True, np.array([(4, 5)])
    )


def expected(vectors: np.ndarray, own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the mean of the three highest cosines of each of `own` with `others`, by sorting."""
    values = []
    for row in own:
        values.append(np.sort([vectors[row] @ vectors[other] for other in others if other != row])[-NEIGHBOURS:].mean())
    return np.array(values)


def test_the_offset_is_the_weighted_mean_of_three_nearest_texts() -> None:
    vectors = unit(LEFT + RIGHT, 0)
    left, right = np.arange(LEFT), LEFT + np.arange(RIGHT)
    found = blended(bipartite(), vectors, Blend(0.25))
    assert found[:, :-1] == pytest.approx(vectors)
    assert found[left, -1] == pytest.approx(0.5 * expected(vectors, left, right), abs=1e-6)  # the shorter list
    assert found[right, -1] == pytest.approx(0.25 * expected(vectors, right, left), abs=1e-6)


def test_in_one_list_a_text_is_not_its_own_neighbour() -> None:
    vectors = unit(8, 1)
    found = blended(one_list(), vectors, Blend(0.5))
    assert found[:, -1] == pytest.approx(0.5 * expected(vectors, np.arange(8), np.arange(8)), abs=1e-6)


def test_texts_without_a_split_are_nobodys_neighbours() -> None:
    vectors, splits = unit(8, 2), [Split.TRAIN] * 6 + [""] * 2
    dataset = make_dataset([""] * 8, [Side.LEFT] * 8, splits, True, np.empty((0, 2)))
    found = blended(dataset, vectors, Blend(0.5))
    assert found[6:, -1].tolist() == [0, 0]
    assert found[:6, -1] == pytest.approx(0.5 * expected(vectors, np.arange(6), np.arange(6)), abs=1e-6)


def test_weight_zero_takes_nothing_off() -> None:
    vectors = unit(8, 3)
    found = blended(one_list(), vectors, Blend(0.0))
    assert (found[:, -1] == 0).all()
    rows, columns = np.array([0, 4]), np.array([3, 5])
    assert scores(found, rows, columns, Space(offset=True)) == pytest.approx((vectors[rows] * vectors[columns]).sum(1))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_texts_have_fewer_neighbours(n: int) -> None:
    vectors = unit(n, 4)
    dataset = make_dataset([""] * n, [Side.LEFT] * n, [Split.TRAIN] * n, True, np.empty((0, 2)))
    found = blended(dataset, vectors, Blend(0.5))[:, -1]
    wanted = 0.5 * expected(vectors, np.arange(n), np.arange(n)) if n > 1 else np.zeros(1)
    assert found == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("distance", ["cosine", "dot", "l2"])
def test_lifted_vectors_multiply_to_the_score(distance: str) -> None:
    vectors = unit(LEFT + RIGHT, 5) * (1.0 if distance == "cosine" else 3.0)
    space = Space(distance, offset=True)
    seen = blended(bipartite(), vectors, Blend(0.25), distance)
    rows, columns = np.repeat(np.arange(LEFT), RIGHT), LEFT + np.tile(np.arange(RIGHT), LEFT)
    product = as_left(seen[:LEFT], space) @ as_right(seen[LEFT:], space).T
    assert product.ravel() == pytest.approx(scores(seen, rows, columns, space), abs=1e-4)
    bare = scores(vectors, rows, columns, Space(distance)) - seen[rows, -1] - seen[columns, -1]
    assert product.ravel() == pytest.approx(bare, abs=1e-4)


def test_figures_are_those_of_the_lowered_scores() -> None:
    dataset, vectors = bipartite(), unit(LEFT + RIGHT, 6)
    space, seen = Space(offset=True), blended(bipartite(), unit(LEFT + RIGHT, 6), Blend(0.5))
    measured = evaluate_dataset(dataset, seen, space=space)
    sides = as_left(seen[4:9], space), as_right(seen[9:], space)
    again = evaluate_exact(*sides, dataset.evaluation_positives, False)
    plain = evaluate_dataset(dataset, vectors)
    assert measured is not None and again is not None and plain is not None
    assert measured.estimates["average_precision"] == again.estimates["average_precision"]
    assert measured.estimates["average_precision"] != plain.estimates["average_precision"]
