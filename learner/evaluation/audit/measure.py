"""One model's audit: figures with intervals, curve, strata, and the gain from more labels."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import beta

from allpairs.db.estimate import Estimate
from allpairs.learner.evaluation.audit.allocation import MOST, banded_average_precision, gain_of, labels_to_halve
from allpairs.learner.evaluation.audit.cells import audit_cells
from allpairs.learner.evaluation.audit.figures import (
    TAILS,
    PositivesByRank,
    as_estimate,
    audit_curve,
    figures,
    positives_by_rank,
)
from allpairs.learner.evaluation.audit.ranking import Ranking
from allpairs.learner.evaluation.audit.sample import Posterior, Sample
from allpairs.learner.evaluation.audit.verdicts import UNREAD, YES
from allpairs.learner.evaluation.exact import BARS, AllPairs
from allpairs.learner.metrics.confidence_sequence import ALPHA, stratified_lower

LEAST = 5  # labels that every stratum needs before there are figures
OF_SIZES = 0.005  # of the error of a bound: the part for how many pairs a machine rater would call positive
CHANGES = ("average_precision", "precision_at_recall_20")


@dataclass(frozen=True)
class View:
    """How one model scores the labelled pairs: its ranking of all pairs, the pairs' scores (n,), its threshold.

    known, known_negatives: (k,) the scores of known pairs, which need no audit.
    """

    ranking: Ranking
    scores: np.ndarray
    threshold: float | None
    known: np.ndarray = field(default_factory=lambda: np.empty(0))
    known_negatives: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def ranks(self) -> np.ndarray:
        return self.rank(self.scores)

    def rank(self, scores: np.ndarray) -> np.ndarray:
        """Return the number of pairs with at least each score: those that need no label any more are counted."""
        return self.ranking.rank(scores, np.r_[self.scores, self.known, self.known_negatives])

    def positives_by_rank(self, sample: Sample, posterior: Posterior) -> PositivesByRank:
        """Return the positives found by rank under the model."""
        known_ranks = self.rank(self.known), self.rank(self.known_negatives)
        return positives_by_rank(posterior, sample.positive, self.ranks, *known_ranks)

    @property
    def threshold_rank(self) -> float | None:
        """The number of pairs at or above the threshold."""
        return None if self.threshold is None else float(self.rank(np.array([self.threshold]))[0])


def labels_needed(labels: np.ndarray, sizes: np.ndarray) -> int:
    """Return how many labels are missing before there are figures: five in each stratum (or all its pairs)."""
    return int(np.maximum(np.minimum(LEAST, sizes) - labels, 0).sum())


def measure(sample: Sample, posterior: Posterior, view: View, rng: np.random.Generator) -> AllPairs:
    """Return the model's figures over all pairs."""
    by_rank = view.positives_by_rank(sample, posterior)
    labels = len(sample.positive)
    drawn = figures(by_rank, view.threshold_rank, rng)
    complete = by_rank.complete and round(float(by_rank.rank[-1])) == view.ranking.pairs
    estimates = {name: as_estimate(values, labels, complete) for name, values in drawn.items()}
    return AllPairs(view.ranking.pairs, None, estimates, audit_curve(by_rank, view.ranking, rng), histogram(view), [])


def histogram(view: View) -> dict[str, list[float] | int]:
    """Return all pairs by score, down to the lowest labelled one: edges, pairs, and the number below the first edge."""
    edges, pairs = view.ranking.histogram(BARS, float(view.scores.min()))
    return {"edges": edges.tolist(), "pairs": pairs.tolist(), "below": view.ranking.pairs - int(pairs.sum())}


def model_changes(
    sample: Sample, posterior: Posterior, before: View, after: View, rng: np.random.Generator, pairs: float = np.inf
) -> dict[str, Estimate]:
    """Return by how much two models differ, on the same draws of the same labels: `after` minus `before`.

    pairs: as in `measure_top`, for each of the two models.
    """
    seed = rng.integers(2**63)  # the same random draws for both
    old, new = (
        figures(view.positives_by_rank(sample, posterior).down_to(pairs), None, np.random.default_rng(seed))
        for view in (before, after)
    )
    return {name: as_estimate(new[name] - old[name], len(sample.positive)) for name in CHANGES}


