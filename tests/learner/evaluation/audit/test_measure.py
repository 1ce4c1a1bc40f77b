"""What audit labels say about a model besides its figures: what is missing, strata, bounds, differences."""

import numpy as np
import pytest

from allpairs.learner.evaluation.audit.measure import (  # fmt: skip
    View,
    histogram,
    label_advice,
    labels_needed,
    measure,
    measure_top,
    model_changes,
    reached,
    strata_table,
)
from allpairs.learner.evaluation.audit.ranking import rank_all
from allpairs.learner.evaluation.audit.sample import Sample, draw_posterior
from allpairs.learner.metrics.average_precision import curve_from_scores, precision_at_recall
from tests.helpers.figures.audits import Pool, all_pairs, make_sides


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def labelled(seed: int = 0, noise: float = 0.0) -> tuple[View, np.ndarray, np.ndarray]:
    """Return 1,770 pairs, best first: a model's view, the positives, and their order; noise: another model's."""
    sides = make_sides(True, 60, seed=seed)
    *_, scores = all_pairs(sides)
    order = np.argsort(-scores)
    positive = rng(seed).random(len(scores)) < 1 / (1 + np.exp(-9 * (scores - 0.7)))
    vectors = sides.left + noise * rng(seed + 7).standard_normal(sides.left.shape).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows, columns, _ = all_pairs(sides)
    seen = np.einsum("nd,nd->n", vectors[rows], vectors[columns])
    return View(rank_all(vectors, vectors, True), seen[order], 0.75), positive[order], order


def sampled(positive: np.ndarray, labels: list[int], seed: int = 0) -> tuple[Sample, np.ndarray]:
    """Sample so many pairs of each of the highest 128, 128, 256 and 512; return the positions of the labelled pairs."""
    sizes = np.array([128, 128, 256, 512])
    pool = Pool(sizes, 1 + np.nonzero(positive[:1_024])[0])
    sample, ranks = pool.draw(np.array(labels), rng(seed))
    return sample, ranks.astype(np.int64) - 1


def seen_by(view: View, at: np.ndarray) -> View:
    return View(view.ranking, view.scores[at], view.threshold)


@pytest.mark.parametrize(
    ("labels", "sizes", "needed"),
    [([0, 0], [128, 4_096], 10), ([5, 5], [128, 128], 0), ([9, 2, 4], [128, 128, 256], 4), ([3, 0], [3, 2], 2)],
)
def test_five_labels_of_each_stratum_are_needed(labels: list[int], sizes: list[int], needed: int) -> None:
    assert labels_needed(np.array(labels), np.array(sizes)) == needed


def test_the_histogram_reaches_down_to_the_lowest_labelled_pair() -> None:
    view, positive, _ = labelled()
    _, at = sampled(positive, [10, 10, 10, 10])
    found = histogram(seen_by(view, at))
    edges, pairs = found["edges"], found["pairs"]
    assert isinstance(edges, list) and isinstance(pairs, list)
    assert edges[0] <= view.scores[at].min() < edges[0] + 1e-3
    assert len(pairs) == len(edges) - 1 <= 60
    assert sum(pairs) + found["below"] == view.ranking.pairs == 1_770


@pytest.mark.parametrize("above", [300, 8])
def test_a_population_that_is_labelled_wholly_is_known(above: int) -> None:
    """There may be few pairs above the threshold or a fifth of the positives: all are known."""
    view, positive, _ = labelled()
    view = View(view.ranking, view.scores, float(view.scores[above - 1 : above + 1].mean()))
    sizes = np.array([128, 128, 256, 1_258])
    sample = Sample(np.repeat(np.arange(4), sizes), positive, np.ones(1_770), sizes)
    found = measure(sample, draw_posterior(sample, rng(), 100), view, rng()).estimates
    expected = {
        "precision": positive[:above].mean(),
        "recall": positive[:above].sum() / positive.sum(),
        "positives": positive.sum(),
        "precision_at_recall_20": precision_at_recall(curve_from_scores(view.scores, positive), 0.2),
    }
    for name, value in expected.items():
        assert found[name].low == pytest.approx(found[name].high), name
        assert found[name].value == pytest.approx(value, abs=0.02), name


def test_a_model_does_not_differ_from_itself() -> None:
    view, positive, _ = labelled()
    sample, at = sampled(positive, [15, 15, 15, 15])
    view = seen_by(view, at)
    for name, found in model_changes(sample, draw_posterior(sample, rng(), 300), view, view, rng()).items():
        assert (found.low, found.value, found.high) == pytest.approx((0, 0, 0)), name


