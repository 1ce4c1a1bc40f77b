"""The precision of a ranked list from a sample in bands of ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.estimate import wilson
from allpairs.learner.light.stats.precision_by_rank import Band, allocate_labels, precision, ranks


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (0, []),
        (1, [(1, 1)]),
        (100, [(1, 100)]),
        (101, [(1, 100), (101, 101)]),
        (500, [(1, 100), (101, 250), (251, 500)]),
        (1_200, [(1, 100), (101, 250), (251, 500), (501, 1_000), (1_001, 1_200)]),
    ],
)
def test_bands_grow_with_the_rank(pairs: int, expected: list[tuple[int, int]]) -> None:
    assert ranks(pairs) == expected


@given(st.integers(0, 200), st.lists(st.integers(0, 60), min_size=1, max_size=6))
def test_a_draw_is_shared_equally_as_far_as_pairs_are_left(wanted: int, left: list[int]) -> None:
    counts = allocate_labels(wanted, left)
    assert sum(counts) == min(wanted, sum(left))
    assert all(count <= most for count, most in zip(counts, left, strict=True))
    short = [count for count, most in zip(counts, left, strict=True) if count < most]
    assert not short or (max(short) - min(short) <= 1 and max(counts) - min(short) <= 1)


def test_few_labels_of_a_long_band_have_wilsons_interval() -> None:
    found = Band(1, 1_000_000, drawn=20, positives=15, negatives=5, unsure=3).precision
    assert found is not None and (found.value, found.labels) == (0.75, 20)
    assert (found.low, found.high) == pytest.approx(wilson(15, 20), abs=1e-4)


def test_a_band_that_is_labelled_whole_leaves_no_doubt() -> None:
    found = Band(1, 10, drawn=10, positives=9, negatives=1).precision
    assert found is not None and (found.value, found.low, found.high) == (0.9, 0.9, 0.9)
    assert Band(1, 10, drawn=5, unsure=5).precision is None


def test_the_whole_weighs_bands_by_their_size() -> None:
    found = precision([Band(1, 100, 10, 10, 0), Band(101, 400, 10, 5, 5)])
    assert found is not None and found.value == pytest.approx((100 * 1.0 + 300 * 0.5) / 400)
    assert found.low < found.value < found.high
    assert precision([Band(1, 100, 10, 10, 0), Band(101, 400)]) is None
    assert precision([]) is None


@pytest.mark.parametrize("rates", [(0.97, 0.8, 0.5), (1.0, 0.95, 0.9), (0.6, 0.3, 0.05)])
def test_the_interval_holds_the_truth_as_often_as_it_says(rates: tuple[float, ...]) -> None:
    rng = np.random.default_rng(0)
    bounds, trials, hits = ranks(500), 400, 0
    lists = [rng.random(last - first + 1) < rate for (first, last), rate in zip(bounds, rates, strict=True)]
    truth = np.concatenate(lists).mean()
    for _ in range(trials):
        seen = [int(rng.choice(right, 15, replace=False).sum()) for right in lists]
        found = precision([Band(*at, 15, n, 15 - n) for at, n in zip(bounds, seen, strict=True)])
        assert found is not None
        hits += found.low <= truth <= found.high
    assert hits / trials >= 0.93
