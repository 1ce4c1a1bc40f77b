"""The peer ActiveEval: its proposal and model by hand, its weights, its labels, and what it converges to."""

from functools import cache

import numpy as np
import pytest

from benchmarks.data.pools import FIGURES, Pool, simulated
from benchmarks.quality.activeeval_peer import EPSILON, LabelModel, Risk, Sampler, activeeval
from benchmarks.quality.oasis_peer import Draws, Strata
from benchmarks.quality.oasis_strata import calibrate, csf_strata

RANKS = np.array([1, 2, 4, 7, 8, 15, 30, 90, 400, 1_000])
POOL = Pool("small", 2_000, RANKS, np.ones(10))
TINY = Pool("tiny", 10, np.array([1, 4]), np.ones(2))  # calls the first two pairs


def sampler(seed: int, pool: Pool = POOL) -> Sampler:
    return Sampler(pool, csf_strata(calibrate(pool), 16), np.random.default_rng(seed))


@cache
def drawn(seed: int, labels: int) -> Draws:
    return sampler(seed).until(labels)


def test_the_proposal_is_the_expected_influence_of_a_label_on_f1() -> None:
    # two called pairs and eight others with these probabilities: 1 true positive expected, 1.8 positives
    chance, called = np.repeat([0.5, 0.1], [2, 8]), np.repeat([True, False], [2, 8])
    risk = Risk(1 / 10, (2 + 1.8) / 2 / 10)  # F = 1 / 1.9
    f = 1 / 1.9
    # a true positive moves F by (1 - F) / 0.19; a false one, or one that is missed, by F / 2 / 0.19
    true, wrong = (1 - f) / 0.19, f / 2 / 0.19
    assert risk.influence(called, chance > 0.3) == pytest.approx([true] * 2 + [0] * 8)
    assert risk.influence(called, chance < 0.3) == pytest.approx([-wrong] * 10)
    assert risk.density(chance, called, 0) == pytest.approx([(true + wrong) / 2] * 2 + [0.1 * wrong] * 8)
    assert risk.density(chance, called, 9.0) == pytest.approx([9.0] * 2 + [0.9] * 8)


def test_labelled_pairs_keep_their_label_in_the_proposal() -> None:
    here = Sampler(TINY, Strata(np.array([0, 2, 10]), np.array([0.5, 0.1])), np.random.default_rng(0))
    here.learn(np.array([1, 4, 9]))  # two positives and a negative that is not called
    high, low = here.model.chance
    true, positives = 1 + high, 2 + high + 6 * low
    below = (2 + positives) / 2
    right, wrong = (1 - true / below) / below, true / below / 2 / below
    each = np.array([high * right + (1 - high) * wrong, low * wrong, right, wrong, 0.0])
    assert [here.risk.true, here.risk.below] == pytest.approx([true / 10, below / 10])
    assert here.floor == pytest.approx(EPSILON * 0.7)
    with np.errstate(divide="ignore"):
        assert here.weight == pytest.approx((each * [1, 6, 1, 1, 1]).sum() / (10 * each))
    rank, _ = here.draw(2_000)
    assert set(rank.tolist()) == set(range(1, 11)) - {9}


def test_a_step_shares_unlabelled_pairs_and_smooths_branches() -> None:
    model = LabelModel(Strata(np.array([0, 2, 10]), np.array([0.5, 0.1])))
    assert model.chance == pytest.approx([0.5, 0.1])  # before any label: the scores
    posterior = model.step(np.array([[0, 1], [2, 0]]), np.array([1, 6]))
    # negatives, positives: seen, shares of the unlabelled, and the scores as one pseudo-observation of each stratum
    left, right = np.array([0 + 0.5 + 0.5, 1 + 0.5 + 0.5]), np.array([2 + 5.4 + 0.9, 0 + 0.6 + 0.1])
    label = (left + right) / 12
    go_left, go_right = (left + 1) / (left + right + 2), (right + 1) / (left + right + 2)
    joint = label * go_left, label * go_right
    assert model.chance == pytest.approx([part[1] / part.sum() for part in joint])
    logs = (left + right) * np.log(label) + (left + 1) * np.log(go_left) + (right + 1) * np.log(go_right)
    assert posterior == pytest.approx(logs.sum())


