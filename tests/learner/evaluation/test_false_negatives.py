"""Manual correction: the paper's numbers, bias and coverage by simulation, and exactly the right pairs."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.errors import InputError
from allpairs.learner.evaluation import false_negatives
from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.evaluation.false_negatives import (
    Checked,
    compare,
    corrected_precision,
    find_putative,
    lowest,
    near,
)

NONE = Checked(0, 0, 0)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_papers_numbers() -> None:
    found = corrected_precision(551, [Checked(449, 50, 16), NONE], rng())
    assert found["uncorrected"].value == pytest.approx(0.551)
    assert found["paper"].value == pytest.approx(0.793171, abs=1e-6)
    assert found["consistent"].value == pytest.approx(0.85632)
    assert [one.method for one in found.values()] == ["exact", "correction (consistent)", "correction (paper)"]
    assert [one.labels for one in found.values()] == [0, 50, 50]


def test_the_papers_comparison() -> None:
    assert compare(Checked(449, 50, 36), Checked(9_000, 50, 16)) == pytest.approx(6.916e-5, abs=1e-8)
    assert compare(Checked(9, 5, 5), Checked(9, 3, 3)) == 1.0


def test_two_strata_are_weighted_by_their_sizes() -> None:
    found = corrected_precision(100, [Checked(300, 50, 25), Checked(100, 20, 18)], rng())
    assert found["consistent"].value == pytest.approx(1 - (150 + 90) / 500)
    assert found["paper"].value == pytest.approx(100 / (100 + 150 + 90))


def test_labelled_to_the_end_there_is_no_width() -> None:
    for one in corrected_precision(10, [Checked(30, 30, 12), Checked(5, 5, 5)], rng()).values():
        assert one.low == one.value == one.high
    assert corrected_precision(10, [NONE, NONE], rng())["consistent"].value == 1.0


def test_a_stratum_without_labels_says_nothing() -> None:
    found = corrected_precision(10, [Checked(20, 20, 0), Checked(970, 0, 0)], rng())["consistent"]
    assert found.low < 0.05 and found.high > 0.97


def test_a_sampled_stratum_has_a_width_where_all_labels_agree() -> None:
    found = corrected_precision(50, [Checked(50, 20, 20)], rng())["consistent"]
    assert found.value == 0.5 == found.low
    assert 0.51 < found.high < 0.6


def test_the_consistent_form_is_unbiased_and_its_interval_covers() -> None:
    sizes, real, true = (400, 3_000), (130, 2_700), 600
    truth = 1 - sum(real) / (true + sum(sizes))
    draw, values, covered = rng(1), [], 0
    for _ in range(600):
        hits = [int(draw.hypergeometric(good, size - good, 50)) for size, good in zip(sizes, real, strict=True)]
        found = corrected_precision(true, [Checked(size, 50, hit) for size, hit in zip(sizes, hits, strict=True)], draw)
        values.append((found["consistent"].value, found["paper"].value))
        covered += found["consistent"].low <= truth <= found["consistent"].high
    consistent, paper = np.mean(values, axis=0) - truth
    assert abs(consistent) < 0.004
    assert paper < -0.05
    assert 0.93 * 600 <= covered <= 0.99 * 600


@st.composite
def strata(draw: st.DrawFn) -> Checked:
    size = draw(st.integers(0, 10_000))
    labelled = draw(st.integers(0, min(size, 200)))
    return Checked(size, labelled, draw(st.integers(0, labelled)))


@given(st.integers(1, 1_000), st.lists(strata(), min_size=1, max_size=3))
def test_the_forms_are_ordered_and_lie_in_their_intervals(true: int, parts: list[Checked]) -> None:
    found = corrected_precision(true, parts, rng())
    assert found["uncorrected"].value <= found["paper"].value + 1e-12 <= found["consistent"].value + 2e-12
    for one in found.values():
        assert 0 <= one.low <= one.value <= one.high <= 1
        assert one.low >= found["uncorrected"].value - 1e-12


def unit_vectors(n: int, seed: int) -> np.ndarray:
    vectors = rng(seed).normal(size=(n, 6)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


LEFT, RIGHT = unit_vectors(40, 1), unit_vectors(25, 2)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("recall", [0.05, 0.2, 0.5, 0.95])
def test_every_putative_false_positive_is_found(symmetric: bool, recall: float) -> None:
    right = LEFT if symmetric else RIGHT
    every = np.array(list(combinations(range(40), 2) if symmetric else product(range(40), range(25))))
    positives = rng(3).choice(every, 20, replace=False)
    found = find_putative(LEFT, right, positives, recall, symmetric)
    scores = {(i, j): float(LEFT[i] @ right[j]) for i, j in map(tuple, every.tolist())}
    known = set(map(tuple, positives.tolist()))
    threshold = sorted((scores[pair] for pair in known), reverse=True)[round(recall * 20) - 1]
    assert found.threshold == pytest.approx(threshold, abs=1e-5)
    assert found.true == round(recall * 20)
    expected = {pair for pair, score in scores.items() if score >= threshold and pair not in known}
    assert set(zip(found.false.left.tolist(), found.false.right.tolist(), strict=True)) == expected
    measured = evaluate_exact(LEFT, right, positives, symmetric)
    assert measured is not None
    at = int(np.searchsorted(measured.curve.recall, recall - 1e-9))
    assert found.true / (found.true + len(found.false)) == pytest.approx(measured.curve.precision[at])


def test_pairs_that_tie_with_the_last_positive_count() -> None:
    vectors = np.repeat(np.eye(2, dtype=np.float32), 2, axis=0)  # rows 0 and 1 are alike, and so are rows 2 and 3
    found = find_putative(vectors, vectors, np.array([[0, 1]]), 0.5, symmetric=True)
    assert (found.true, list(zip(found.false.left, found.false.right, strict=True))) == (1, [(2, 3)])


def test_too_many_ask_for_a_lower_recall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(false_negatives, "MOST", 50)
    positives = np.array([[0, 1], [2, 3], [4, 5]])
    with pytest.raises(InputError, match=r"0\.95 more than 50"):
        find_putative(LEFT, LEFT, positives, 0.95, symmetric=True)


def test_near_pairs_are_neighbours_of_either_item(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(false_negatives, "NEAR", 3)
    pairs = find_putative(LEFT, LEFT, np.array([[0, 1]]), 1.0, symmetric=True).false
    scores = LEFT @ LEFT.T - 3 * np.eye(40)
    best = np.argsort(-scores, axis=1)[:, :3]
    expected = [j in best[i] or i in best[j] for i, j in zip(pairs.left, pairs.right, strict=True)]
    assert near(pairs, LEFT, LEFT, symmetric=True).tolist() == expected
    assert 0 < sum(expected) < len(expected)


@given(st.lists(st.tuples(st.integers(0, 1), st.floats(0, 1)), max_size=60), st.integers(0, 20), st.integers(0, 20))
def test_a_larger_draw_holds_the_smaller_one(rows: list[tuple[int, float]], n: int, more: int) -> None:
    stratum, numbers = np.array([row[0] for row in rows], dtype=np.int64), np.array([row[1] for row in rows])
    small, large = lowest(numbers, stratum, n), lowest(numbers, stratum, n + more)
    assert set(small) <= set(large)
    for which in (0, 1):
        inside = small[stratum[small] == which]
        assert len(inside) == min(n, int((stratum == which).sum()))
        others = np.setdiff1d(np.nonzero(stratum == which)[0], inside)
        assert not len(inside) or not len(others) or numbers[inside].max() <= numbers[others].min()
