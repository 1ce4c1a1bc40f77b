"""The labelled pairs of an audit: weights, and the positives that each pair represents in each draw."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allpairs.learner.evaluation.audit.sample import Sample, draw_posterior
from tests.helpers.machine import examples


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """Draw strata of any size with at least one labelled pair each, with any weights."""
    labels = draw(st.lists(st.integers(1, 12), min_size=1, max_size=5))
    sizes = np.array(labels) + draw(st.lists(st.integers(0, 2_000), min_size=len(labels), max_size=len(labels)))
    n = sum(labels)
    positive = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    weight = np.array(draw(st.lists(st.floats(1, 100), min_size=n, max_size=n)))
    return Sample(np.repeat(np.arange(len(labels)), labels), positive, weight, sizes)


def make_sample(labels: list[int], positives: list[int], sizes: list[int]) -> Sample:
    """Return so many labelled pairs per stratum, the first of them positives, all with one inclusion probability."""
    stratum = np.repeat(np.arange(len(labels)), labels)
    positive = np.concatenate([np.arange(n) < k for n, k in zip(labels, positives, strict=True)])
    return Sample(stratum, positive, (np.array(sizes) / labels)[stratum], np.array(sizes))


@given(samples(), st.integers(0, 99))
@settings(max_examples=examples(50))
def test_the_pairs_of_a_stratum_share_its_positives(sample: Sample, seed: int) -> None:
    posterior = draw_posterior(sample, np.random.default_rng(seed), 20)
    held = np.array([posterior.mass[:, sample.stratum == h].sum(1) for h in range(len(sample.sizes))]).T
    assert held == pytest.approx(posterior.rates * sample.sizes)
    assert (posterior.mass[:, sample.positive] >= 1).all()  # each labelled positive stands for itself
    assert (posterior.mass >= 0).all()
    assert (held <= sample.sizes * (1 + 1e-9)).all()
    assert (held >= sample.positives * (1 - 1e-9)).all()


@given(samples(), st.floats(0.01, 100))
@settings(max_examples=examples(50))
def test_only_the_proportion_of_weights_matters(sample: Sample, times: float) -> None:
    scaled = Sample(sample.stratum, sample.positive, sample.weight * times, sample.sizes)
    for one, other in zip(sample.effective(), scaled.effective(), strict=True):
        assert one == pytest.approx(other)


@given(samples())
@settings(max_examples=examples(50))
def test_with_equal_weights_labels_count_as_they_are(sample: Sample) -> None:
    equal = Sample(sample.stratum, sample.positive, (3.0 + sample.stratum).astype(np.float64), sample.sizes)
    positives, labels = equal.effective()
    assert labels == pytest.approx(sample.labels)
    assert positives == pytest.approx(sample.positives)


def test_a_weight_is_equal_rows_in_share_but_fewer_in_width() -> None:
    weight = np.array([1, 1, 4, 2, 3])
    positive = np.array([True, False, True, False, False])
    found = Sample(np.zeros(5, dtype=np.int64), positive, weight.astype(np.float64), np.array([50])).effective()
    rows = np.repeat(positive, weight)
    assert found[0] / found[1] == pytest.approx(rows.mean())
    assert found[1] == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert found[1] < 5


def test_a_stratum_whose_pairs_are_all_labelled_is_known() -> None:
    sample = make_sample([12, 10], [7, 1], [12, 500])
    posterior = draw_posterior(sample, np.random.default_rng(0))
    known = sample.stratum == 0
    assert (posterior.mass[:, known] == sample.positive[known]).all()
    assert (posterior.rates[:, 0] == 7 / 12).all()
    assert posterior.rates[:, 1].std() > 0


def test_positives_of_one_weight_stand_for_equally_many() -> None:
    posterior = draw_posterior(make_sample([20], [4], [2_000]), np.random.default_rng(0), 4_000)
    mean = posterior.mass.mean(0)
    assert mean[:4] == pytest.approx(np.full(4, mean[:4].mean()), rel=0.05)
    assert 0.7 * mean.sum() < mean[:4].sum() < 0.8 * mean.sum()  # 1.5 positives in 5.5 lie anywhere


def test_positives_stand_for_others_by_their_weight() -> None:
    stratum, positive = np.zeros(200, dtype=np.int64), np.arange(200) < 80
    weight = np.where(np.arange(200) % 2 == 0, 3.0, 7.0)  # each stands for itself, and for 2 or 6 others
    posterior = draw_posterior(Sample(stratum, positive, weight, np.array([20_000])), np.random.default_rng(0))
    unseen = (posterior.mass - positive).mean(0)[:80]
    assert unseen[1::2].sum() / unseen[::2].sum() == pytest.approx(3, rel=0.08)


def test_where_no_positive_was_found_unseen_ones_lie_anywhere() -> None:
    posterior = draw_posterior(make_sample([30, 30], [20, 0], [128, 4_000]), np.random.default_rng(0), 4_000)
    deep = posterior.mass[:, 30:]
    assert deep.sum(1).max() > 0
    assert deep.mean(0) == pytest.approx(np.full(30, deep.mean()), rel=0.8)
    assert ((deep > 0.01).sum(1) < 15).mean() > 0.9  # in each draw with few of the pairs


@pytest.mark.parametrize("positives", [2, 4, 8])
def test_places_of_unseen_positives_vary_as_few_known_ones_allow(positives: int) -> None:
    """The mean place of the unseen ones varies about as the unbiased variance of the mean of the found ones says."""
    posterior = draw_posterior(make_sample([positives], [positives], [40_000]), np.random.default_rng(0), 4_000)
    unseen, places = posterior.mass - 1, np.arange(positives)
    spread = (unseen @ places / unseen.sum(1)).var() / (places.var(ddof=1) / positives)
    assert 0.55 < spread < 1.05
    assert positives == 2 or spread > 0.75


def test_the_same_seed_gives_the_same_draws() -> None:
    sample = make_sample([10, 10], [6, 1], [128, 256])
    once, again = (draw_posterior(sample, np.random.default_rng(3), 50) for _ in range(2))
    assert (once.mass == again.mass).all()
    assert (once.rates == again.rates).all()
