"""Audits that a machine rater helps: simulated raters, good, useless and worse in some bands; no verdict is truth."""

import numpy as np
import pytest
from scipy.stats import binom

from allpairs.learner.evaluation.audit.figures import TAILS, figures, positives_by_rank
from allpairs.learner.evaluation.audit.measure import bounded
from allpairs.learner.evaluation.audit.sample import Sample, draw_posterior
from allpairs.learner.evaluation.audit.stratum_rates import START
from allpairs.learner.evaluation.audit.verdict_rates import draw_shares
from allpairs.learner.evaluation.audit.verdicts import NO, UNREAD, YES, Verdicts, cell_sizes
from allpairs.learner.metrics.confidence_sequence import stratified_lower
from tests.helpers.figures.audits import Pool, normal_pool

READ, RUNS, DRAWS = 600, 24, 300
NAMES = ("average_precision", "recall")
Counts = tuple[np.ndarray, np.ndarray]
Sensitivity = float | tuple[float, float]  # of all strata, or of the first ten and the others


def rate(pool: Pool, sensitivity: Sensitivity, specificity: float, labels: int, rng: np.random.Generator) -> tuple[
    Sample, np.ndarray
]:  # fmt: skip
    """Return a sample with so many labels of each stratum, half of each verdict where there are enough, and ranks."""
    read, every_rank = pool.draw(np.full(len(pool.sizes), READ), rng)
    first, rest = sensitivity if isinstance(sensitivity, tuple) else (sensitivity, sensitivity)
    chance = np.where(read.positive, np.where(read.stratum < 10, first, rest), 1 - specificity)
    said = (rng.random(len(chance)) < chance).astype(np.int64)
    h = len(pool.sizes)
    of_stratum, called = (np.bincount(read.stratum, one, h).astype(np.int64) for one in (None, said))
    kept = []
    for stratum in range(h):
        cells = [np.flatnonzero((read.stratum == stratum) & (said == verdict)) for verdict in (NO, YES)]
        yes = min(len(cells[YES]), max(labels // 2, labels - len(cells[NO])))
        kept += [cells[NO][: labels - yes], cells[YES][:yes]]
    at = np.concatenate(kept)
    cell = 2 * read.stratum[at] + said[at]
    pairs = cell_sizes(pool.sizes, of_stratum, called)
    weight = np.maximum((pairs / np.maximum(np.bincount(cell, minlength=2 * h), 1))[cell], 1.0)
    verdicts = Verdicts(said[at], of_stratum, called)
    return Sample(read.stratum[at], read.positive[at], weight, pool.sizes, verdicts=verdicts), every_rank[at]


def measured(sample: Sample, ranks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return (3, 2) the intervals' ends of the figures."""
    found = positives_by_rank(draw_posterior(sample, rng, DRAWS, ranks[:, None]), sample.positive, ranks)
    drawn = figures(found, 1_000.0, rng)
    return np.array([np.percentile(drawn[name], TAILS) for name in NAMES])


def audits(sensitivity: Sensitivity | None, specificity: float, runs: int = RUNS) -> tuple[np.ndarray, np.ndarray]:
    """Return how many of the runs' intervals hold the truth, (3,), and their mean width; without a rater: None."""
    rng = np.random.default_rng(5)
    held, width = np.zeros(len(NAMES)), np.zeros(len(NAMES))
    for _ in range(runs):
        pool = normal_pool(4.55, 1.0, rng)
        if sensitivity is None:
            sample, ranks = pool.draw(np.full(len(pool.sizes), 20), rng)
        else:
            sample, ranks = rate(pool, sensitivity, specificity, 20, rng)
        low, high = measured(sample, ranks, rng).T
        truth = np.array([pool.truth(1_000)[name] for name in NAMES])
        held += (low <= truth) & (truth <= high)
        width += (high - low) / runs
    return held, width


@pytest.fixture(scope="module")
def alone() -> np.ndarray:
    return audits(None, 0.0)[1]


def test_a_good_rater_makes_intervals_narrower_and_they_hold(alone: np.ndarray) -> None:
    held, width = audits(0.95, 0.99)
    assert (held >= binom.ppf(0.002, RUNS, 0.93)).all()
    assert (width < 0.9 * alone).all()


def test_a_useless_rater_neither_widens_nor_breaks_intervals(alone: np.ndarray) -> None:
    held, width = audits(0.5, 0.5)
    assert (held >= binom.ppf(0.002, RUNS, 0.93)).all()
    assert (width < 1.1 * alone).all()


@pytest.mark.parametrize("sensitivity", [(0.95, 0.3), 0.05])
def test_a_rater_that_misses_matches_breaks_nothing(sensitivity: Sensitivity) -> None:
    held, _ = audits(sensitivity, 0.98)
    assert (held >= binom.ppf(0.002, RUNS, 0.93)).all()


def counted(read: int, called: int, labels: list[int], positives: list[int]) -> tuple[Verdicts, Counts]:
    """Return a stratum's verdicts and counts: labels and positives of no, yes, and pairs that were not read."""
    counts = np.array([labels], dtype=np.float64), np.array([positives], dtype=np.float64)
    return Verdicts(np.empty(0, dtype=np.int64), np.array([read]), np.array([called])), counts


@pytest.mark.parametrize(
    ("labels", "positives"), [([40, 40, 0], [2, 30, 0]), ([15, 15, 20], [0, 5, 3]), ([80, 10, 0], [1, 10, 0])]
)
def test_the_posterior_of_a_stratum_is_that_of_the_model(labels: list[int], positives: list[int]) -> None:
    """Weighted draws from the prior, without a grid, have the same mean and deviation."""
    rng, n = np.random.default_rng(0), 1_000_000
    rate, sensitivity = (1 / (1 + np.exp(-one)) for one in (rng.normal(0, START, n), rng.uniform(-3.5, 5.0, n)))
    false = rng.random(n)
    cells = np.array([rate * (1 - sensitivity), rate * sensitivity, (1 - rate) * (1 - false), (1 - rate) * false])
    called = cells[1] + cells[3]
    k, m = np.array(positives), np.array(labels) - np.array(positives)
    with np.errstate(divide="ignore"):
        seen = np.log([cells[0], cells[1], rate, cells[2], cells[3], 1 - rate])
        seen = np.r_[k, m] @ seen + (100 - labels[YES]) * np.log(called) + (900 - labels[NO]) * np.log1p(-called)
    weight = np.exp(seen - seen.max())
    mean = np.average(rate, weights=weight)
    spread = np.average((rate - mean) ** 2, weights=weight) ** 0.5
    drawn = draw_shares(*counted(1_000, 100, labels, positives), np.array([10**6]), 4_000, rng).positive[:, 0]
    assert drawn.mean() == pytest.approx(mean, rel=0.08)
    assert drawn.std() == pytest.approx(spread, rel=0.15)


def test_pairs_the_rater_has_not_read_stand_for_their_stratum() -> None:
    """A stratum with a label without a verdict is not split by verdict, and every pair in it is stood for."""
    said = np.array([NO] * 10 + [YES] * 10 + [UNREAD] * 5)
    stratum, positive = np.zeros(25, dtype=np.int64), said == YES
    weight = np.array([90.0] * 10 + [10.0] * 10 + [40.0] * 5)
    verdicts = Verdicts(said, np.array([100]), np.array([10]))
    sample = Sample(stratum, positive, weight, np.array([1_200]), verdicts=verdicts)
    posterior = draw_posterior(sample, np.random.default_rng(0), 200)
    assert posterior.pairs.sum(1) == pytest.approx(np.full(200, 1_200))
    assert posterior.mass.sum(1) == pytest.approx(posterior.rates[:, 0] * 1_200)


@pytest.mark.parametrize("sensitivity", [0.95, 0.5])
def test_the_precision_bound_holds_for_draws_by_verdict(sensitivity: float) -> None:
    """Plain counts would not: most labelled pairs are those that the rater calls a match."""
    rng, top, held = np.random.default_rng(3), 8, 0
    for _ in range(40):
        pool = normal_pool(4.55, 1.0, rng)
        sample, _ = rate(pool, sensitivity, 0.95, 40, rng)
        sizes, positives, labels, alpha = bounded(sample, sample.positive, top)
        least = stratified_lower(sizes, positives, labels, alpha) * sizes.sum()
        truth = (pool.positives <= pool.sizes[:top].sum()).sum()
        assert least > 0.1 * truth
        held += least <= truth
    assert held >= 38
