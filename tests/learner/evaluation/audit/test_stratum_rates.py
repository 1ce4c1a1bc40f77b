"""Shares of positives by stratum: the grid's posterior is that of the model in the docstring, simulated directly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allpairs.learner.evaluation.audit.stratum_rates import (
    FALLS,
    HIGHEST,
    KINDS,
    LEAST,
    SMOOTH,
    START,
    STEPS,
    SWITCH,
    draw_rates,
)
from tests.helpers.machine import examples

DOUBLING = np.array([128, 128, 256, 512, 1_024, 2_048])


def logit(rates: np.ndarray) -> np.ndarray:
    return np.log(rates / (1 - rates))


def drawn(
    positives: list[int], labels: list[int] | int, sizes: np.ndarray = DOUBLING, draws: int = 4_000
) -> np.ndarray:
    seen = np.broadcast_to(labels, len(positives)).astype(np.float64)
    return draw_rates(np.array(positives, dtype=np.float64), seen, sizes, draws, np.random.default_rng(0))


def test_what_similarity_tells_above_is_believed_below() -> None:
    """A deep divided band without labels: its positives are where those of the divided bands above it were found."""
    sizes, band = np.array([1_000, 100, 6_300, 400, 25_200, 1_600, 100_800]), np.array([0, 1, 1, 2, 2, 3, 3])
    shares = []
    for first, rest in ((30, 0), (1, 2)):
        positives, labels = np.array([50.0, first, rest, first / 2, rest, 0, 0]), np.array([60, 60, 60, 60, 60, 0, 0])
        found = draw_rates(positives, labels, sizes, 4_000, np.random.default_rng(0), band) * sizes
        shares.append(float((found[:, 5] / found[:, 5:].sum(1)).mean()))
    assert shares[0] > 0.5 > 2 * shares[1]


def test_a_divided_band_has_as_many_positives_as_its_share_says() -> None:
    """Labels of the whole band's pairs in their proportion tell the same as labels of an undivided band."""
    sizes = np.array([640, 640])
    undivided = draw_rates(np.array([32.0, 8]), np.array([64, 64]), sizes, 4_000, np.random.default_rng(0))
    parts, band = np.array([640, 10, 630]), np.array([0, 1, 1])
    divided = draw_rates(
        np.array([32.0, 0.125, 7.875]), np.array([64, 1, 63]), parts, 4_000, np.random.default_rng(0), band
    )
    whole = (divided * parts)[:, 1:].sum(1) / 640
    assert whole.mean() == pytest.approx(undivided[:, 1].mean(), rel=0.1)