def test_lower_branches_are_smoothed_more_and_an_only_one_is_all() -> None:
    model = LabelModel(Strata(np.array([0, 500, 1_000, 1_500]), np.array([0.5, 0.4, 0.3])))
    seen = np.array([[100, 400], [250, 249], [480, 20], [0, 0]])  # the fourth leaf has no stratum
    model.step(seen, np.zeros(4))
    first, second, third = seen[:3] + np.array([[0.5, 0.5], [0.6, 0.4], [0.7, 0.3]])
    everything = first + second + third
    go_left = everything / 1_502 * (first + second + 1) / (everything + 2)
    joint = (
        go_left * (first + 4) / (first + second + 8),
        go_left * (second + 4) / (first + second + 8),
        everything / 1_502 * (third + 1) / (everything + 2),
    )
    assert model.chance == pytest.approx([part[1] / part.sum() for part in joint])
    model.fit(seen[:3], np.array([0, 1, 0]))
    assert model.chance == pytest.approx([0.8, 0.5, 0.04], abs=0.02)  # what was seen


def test_weights_average_to_one_and_stand_for_the_positives() -> None:
    here = sampler(0)
    _, weight = here.draw(100_000)
    assert weight.mean() == pytest.approx(1, abs=0.05)
    here.until(300)
    rank, weight = here.draw(100_000)
    out_of_reach = (~here.positive & (here.known > POOL.threshold)).sum()  # known not to matter
    assert weight.mean() == pytest.approx(1 - out_of_reach / POOL.pairs, abs=0.05)
    assert (weight * POOL.labels(rank)).mean() * POOL.pairs == pytest.approx(len(RANKS), abs=0.5)


def test_a_pair_that_is_drawn_again_is_no_further_label() -> None:
    draws = drawn(0, 300)
    distinct = [len(set(draws.rank[: i + 1].tolist())) for i in range(len(draws.rank))]
    assert draws.labels.tolist() == distinct
    assert distinct[-1] == 300 < len(distinct)
    assert np.array_equal(draws.positive, np.isin(draws.rank, RANKS))


def test_the_interval_is_normal_with_the_last_proposals_weights() -> None:
    here = Sampler(TINY, Strata(np.array([0, 2, 10]), np.array([0.5, 0.1])), np.random.default_rng(0))
    here.learn(np.array([1, 4, 9]))
    rank, weight = np.array([1, 4, 9, 4]), np.array([0.5, 2.0, 3.0, 1.5])
    here.rounds = [Draws(rank, TINY.labels(rank), weight, np.array([1, 2, 3, 3]))]
    below = (0.5 * 1 + 2.0 / 2 + 1.5 / 2) / 4
    f = 0.5 / 4 / below
    right, missed = ((1 - f) / below) ** 2, (f / 2 / below) ** 2
    of_1, of_4 = here.weight[2:4]  # two cells, then the labelled pairs
    half = 1.96 * np.sqrt((right * 0.5 * of_1 + missed * (2.0 + 1.5) * of_4) / 4 / 4)
    assert here.f_interval() == pytest.approx([f, f - half, f + half])


def test_sampling_ends_when_nothing_new_can_be_drawn() -> None:
    draws = sampler(0, TINY).until(50)
    assert draws.labels[-1] <= TINY.pairs
    assert set(TINY.positives.tolist()) <= set(draws.rank.tolist())


def test_f1_converges_to_the_truth_with_an_interval_that_narrows() -> None:
    widths, truth = [], POOL.truth()[FIGURES.index("f1")]
    for labels in (300, 1_500):
        answers = [activeeval(POOL, [labels], np.random.default_rng(seed))[0] for seed in range(3)]
        value, low, high = np.mean(answers, 0)[FIGURES.index("f1")]
        widths.append(high - low)
    assert value == pytest.approx(truth, abs=0.02)
    assert low < value < high
    assert widths[1] < widths[0] / 1.5


def test_the_method_answers_every_figure_on_100_million_pairs() -> None:
    pool = simulated("A")
    answers = activeeval(pool, [100, 300], np.random.default_rng(0))
    assert answers.shape == (2, len(FIGURES), 3)
    assert np.isfinite(answers[:, :, 0]).all()
    assert np.isfinite(answers[:, FIGURES.index("f1")]).all()
    assert np.isnan(np.delete(answers, FIGURES.index("f1"), axis=1)[..., 1:]).all()
