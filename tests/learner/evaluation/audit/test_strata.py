"""Bands: their sizes are exact, double downward and hold every pair; ties stay together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from allpairs.learner.evaluation.audit.ranking import BINS, rank_all
from allpairs.learner.evaluation.audit.strata import SMALLEST_TOP, TOP, TOP_SHARE, Bands, rank_bands
from tests.helpers.examples import examples
from tests.helpers.projects.audited import all_pairs, make_sides, ranking_of, unit_vectors


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_sizes_are_those_of_counting(symmetric: bool, seed: int) -> None:
    sides = make_sides(symmetric, 300, 200, seed)
    bands = rank_bands(rank_all(sides.left, sides.right, symmetric))
    scores = all_pairs(sides)[2]
    place = bands.place(scores)
    assert bands.pairs == len(scores)
    assert np.bincount(place).tolist() == bands.sizes.tolist()
    assert scores[place == bands.top].max() < bands.edges[bands.top - 1]


@given(arrays(np.int64, st.integers(1, 3_000), elements=st.integers(0, 60) | st.integers(0, BINS - 1)))
@settings(max_examples=examples(60))
def test_bands_hold_every_pair_of_small_corpora_and_none_is_empty(bins: np.ndarray) -> None:
    ranking, scores = ranking_of(bins)
    bands = rank_bands(ranking)
    assert (np.diff(bands.edges) < 0).all()
    assert np.bincount(bands.place(scores)).tolist() == bands.sizes.tolist()
    assert (bands.sizes > 0).all()
    assert 1 <= bands.top <= len(bands.sizes)


@pytest.mark.parametrize("pairs", [5_000, 60_000, 500_000, 3_000_000])
def test_sizes_double_down_to_the_last_pair_and_the_top_is_one_hundredth(pairs: int) -> None:
    bins = np.random.default_rng(pairs).integers(0, BINS, pairs)
    ranking, _ = ranking_of(bins)
    bands = rank_bands(ranking)
    most = int(ranking.counts.max())  # an edge lies where a bin ends
    goals = np.minimum(TOP * 2 ** np.arange(len(bands.sizes)), pairs)
    ends = np.cumsum(bands.sizes)
    assert ((goals <= ends) & (ends < goals + most)).all()
    assert bands.pairs == pairs
    floor = max(SMALLEST_TOP, TOP_SHARE * pairs)
    assert floor <= bands.top_pairs < 2 * floor + most


def test_pairs_of_one_score_are_in_one_band() -> None:
    tied = np.repeat([3, 90], [1_000, 3_500])
    bands = rank_bands(ranking_of(np.r_[np.arange(3), tied, np.arange(100, 5_100)])[0])
    assert bands.sizes[0] == 1_003  # 128, 256 and 512 pairs are reached only with all of them
    place = bands.place(ranking_of(tied)[1])
    assert len(set(place[:1_000])) == len(set(place[1_000:])) == 1


def test_copies_of_one_text_are_one_band() -> None:
    vectors = np.repeat(unit_vectors(1), 60, axis=0)
    bands = rank_bands(rank_all(vectors, vectors, True))
    assert bands.sizes.tolist() == [60 * 59 // 2]


def test_a_score_on_an_edge_belongs_to_the_band_above_it() -> None:
    bands = Bands(np.array([0.9, 0.5, 0.2]), np.array([1, 1, 1]), 2)
    assert bands.place(np.array([0.95, 0.9, 0.89, 0.5, 0.2, 0.19])).tolist() == [0, 0, 1, 1, 2, 2]
