"""Strata: their sizes are exact, grow downward and hold every pair; ties stay together; deep bands are divided."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from allpairs.learner.evaluation.audit import strata
from allpairs.learner.evaluation.audit.ranking import BINS, rank_all
from allpairs.learner.evaluation.audit.sides import Sides
from allpairs.learner.evaluation.audit.strata import Strata, band_ends, divide, least_top, rank_bands
from tests.helpers.figures.audits import all_pairs, make_sides, ranking_of, unit_vectors
from tests.helpers.machine import examples


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
def test_bands_hold_every_pair_of_small_corpora(bins: np.ndarray) -> None:
    ranking, scores = ranking_of(bins)
    bands = rank_bands(ranking)
    assert (np.diff(bands.edges) < 0).all()
    assert np.bincount(bands.place(scores)).tolist() == bands.sizes.tolist()
    assert (bands.sizes > 0).all()
    assert 1 <= bands.top <= len(bands.sizes)


@pytest.mark.parametrize("pairs", [20, 5_000, 60_000, 500_000, 3_000_000])
def test_bands_double_to_a_hundredth_and_then_grow_fourfold(pairs: int) -> None:
    bins = np.random.default_rng(pairs).integers(0, BINS, pairs)
    ranking, _ = ranking_of(bins)
    bands = rank_bands(ranking)
    most = int(ranking.counts.max())  # an edge lies where a bin ends
    goals, ends = np.array(list(band_ends(pairs))), np.cumsum(bands.sizes)
    assert ((goals <= ends) & (ends < goals + most)).all()
    assert bands.pairs == pairs == goals[-1]
    floor = least_top(pairs)
    assert floor <= bands.top_pairs < 2 * floor + most or bands.top_pairs == pairs
    times = goals[1:] / goals[:-1]
    assert set(times[: bands.top - 1]) <= {2.0} or bands.top == len(goals)
    assert set(times[bands.top - 1 : -1]) <= {2.0, 4.0}
    assert (times <= 6).all()


def with_texts(symmetric: bool, n: int = 300) -> Sides:
    """Return sides whose lexical similarity resembles their score."""
    sides = make_sides(symmetric, n, n - 40)
    lexical = [0.5 * side + 0.5 * unit_vectors(len(side), 7 + at) for at, side in enumerate((sides.left, sides.right))]
    left, right = (of / np.linalg.norm(of, axis=1, keepdims=True) for of in lexical)
    return replace(sides, lexical=(left, left if symmetric else right))


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strata, "WHOLE", 2_000)
    monkeypatch.setattr(strata, "SMALLEST_TOP", 1_000)


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("symmetric", [True, False])
def test_deep_bands_are_two_exact_strata_by_lexical_similarity(symmetric: bool) -> None:
    sides = with_texts(symmetric)
    bands = rank_bands(rank_all(sides.left, sides.right, symmetric))
    found = divide(bands, sides)
    rows, columns, scores = all_pairs(sides)
    similarity = sides.similarities(rows, columns)
    assert similarity is not None
    place = found.place(scores, similarity)
    # a similarity on a cut is rounded differently in blocks and one by one
    assert np.abs(np.bincount(place) - found.sizes).max() <= 3
    assert found.pairs == bands.pairs and found.top_pairs == pytest.approx(bands.top_pairs)
    deep = np.bincount(found.band) == 2
    assert (deep == (np.cumsum(bands.sizes) - bands.sizes >= 2_000)).all() and deep.any()
    for band in np.nonzero(deep)[0]:
        first, rest = np.nonzero(found.band == band)[0]
        assert found.sizes[first] / bands.sizes[band] == pytest.approx(1 / 64, rel=0.35)
        assert similarity[place == first].min() >= similarity[place == rest].max() - 1e-6
    assert np.array_equal(found.place(scores), np.searchsorted(found.band, bands.place(scores)))


@pytest.mark.usefixtures("divided")
def test_a_band_of_texts_without_terms_stays_whole() -> None:
    sides = with_texts(True)
    nothing = np.zeros_like(sides.left)
    bands = rank_bands(rank_all(sides.left, sides.right, True))
    found = divide(bands, replace(sides, lexical=(nothing, nothing)))
    assert not found.divided and np.array_equal(found.sizes, bands.sizes)
    assert divide(bands, replace(sides, lexical=None)) is bands


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
    bands = Strata(np.array([0.9, 0.5, 0.2]), np.full(3, np.nan), np.array([1, 1, 1]), 2)
    assert bands.place(np.array([0.95, 0.9, 0.89, 0.5, 0.2, 0.19])).tolist() == [0, 0, 1, 1, 2, 2]