def strata_table(sample: Sample, posterior: Posterior | None) -> list[dict[str, Any]]:
    """Return each stratum's size, sampled, positives, weight, and share of positives with its interval."""
    rows: list[dict[str, Any]] = [
        {"size": int(size), "sampled": int(labels), "positives": int(positives)}
        | {"weight": float(size / labels) if labels else None}
        for size, labels, positives in zip(sample.sizes, sample.labels, sample.positives, strict=True)
    ]
    if posterior is None:
        return rows
    low, rate, high = np.percentile(posterior.rates, (TAILS[0], 50, TAILS[1]), axis=0).tolist()
    return [row | {"rate": rate[h], "rate_low": low[h], "rate_high": high[h]} for h, row in enumerate(rows)]


def measure_top(
    sample: Sample, posterior: Posterior, view: View, pairs: int, rng: np.random.Generator
) -> dict[str, Estimate]:
    """Return the model's figures over its `pairs` highest pairs alone, as if there were no others."""
    by_rank = view.positives_by_rank(sample, posterior).down_to(pairs)
    return {name: as_estimate(drawn, len(sample.positive)) for name, drawn in figures(by_rank, None, rng).items()}


def reached(sample: Sample, view: View, target: float, top: int) -> dict[str, Any] | None:
    """Return whether precision at the threshold reaches the target, by a bound that holds however often one looks.

    top: the strata that count; what lies in the others is left out, which makes the bound no higher.
    """
    above = view.threshold_rank
    if view.threshold is None or above is None or above < 1:
        return None
    # In each stratum: the pairs that are positive and above the threshold, among all of the stratum's pairs.
    sizes, positives, labels, alpha = bounded(sample, sample.positive & (view.scores >= view.threshold), top)
    share = stratified_lower(sizes, positives, labels, alpha)
    listed = int((view.known >= view.threshold).sum())
    low = min(1.0, (share * float(sizes.sum()) + listed) / above)
    return {"target": target, "precision_low": low, "reached": low >= target}


def bounded(sample: Sample, positive: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return sizes, positives and labelled pairs of the `top` strata, or of each verdict in them, and the error left.

    positive: (n,) bool. How many pairs a verdict has is known by those that were read: the size is a lower bound of it.
    """
    verdicts = sample.verdicts
    if verdicts is None:
        strata = sample.stratum[positive]
        return sample.sizes[:top], np.bincount(strata[strata < top], minlength=top), sample.labels[:top], ALPHA
    split = verdicts.read > 0
    part = OF_SIZES / (2 * top)
    exact = verdicts.read >= sample.sizes
    yes = np.where(exact, verdicts.called / sample.sizes, lower_share(verdicts.called, verdicts.read, part))
    no = np.where(
        exact, 1 - verdicts.called / sample.sizes, lower_share(verdicts.read - verdicts.called, verdicts.read, part)
    )
    sizes = np.column_stack([np.where(split, no, 1.0), np.where(split, yes, 0.0)]) * sample.sizes[:, None]
    counted = ~split[sample.stratum] | (verdicts.verdict != UNREAD)
    cells = 2 * sample.stratum + (verdicts.verdict == YES)
    positives, labels = (
        np.bincount(cells[chosen], minlength=2 * len(split))[: 2 * top] for chosen in (positive & counted, counted)
    )
    return sizes.ravel()[: 2 * top], positives, labels, ALPHA - OF_SIZES


def lower_share(k: np.ndarray, n: np.ndarray, alpha: float) -> np.ndarray:
    """Return the lower bound of a share (Clopper and Pearson 1934), 0 where k is 0."""
    return np.where(k > 0, beta.ppf(alpha, np.maximum(k, 1), n - k + 1), 0.0)


def label_advice(sample: Sample, posterior: Posterior, top: int) -> dict[str, Any]:
    """Return what more labels would do for AP under the model that made the strata.

    halve: about how many would halve its interval, None if very many would not; below: the share of its variance that
    the strata below the `top` ones cause, as far as labels can tell, None if there are none below.
    """
    cells = audit_cells(sample)
    rates = posterior.rates if posterior.cells is None else posterior.cells
    strata = cells.sizes, cells.band, cells.known
    gain = gain_of(rates, *strata)
    available = np.maximum(cells.sizes - cells.labels, 0).astype(np.int64)
    variance = float(banded_average_precision(rates, *strata).var())
    explained = gain.of(np.full(len(cells.sizes), MOST))
    from_below = explained[top * len(cells.sizes) // len(sample.sizes) :]
    below = float(from_below.sum() / max(float(explained.sum()), 1e-300))
    halve = labels_to_halve(cells.labels, available, gain, variance)
    return {"halve": halve, "below": below if len(from_below) else None}
