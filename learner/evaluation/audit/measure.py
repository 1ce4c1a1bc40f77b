"""One model's audit: figures with intervals, curve, strata, and the gain from more labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta

from allpairs.db.estimate import Estimate
from allpairs.learner.evaluation.audit.allocation import importance, labels_to_halve
from allpairs.learner.evaluation.audit.figures import as_estimate, curve, figures, found_by
from allpairs.learner.evaluation.audit.ranking import Ranking
from allpairs.learner.evaluation.audit.sample import Posterior, Sample
from allpairs.learner.evaluation.exact import BARS, AllPairs
from allpairs.learner.metrics.confidence_sequence import stratified_lower

LEAST = 5  # labels that every stratum of the sampled ranks needs before there are figures
CHANGES = ("average_precision", "precision_at_recall_20")


@dataclass(frozen=True)
class View:
    """How one model scores the labelled pairs: its ranking of all pairs, the pairs' scores (n,), its threshold."""

    ranking: Ranking
    scores: np.ndarray
    threshold: float | None

    @property
    def ranks(self) -> np.ndarray:
        return self.ranking.rank(self.scores)

    @property
    def threshold_rank(self) -> float | None:
        """The number of pairs at or above the threshold."""
        return None if self.threshold is None else float(self.ranking.rank(np.array([self.threshold]))[0])


def labels_needed(labels: np.ndarray, sizes: np.ndarray) -> int:
    """Return how many labels are missing before there are figures: five in each sampled stratum (or all its pairs)."""
    return int(np.maximum(np.minimum(LEAST, sizes) - labels, 0).sum())


def measure(sample: Sample, posterior: Posterior, view: View, rng: np.random.Generator) -> AllPairs:
    """Return the model's figures. Recall is over the positives in the sampled ranks."""
    found = found_by(posterior, sample.positive, view.ranks)
    labels = len(sample.positive)
    drawn = figures(found, view.threshold_rank, rng)
    estimates = {name: as_estimate(values, labels) for name, values in drawn.items()}
    return AllPairs(view.ranking.pairs, None, estimates, curve(found, view.ranking, rng), histogram(view), [])


def histogram(view: View) -> dict[str, list[float] | int]:
    """Return all pairs by score, down to the lowest labelled one: edges, pairs, and the number below the first edge."""
    edges, pairs = view.ranking.histogram(BARS, float(view.scores.min()))
    return {"edges": edges.tolist(), "pairs": pairs.tolist(), "below": view.ranking.pairs - int(pairs.sum())}


def changes(
    sample: Sample, posterior: Posterior, before: View, after: View, rng: np.random.Generator
) -> dict[str, Estimate]:
    """Return by how much two models differ, on the same draws of the same labels: `after` minus `before`."""
    seed = rng.integers(2**63)  # the same random draws for both
    old, new = (
        figures(found_by(posterior, sample.positive, view.ranks), None, np.random.default_rng(seed))
        for view in (before, after)
    )
    return {name: as_estimate(new[name] - old[name], len(sample.positive)) for name in CHANGES}


def strata_table(sample: Sample, posterior: Posterior | None) -> list[dict[str, Any]]:
    """Return each sampled stratum's size, sampled, positives, weight, and share of positives with its interval."""
    rows: list[dict[str, Any]] = [
        {"size": int(size), "sampled": int(labels), "positives": int(positives), "far": False}
        | {"weight": float(size / labels) if labels else None}
        for size, labels, positives in zip(sample.sizes, sample.labels, sample.positives, strict=True)
    ]
    if posterior is None:
        return rows
    low, rate, high = np.percentile(posterior.rates, (2.5, 50, 97.5), axis=0).tolist()
    return [row | {"rate": rate[h], "rate_low": low[h], "rate_high": high[h]} for h, row in enumerate(rows)]


def upper_bound(size: int, positives: int, labels: int) -> float:
    """Return the most positives that a stratum's labels leave plausible (Clopper and Pearson 1934, one-sided 95 %)."""
    if labels >= size:
        return float(positives)
    return size if positives >= labels else size * float(beta.ppf(0.95, positives + 1, labels - positives))


def reached(sample: Sample, view: View, target: float) -> dict[str, Any] | None:
    """Return whether precision at the threshold reaches the target, by a bound that holds however often one looks."""
    above = view.threshold_rank
    if view.threshold is None or above is None or above < 1:
        return None
    positives = np.bincount(sample.stratum[sample.positive & (view.scores >= view.threshold)],
                            minlength=len(sample.sizes))  # fmt: skip
    # In each stratum: the pairs that are positive and above the threshold, among all of the stratum's pairs.
    share = stratified_lower(sample.sizes, positives, sample.labels)
    low = min(1.0, share * float(sample.sizes.sum()) / above)
    return {"target": target, "precision_low": low, "reached": low >= target}


def more_labels(sample: Sample, posterior: Posterior) -> int | None:
    """Return about how many more labels would halve the interval of AP under the model that made the strata."""
    weight = importance(posterior.rates, sample.sizes)
    return labels_to_halve(sample.labels, (sample.sizes - sample.labels).astype(np.int64), weight)
