"""Rankings: the number of pairs that score at least as much, against counting one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from allpairs.db.errors import Cancelled
from allpairs.learner.evaluation.audit.ranking import BINS, Ranking, rank_all
from tests.helpers.figures.audits import WIDTH, all_pairs, make_sides, ranking_of, unit_vectors
from tests.helpers.machine import examples

bins_of_pairs = arrays(np.int64, st.integers(1, 80), elements=st.integers(0, 40) | st.integers(0, BINS - 1))


@given(symmetric=st.booleans(), n=st.integers(2, 40), m=st.integers(1, 30), seed=st.integers(0, 99))
@settings(max_examples=examples(30))
def test_a_rank_is_the_number_of_pairs_that_score_as_much(symmetric: bool, n: int, m: int, seed: int) -> None:
    sides = make_sides(symmetric, n, m, seed)
    scores = all_pairs(sides)[2]
    ranking = rank_all(sides.left, sides.right, symmetric)
    assert ranking.pairs == len(scores)
    # within a bin the rank is a proportion; in single precision the bins' edges are not sharp
    most, least = ((scores[:, None] >= scores + shift).sum(0) for shift in (-1.1 * WIDTH, 1.1 * WIDTH))
    ranks = ranking.rank(scores)
    assert (ranks <= most).all()
    assert (ranks >= np.maximum(least, 1)).all()


@given(bins_of_pairs)
def test_at_the_edges_of_bins_ranks_are_exact(bins: np.ndarray) -> None:
    ranking, scores = ranking_of(bins)
    edges = np.unique(scores) - WIDTH / 2
    expected = (scores[:, None] >= edges).sum(0)
    assert ranking.rank(edges) == pytest.approx(expected, abs=1e-6)


@given(bins_of_pairs, st.data())
def test_a_score_is_the_highest_that_so_many_pairs_reach(bins: np.ndarray, data: st.DataObject) -> None:
    ranking, scores = ranking_of(bins)
    wanted = data.draw(st.integers(1, len(bins)))
    found = float(ranking.score(np.array([wanted]))[0])
    assert (scores >= found).sum() >= wanted
    assert (scores >= found + WIDTH).sum() < wanted


@given(bins_of_pairs, arrays(np.float64, 20, elements=st.floats(-1.2, 1.2)))
def test_a_higher_score_has_no_deeper_rank(bins: np.ndarray, scores: np.ndarray) -> None:
    ranking, _ = ranking_of(bins)
    ranks = ranking.rank(np.sort(scores))
    assert (np.diff(ranks) <= 0).all()
    assert ranks.min() >= 1
    assert ranks.max() <= len(bins)


@given(bins_of_pairs, st.integers(1, 80), st.floats(-1.2, 1.2))
def test_a_histogram_counts_each_pair_once_from_its_first_edge(bins: np.ndarray, bars: int, lowest: float) -> None:
    ranking, scores = ranking_of(bins)
    edges, pairs = ranking.histogram(bars, lowest)
    assert (np.diff(edges) > 0).all()
    assert 1 <= len(pairs) == len(edges) - 1 <= bars
    assert pairs.tolist() == np.histogram(scores, edges)[0].tolist()
    assert pairs.sum() == (scores >= edges[0]).sum()
    if -1 < lowest < scores.max():
        assert lowest - WIDTH - 1e-12 <= edges[0] <= lowest + 1e-12


def test_a_list_against_itself_has_each_pair_once() -> None:
    vectors = unit_vectors(1_100)  # more than one block of rows
    ranking = rank_all(vectors, vectors, True)
    assert ranking.pairs == 1_100 * 1_099 // 2
    middle = np.median((vectors @ vectors.T)[np.triu_indices(1_100, 1)])
    assert ranking.rank(np.array([middle]))[0] == pytest.approx(ranking.pairs / 2, rel=1e-3)


def test_copies_count_though_rounding_exceeds_a_cosine_of_one() -> None:
    vectors = np.repeat(unit_vectors(1, d=384), 30, axis=0) * np.float32(1.0002)
    ranking = rank_all(vectors, vectors, True)
    assert ranking.pairs == 30 * 29 // 2
    assert ranking.rank(np.array([0.5]))[0] == ranking.pairs


def test_a_ranking_of_nothing_has_no_pairs() -> None:
    assert Ranking(np.zeros(BINS, dtype=np.int64)).pairs == 0


def test_a_cancelled_pass_stops() -> None:
    def cancel(stage: str, done: float) -> None:
        raise Cancelled(stage)

    with pytest.raises(Cancelled, match="rank"):
        rank_all(unit_vectors(5), unit_vectors(5), False, cancel)


@pytest.mark.parametrize("symmetric", [True, False])
def test_known_pairs_can_be_left_out(symmetric: bool) -> None:
    sides = make_sides(symmetric)
    rows, columns, scores = all_pairs(sides)
    known = np.arange(0, len(rows), 7)
    pairs = np.column_stack([rows[known], columns[known]])
    ranking = rank_all(sides.left, sides.right, symmetric, known=pairs)
    left = np.delete(scores, known)
    assert ranking.pairs == len(left)
    middle = float(np.median(left))
    assert ranking.rank(np.array([middle]))[0] == pytest.approx((left >= middle).sum(), abs=3)