def test_a_noisier_model_is_worse() -> None:
    (view, positive, order), (noisy, _, other) = labelled(), labelled(noise=0.25)
    assert (order == other).all()
    sample, at = sampled(positive, [60, 60, 60, 60])
    posterior = draw_posterior(sample, rng(), 400)
    found = model_changes(sample, posterior, seen_by(view, at), seen_by(noisy, at), rng())
    back = model_changes(sample, posterior, seen_by(noisy, at), seen_by(view, at), rng())
    assert found.keys() == {"average_precision", "precision_at_recall_20"}
    assert found["average_precision"].high < 0 < back["average_precision"].low
    assert back["average_precision"].value == pytest.approx(-found["average_precision"].value)


def test_the_table_of_strata_counts_and_bounds() -> None:
    sample, _ = sampled(labelled()[1], [20, 15, 10, 512])
    bare = strata_table(sample, None)
    assert [row["size"] for row in bare] == [128, 128, 256, 512]
    assert [row["sampled"] for row in bare] == [20, 15, 10, 512]
    assert [row["weight"] for row in bare] == [128 / 20, 128 / 15, 256 / 10, 1]
    assert [row["positives"] for row in bare] == sample.positives.tolist()
    assert not any("rate" in row for row in bare)
    rows = strata_table(sample, draw_posterior(sample, rng(), 200))
    assert all(row["rate_low"] < row["rate"] < row["rate_high"] for row in rows[:3])
    assert rows[3]["rate_low"] == rows[3]["rate_high"] == rows[3]["positives"] / 512


def test_a_stratum_without_labels_has_no_weight() -> None:
    sample = Sample(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool), np.zeros(0), np.array([128, 256]))
    assert [row["weight"] for row in strata_table(sample, None)] == [None, None]


def test_a_target_is_reached_where_the_bound_is_above_it() -> None:
    view, _, _ = labelled()
    positive = view.scores >= 0.6
    at = np.arange(len(positive))
    sample = Sample(np.zeros(len(at), dtype=np.int64), positive, np.ones(len(at)), np.array([len(at)]))
    found = reached(sample, view, 0.8, 1)
    assert found is not None
    assert found["target"] == 0.8
    assert found["reached"]
    assert 0.8 < found["precision_low"] <= 1
    few, there = sampled(positive, [15, 15, 15, 15])
    hardly = reached(few, seen_by(view, there), 0.8, 4)
    assert hardly is not None
    assert hardly["reached"] == (hardly["precision_low"] >= 0.8)
    assert 0 < hardly["precision_low"] < found["precision_low"]


def test_the_bound_on_precision_holds_however_often_one_looks() -> None:
    """Label after label, with a target just above the truth: hardly any run ever announces it."""
    view, positive, _ = labelled()
    above = view.scores >= 0.75
    truth = positive[above].mean()
    announced = 0
    for seed in range(60):
        sample, at = sampled(positive, [60, 60, 60, 60], seed)
        order = rng(seed).permutation(len(at))
        for labels in range(20, len(order), 20):
            now = order[:labels]
            part = Sample(sample.stratum[now], sample.positive[now], sample.weight[now], sample.sizes)
            found = reached(part, seen_by(view, at[now]), truth + 1e-6, 4)
            assert found is not None
            if found["reached"]:
                announced += 1
                break
    assert announced <= 6  # 5 % of the runs, and what 60 of them may show more


@pytest.mark.parametrize("threshold", [None, 0.9999])
def test_without_pairs_above_a_threshold_nothing_is_reached(threshold: float | None) -> None:
    view, positive, _ = labelled()
    sample, at = sampled(positive, [10, 10, 10, 10])
    above = View(view.ranking, view.scores[at], threshold)
    found = reached(sample, above, 0.8, 4)
    assert found is None or found["precision_low"] == 0


def test_it_says_how_many_labels_would_halve_the_interval() -> None:
    sample, _ = sampled(labelled()[1], [15, 15, 15, 15])
    posterior = draw_posterior(sample, rng(), 400)
    found = [label_advice(sample, posterior, top) for top in range(5)]
    assert found[0]["halve"] is not None and 60 < found[0]["halve"] < 1_000
    *shares, last = [one["below"] for one in found]
    assert shares[0] == 1 and shares[-1] > 0 and shares == sorted(shares, reverse=True)
    assert last is None  # nothing lies below


def test_figures_of_the_highest_pairs_leave_out_the_rest() -> None:
    view, positive, _ = labelled()
    sample, at = sampled(positive, [128, 128, 256, 512])
    posterior = draw_posterior(sample, rng(), 50)
    found = measure_top(sample, posterior, seen_by(view, at), 256, rng())
    among = positive[:256]
    assert found["positives"].value == pytest.approx(among.sum(), abs=3)  # ranks are interpolated within a bin
    precision = np.cumsum(among)[among] / (np.nonzero(among)[0] + 1)
    assert found["average_precision"].value == pytest.approx(precision.mean(), abs=0.02)
    whole = measure_top(sample, posterior, seen_by(view, at), 10**6, rng())
    assert whole["average_precision"].value < found["average_precision"].value