def from_prior(sizes: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return log-odds (draws, h) from the model, without a grid."""
    bottom = np.log(LEAST / sizes.max())
    first = rng.normal(0, START, 3 * draws)
    path = [first[(first > bottom) & (first < HIGHEST)][:draws]]
    kind = rng.choice(len(FALLS), size=draws, p=KINDS)
    middle = np.cumsum(sizes) - sizes / 2
    for deeper in np.log2(middle[1:] / middle[:-1]):
        kind = (rng.random(draws)[:, None] > np.cumsum(SWITCH, axis=1)[kind]).sum(1)
        steps = np.linspace(*np.array(FALLS).T, STEPS)[rng.integers(STEPS, size=draws), kind]
        path.append(np.clip(path[-1] - deeper * steps + rng.normal(0, SMOOTH, draws), bottom, HIGHEST))
    return np.column_stack(path)


@pytest.mark.parametrize(
    ("positives", "labels", "sizes"),
    [
        ([12, 3], [20, 20], [128, 128]),
        ([10, 0], [20, 15], [128, 128]),
        ([9, 8, 1], [15, 15, 15], [128, 128, 256]),
        ([15, 6, 0], [30, 20, 40], [128, 128, 512]),
    ],
)
def test_the_posterior_is_that_of_weighting_draws_from_the_model(
    positives: list[int], labels: list[int], sizes: list[int]
) -> None:
    odds = from_prior(np.array(sizes), 400_000, np.random.default_rng(1))
    share = 1 / (1 + np.exp(-odds))
    k, n = np.array(positives), np.array(labels)
    weight = np.exp((k * np.log(share) + (n - k) * np.log1p(-share)).sum(1))
    weight /= weight.sum()
    assert 1 / (weight**2).sum() > 2_000  # effective draws: enough to compare with
    mean = weight @ odds
    deviation = np.sqrt(weight @ (odds - mean) ** 2)
    found = logit(drawn(positives, labels, np.array(sizes), 20_000))  # type: ignore[arg-type]
    assert found.mean(0) == pytest.approx(mean, abs=0.12)
    assert found.std(0) == pytest.approx(deviation, rel=0.1)
    correlation = (weight @ ((odds[:, 0] - mean[0]) * (odds[:, 1] - mean[1]))) / deviation[0] / deviation[1]
    assert np.corrcoef(found[:, 0], found[:, 1])[0, 1] == pytest.approx(correlation, abs=0.1)


def test_with_many_labels_a_share_is_that_of_the_labels() -> None:
    positives = [4_500, 3_500, 2_000, 800, 250, 50]
    found = drawn(positives, 5_000)
    assert found.mean(0) == pytest.approx(np.array(positives) / 5_000, rel=0.1, abs=0.01)


def test_without_positives_the_share_falls() -> None:
    low, middle, high = np.percentile(drawn([0] * 6, 15), (2.5, 50, 97.5), axis=0)
    for falling in (middle, high):
        assert (np.diff(falling) <= 0).all()
    assert high[0] < 0.25
    assert (low > 0).all()


def test_below_strata_with_positives_the_share_falls_on() -> None:
    middle = np.median(drawn([14, 9, 3, 0, 0, 0], 15), axis=0)
    assert (np.diff(middle) < 0).all()
    assert middle[-1] * DOUBLING[-1] < middle[:3] @ DOUBLING[:3]


def test_a_large_stratum_without_positives_does_not_dominate() -> None:
    """Half a pseudo-count in the last stratum would be 12,000 positives; there are about 150 above it."""
    sizes = np.r_[128 * 2 ** np.r_[0, np.arange(13)]]
    found = drawn([15, 10, 4, 1, *[0] * 10], 20, sizes) * sizes
    assert np.median(found[:, -1]) < 50
    assert np.percentile(found[:, -1], 97.5) > 0


def test_more_labels_are_a_narrower_interval() -> None:
    widths = []
    for times in (1, 4, 16, 64):
        found = drawn([12 * times, 6 * times, 2 * times, times], 15 * times, DOUBLING[:4])
        widths.append(np.subtract(*np.percentile(found, (97.5, 2.5), axis=0)))
    assert (np.diff(widths, axis=0) < 0).all()
    assert np.array(widths[0])[:2] / np.array(widths[-1])[:2] == pytest.approx(8, rel=0.5)  # the root of 64


def test_what_is_known_of_one_stratum_tells_of_its_neighbours() -> None:
    alone, beside = (drawn([3, above], [4, 400], DOUBLING[:2])[:, 0] for above in (40, 360))
    assert np.median(beside) > np.median(alone) + 0.1


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 10**6)), min_size=1, max_size=12),
    st.integers(0, 99),
)
@settings(max_examples=examples(40))
def test_draws_are_shares_and_follow_the_seed(strata: list[tuple[int, int, int]], seed: int) -> None:
    positives, negatives, more = np.array(strata).T
    labels = positives + negatives
    sizes = np.maximum(labels + more, 1)
    once, again = (draw_rates(positives, labels, sizes, 50, np.random.default_rng(seed)) for _ in range(2))
    assert once.shape == (50, len(sizes))
    assert ((once > 0) & (once < 1)).all()
    assert (once == again).all()
