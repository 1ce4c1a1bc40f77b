"""A model's figures from draws of the positives: average precision, precision and recall, with intervals."""

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma

from allpairs.db.estimate import Estimate
from allpairs.learner.evaluation.audit.ranking import Ranking
from allpairs.learner.evaluation.audit.sample import Posterior
from allpairs.learner.metrics.average_precision import Curve

METHOD = "audit"
# Per cent: the ends of a 95 % interval. The model of the shares is an approximation: the draws' middle 95 % hold the
# truth less often than that, their middle 98 % about as often (docs/estimators.md).
TAILS = (1.0, 99.0)
POINTS = 100  # of a curve
POSITIONS = 1_000  # at most so many known positives' ranks are kept one by one
CLOSE = 1e-3  # ranks count as close if they differ by a smaller fraction than this
SURE = 1e-9  # ranks and numbers of positives that differ by less are equal
NONE = 1e-3  # stands for zero positives, to avoid division by zero
NOWHERE = np.empty(0)  # the ranks of no pairs
ENOUGH = 15  # with this many labelled pairs above a rank, straight lines between them describe the pairs above well


@dataclass(frozen=True)
class PositivesByRank:
    """Positives found down to a rank, in each draw: straight lines between the labelled pairs.

    rank: (n + 1,) ascending from 0, of the labelled pairs among all pairs under the model; cumulative: (draws, n + 1);
    labels, positive: (n + 1,), the labelled pairs down to each rank, and the positives among them, by what they count
    for in their stratum.
    """

    rank: np.ndarray
    cumulative: np.ndarray
    labels: np.ndarray
    positive: np.ndarray

    @property
    def complete(self) -> bool:
        """Whether every pair is labelled, so that nothing is left to chance."""
        return bool(self._labelled.all())

    @property
    def _labelled(self) -> np.ndarray:
        """Which of the steps from rank to rank (n,) hold labelled pairs alone: one pair, or a tie."""
        return np.diff(self.labels) > np.diff(self.rank) - SURE

    @property
    def positives(self) -> np.ndarray:
        """All positives, (draws,); where there are none, so few that every figure is 0."""
        return np.maximum(self.cumulative[:, -1], NONE)

    def until(self, rank: float, rng: np.random.Generator) -> np.ndarray:
        """Return the positives among the `rank` highest pairs, (draws,)."""
        return np.minimum(
            rank * self._doubted(self._between(rank)[:, None] / rank, np.array([rank]), rng)[:, 0], self.positives
        )

    def down_to(self, rank: float) -> "PositivesByRank":
        """Return the same for only the `rank` highest pairs, as if there were no others."""
        if rank >= self.rank[-1]:
            return self
        n = int(np.searchsorted(self.rank, rank))
        cumulative = np.column_stack([self.cumulative[:, :n], self._between(rank)])
        return PositivesByRank(
            np.r_[self.rank[:n], rank], cumulative, _longer(self.labels[:n]), _longer(self.positive[:n])
        )

    def _between(self, rank: float) -> np.ndarray:
        after = int(np.clip(np.searchsorted(self.rank, rank), 1, len(self.rank) - 1))
        low = self.rank[after - 1]
        high = self.rank[after]
        share = float(np.clip((rank - low) / max(high - low, 1e-9), 0.0, 1.0))
        return (1 - share) * self.cumulative[:, after - 1] + share * self.cumulative[:, after]

    def rank_at(self, recall: np.ndarray) -> np.ndarray:
        """Return the ranks at which those shares of the positives are found, (draws, k)."""
        goals = self._goals(recall)
        return np.array(
            [self._reached(goal, cumulative) for goal, cumulative in zip(goals, self.cumulative, strict=True)]
        )

    def _reached(self, goal: np.ndarray, cumulative: np.ndarray) -> np.ndarray:
        """Return the first ranks down to which so many positives are found: in a tie of labelled pairs its last."""
        after = np.clip(np.searchsorted(cumulative, goal - SURE), 1, len(cumulative) - 1)
        low = self.rank[after - 1]
        high = self.rank[after]
        share = (goal - cumulative[after - 1]) / np.maximum(cumulative[after] - cumulative[after - 1], SURE)
        return np.where(self._labelled[after - 1], high, low + np.clip(share, 0.0, 1.0) * (high - low))

    def _goals(self, recall: np.ndarray) -> np.ndarray:
        """Return the whole number of positives from which recall is at least this, (draws, k)."""
        goal: np.ndarray = np.ceil(self.positives[:, None] * recall - 1e-9)
        return goal

    def precision_at(self, recall: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the precision where those shares of the positives are found, (draws, k)."""
        rank = np.maximum(self.rank_at(recall), 1.0)
        reached = [np.interp(row, self.rank, cumulative) for row, cumulative in zip(rank, self.cumulative, strict=True)]
        precision = np.minimum(reached / rank, 1.0)
        return self._doubted(precision, np.median(rank, axis=0), rng)

    def _doubted(self, precision: np.ndarray, rank: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return draws (draws, k) of the precision down to those ranks (k,), every second one from the labels alone.

        That applies where fewer than 15 labelled pairs lie above: a straight line from the top to the first of them
        would be too certain there. The labels give Beta(positives + ½, negatives + ½) (Jeffreys).
        """
        place = np.searchsorted(self.rank, rank, side="right") - 1
        labels = self.labels[place]
        positives = self.positive[place]
        from_labels = rng.beta(positives + 0.5, labels - positives + 0.5, size=precision.shape)
        second = np.arange(len(precision)) % 2 == 1
        few = (labels < ENOUGH) & (labels < np.floor(rank))  # nothing is uncertain where every pair is labelled
        return np.where(second[:, None] & few, from_labels, precision)

    def average_precision(self) -> np.ndarray:
        """Return the mean precision at the positives, (draws,), where they lie anywhere between two labelled pairs.

        With c positives down to rank a, and g among the m pairs from there to the next labelled one, a positive at the
        j-th of them has on average 1 + c + q·(j − 1) positives down to it, where q = (g − 1)/(m − 1). The sum over j of
        g/m·(1 + c + q·(j − 1))/(a + j) is g/m·((1 + c − q·(1 + a))·(H(a + m) − H(a)) + q·m), with harmonic numbers H.
        """
        above = self.cumulative[:, :-1]
        low = self.rank[:-1]
        high = self.rank[1:]
        gain = np.diff(self.cumulative, axis=1)
        pairs = high - low
        more = np.maximum(gain - 1, 0.0) / np.maximum(pairs - 1, SURE)
        harmonic = digamma(high + 1) - digamma(low + 1)
        spread = gain / pairs * ((1 + above - more * (1 + low)) * harmonic + more * pairs)
        # where a and b are close the two terms cancel, and the value at the middle is as good
        middle = gain * (1 + above + np.maximum(gain - 1, 0.0) / 2) / (low + (pairs + 1) / 2)
        untied = np.where(pairs > CLOSE * high, spread, middle)
        # a tie of labelled pairs is one threshold; where the next rank is less than a pair away, so is what is between
        together = gain * self.cumulative[:, 1:] / high
        tied = np.clip((np.diff(self.labels) - 1) / np.maximum(pairs - 1, SURE), 0.0, 1.0)
        tied = np.where(pairs < 1 + SURE, 1.0, tied)
        return (tied * together + (1 - tied) * untied).sum(1) / self.positives


def _longer(counts: np.ndarray) -> np.ndarray:
    """Return the counts with the last one twice."""
    return np.r_[counts, counts[-1:]]


def positives_by_rank(
    posterior: Posterior,
    positive: np.ndarray,
    ranks: np.ndarray,
    known: np.ndarray = NOWHERE,
    known_negatives: np.ndarray = NOWHERE,
) -> PositivesByRank:
    """Return the positives found by rank, never more than pairs; ranks: (n,) of the labelled pairs under the model.

    Within each band of ranks the drawn positives are adjusted by the ranks, which are known (regression estimator):
    where all labelled pairs are positives, each rank has as many positives as pairs, whatever the draws say. known,
    known_negatives: (k,) the ranks of known pairs, which no stratum contains.
    """
    listed = np.sort(known)
    settled = np.sort(np.r_[known, known_negatives])
    ends = _after_ties(_among_all(posterior.ends, settled), np.r_[ranks, settled])
    rank = np.unique(np.r_[0.0, ranks, ends, settled[_spread(len(settled))]])
    listed_between, settled_between = (
        np.diff(np.searchsorted(known_ranks, rank, side="right"), prepend=0) for known_ranks in (listed, settled)
    )
    place = np.searchsorted(rank, ranks)
    mass, pairs = (_summed(drawn, place, len(rank)) for drawn in (posterior.mass, posterior.pairs))
    gap = np.maximum(np.diff(rank, prepend=0.0) - settled_between, 1e-9)
    band = np.searchsorted(ends, rank)
    starts = np.unique(band, return_index=True)[1]
    for part in (slice(a, b) for a, b in zip(starts, [*starts[1:], len(rank)], strict=True)):
        band_pairs = pairs[:, part].sum(1, keepdims=True)
        share = mass[:, part].sum(1, keepdims=True) / np.maximum(band_pairs, 1e-300)
        mass[:, part] += share * (band_pairs * gap[part] / gap[part].sum() - pairs[:, part])
    cumulative = np.maximum.accumulate(np.cumsum(mass, axis=1), axis=1)
    most = rank - np.cumsum(settled_between - listed_between)
    cumulative = np.minimum(np.minimum(cumulative, mass.sum(1, keepdims=True)) + np.cumsum(listed_between), most)
    counts = np.ones(len(ranks)) if posterior.counts is None else posterior.counts
    labels, positives = (
        np.cumsum(np.bincount(place, weights, len(rank)) + known_between)
        for weights, known_between in ((counts, settled_between), (counts * positive, listed_between))
    )
    return PositivesByRank(rank, cumulative, labels, positives)


def _among_all(ends: np.ndarray, settled: np.ndarray) -> np.ndarray:
    """Return the ends of bands among all pairs; settled: (k,) ascending, the ranks of known pairs, in no band."""
    above = np.minimum.accumulate((settled - np.arange(1, len(settled) + 1))[::-1])[::-1]
    return ends + np.searchsorted(above, ends, side="right")


def _after_ties(ends: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return the ends of bands, those inside a tie of labelled pairs at its last rank."""
    last, pairs = np.unique(ranks, return_counts=True)
    after = np.minimum(np.searchsorted(last, ends), len(last) - 1)
    return np.unique(np.where(ends > last[after] - pairs[after], np.maximum(ends, last[after]), ends))


def _spread(n: int) -> np.ndarray:
    """Return positions among n sorted ranks: all of few, of many denser at the top."""
    return np.unique(np.geomspace(1, n, POSITIONS).astype(np.int64)) - 1 if n > POSITIONS else np.arange(n)


def _summed(drawn: np.ndarray, place: np.ndarray, points: int) -> np.ndarray:
    """Return the draws (draws, n) summed at each point, (draws, points)."""
    summed = np.zeros((points, len(drawn)))
    np.add.at(summed, place, drawn.T)
    return summed.T


def figures(by_rank: PositivesByRank, threshold_rank: float | None, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return draws (draws,) of each figure.

    threshold_rank: the number of pairs at or above the model's threshold, if it has one.
    """
    drawn = {
        "average_precision": by_rank.average_precision(),
        "precision_at_recall_20": by_rank.precision_at(np.array([0.2]), rng)[:, 0],
        "positives": by_rank.cumulative[:, -1],
    }
    if threshold_rank is not None and threshold_rank >= 1:
        true = by_rank.until(threshold_rank, rng)
        drawn["precision"] = true / threshold_rank
        drawn["recall"] = true / by_rank.positives
        drawn["f1"] = 2 * true / (by_rank.positives + threshold_rank)
    return drawn


def as_estimate(drawn: np.ndarray, labels: int, complete: bool = False) -> Estimate:
    """Return the mean of the draws, which has the least squared error, and their 95 % interval.

    complete: every pair is labelled, so that all draws are alike.
    """
    if complete:
        return Estimate(float(drawn[0]), float(drawn[0]), float(drawn[0]), "exact", labels)
    low, high = np.percentile(drawn, TAILS)
    return Estimate(float(drawn.mean()), float(low), float(high), METHOD, labels)


def audit_curve(by_rank: PositivesByRank, ranking: Ranking, rng: np.random.Generator) -> Curve:
    """Return precision by recall, with a 95 % band; scores are those of the median ranks."""
    recall = np.linspace(1 / POINTS, 1.0, POINTS)
    rank = by_rank.rank_at(recall)
    precision = by_rank.precision_at(recall, rng)
    low, high = np.percentile(precision, TAILS, axis=0)
    return Curve(ranking.score(np.median(rank, axis=0)), recall, precision.mean(axis=0), low, high)
