"""The methods that `benchmarks.quality.audits` compares: each spends exactly n labels and returns value and interval.

A method takes a pool, ascending budgets and a generator, and returns (budgets, 5, 3): for each budget and each of
FIGURES value, low and high (NaN without an interval). A larger budget extends the sample of the smaller one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from allpairs.learner.evaluation.audit.allocation import FIRST, allocate, gain_of
from allpairs.learner.evaluation.audit.figures import as_estimate, figures, positives_by_rank
from allpairs.learner.evaluation.audit.sample import Sample, draw_posterior
from allpairs.learner.evaluation.audit.strata import FIRST as FIRST_SHARE
from allpairs.learner.evaluation.audit.strata import TOP, WHOLE, band_ends, least_top
from allpairs.learner.evaluation.audit.verdicts import Verdicts, cell_sizes
from benchmarks.data.pools import FIGURES, Pool, bands_to, draw_ranks
from benchmarks.quality import weighted
from benchmarks.quality.activeeval_peer import activeeval
from benchmarks.quality.oasis_peer import f_interval, sample
from benchmarks.quality.oasis_strata import calibrate, csf_strata

Method = Callable[[Pool, Sequence[int], np.random.Generator], np.ndarray]
BATCH = 50  # labels between two allocations
DRAWS = 200  # posterior draws of the rates, for the allocation
READ = 1_000  # pairs of each stratum that a rater reads


@dataclass(frozen=True)
class Part:
    """A stratum of a pool: all or some pairs of the ranks `after` + 1 to `until`, and its positives' ranks."""

    after: int
    until: int
    band: int
    size: int
    positives: np.ndarray

    def draw(self, labels: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw so many pairs, or all: their ranks, and whether they are positives."""
        if self.size == self.until - self.after:
            ranks = draw_ranks(self.after, self.until, labels, rng)
            return ranks, np.isin(ranks, self.positives)
        at = rng.choice(self.size, size=min(labels, self.size), replace=False)
        positive = at < len(self.positives)
        ranks = rng.integers(self.after + 1, self.until + 1, len(at))  # of negatives, about
        ranks[positive] = self.positives[at[positive]]
        return ranks, positive


def our_edges(pool: Pool) -> np.ndarray:
    """Return the ranks between the product's bands, (b + 1,)."""
    return np.array([0, *band_ends(pool.pairs)])


def our_strata(pool: Pool) -> list[Part]:
    """Return the product's strata: its bands, deep ones in two by lexical similarity."""
    parts = []
    for band, (after, until) in enumerate(pairwise(our_edges(pool).tolist())):
        here = (pool.positives > after) & (pool.positives <= until)
        ranks = pool.positives[here]
        alike = pool.alike[here] <= FIRST_SHARE
        size = until - after
        if after < WHOLE:
            parts.append(Part(after, until, band, size, ranks))
        else:
            first = round(FIRST_SHARE * size)
            parts.append(Part(after, until, band, first, ranks[alike]))
            parts.append(Part(after, until, band, size - first, ranks[~alike]))
    return parts


def ours(pool: Pool, budgets: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Measure like the product: 15 labels in each stratum, then 50 at a time where they help most."""
    strata = our_strata(pool)
    sizes = np.array([part.size for part in strata])
    band = np.array([part.band for part in strata])
    orders = [part.draw(budgets[-1], rng) for part in strata]
    limit = np.array([len(ranks) for ranks, _ in orders])
    labels = np.zeros(len(sizes), dtype=np.int64)

    def seen() -> tuple[Sample, np.ndarray]:
        """Return the labelled pairs, the first of each sampling order, and their ranks."""
        stratum = np.repeat(np.arange(len(sizes)), labels)
        taken = [(ranks[:n], positive[:n]) for (ranks, positive), n in zip(orders, labels, strict=True)]
        ranks, positive = (np.concatenate(column) for column in zip(*taken, strict=True))
        return Sample(stratum, positive, (sizes / np.maximum(labels, 1))[stratum], sizes, band), ranks

    answers = []
    for budget in budgets:
        while (missing := budget - labels.sum()) > 0:
            gain = None
            first = int(np.maximum(np.minimum(FIRST, limit) - labels, 0).sum())
            if not first:
                gain = gain_of(seen()[0].draw_rates(DRAWS, rng), sizes, band)
            labels = labels + allocate(labels, limit - labels, gain, min(missing, first or BATCH))
        answers.append(_estimates(pool, *seen(), rng))
    return np.array(answers)


@dataclass(frozen=True)
class Rater:
    """A rater that reads 1,000 pairs of each stratum. deep: its sensitivity in bands below the highest 1 % of pairs."""

    sensitivity: float
    specificity: float
    deep: float

    def __call__(self, pool: Pool, budgets: Sequence[int], rng: np.random.Generator) -> np.ndarray:
        """Measure like the product where a rater has read pairs: people label by stratum and verdict."""
        strata = our_strata(pool)
        sizes = np.array([part.size for part in strata])
        band = np.array([part.band for part in strata])
        drawn = [part.draw(READ, rng) for part in strata]
        said = [self._verdicts(part, positive, pool, rng) for part, (_, positive) in zip(strata, drawn, strict=True)]
        read, called = (np.array([int(f(one)) for one in said]) for f in (len, np.sum))
        cells = [np.flatnonzero(one == verdict) for one in said for verdict in (False, True)]
        limit = np.array([len(cell) for cell in cells])
        labels = np.zeros(len(cells), dtype=np.int64)
        pairs = cell_sizes(sizes, read, called)

        def seen() -> tuple[Sample, np.ndarray]:
            stratum, yes = (np.repeat(column, labels) for column in np.divmod(np.arange(len(cells)), 2))
            taken = [(drawn[at // 2], cells[at][:n]) for at, n in enumerate(labels.tolist())]
            ranks, positive = (np.concatenate([pairs[which][at] for pairs, at in taken]) for which in (0, 1))
            weight = np.maximum((pairs / np.maximum(labels, 1))[2 * stratum + yes], 1.0)
            return Sample(stratum, positive, weight, sizes, band, verdicts=Verdicts(yes, read, called)), ranks

        answers = []
        for budget in budgets:
            while (missing := budget - labels.sum()) > 0:
                gain = None
                first = int(np.maximum(np.minimum((FIRST + 1) // 2, limit) - labels, 0).sum())
                if not first:
                    gain = gain_of(seen()[0].draw_by_verdict(DRAWS, rng), pairs, np.repeat(band, 2))
                labels = labels + allocate(
                    labels, limit - labels, gain, min(missing, first or max(BATCH, int(labels.sum()) // 5))
                )
            answers.append(_estimates(pool, *seen(), rng))
        return np.array(answers)

    def _verdicts(self, part: Part, positive: np.ndarray, pool: Pool, rng: np.random.Generator) -> np.ndarray:
        sensitivity = self.sensitivity if part.after < least_top(pool.pairs) else self.deep
        return np.asarray(rng.random(len(positive)) < np.where(positive, sensitivity, 1 - self.specificity))


def _estimates(pool: Pool, seen: Sample, ranks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    rank = ranks.astype(np.float64)
    found = positives_by_rank(draw_posterior(seen, rng, ranks=rank[:, None]), seen.positive, rank)
    drawn = figures(found, float(pool.threshold), rng)
    estimates = [as_estimate(drawn[name], len(ranks)) for name in FIGURES]
    return np.array([[estimate.value, estimate.low, estimate.high] for estimate in estimates])


def equal(pool: Pool, budgets: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Measure with equal shares in our strata, by Horvitz–Thompson and a bootstrap, as one would without our model."""
    return _weighted(pool, our_edges(pool), budgets, rng)


def uniform(pool: Pool, budgets: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Measure on pairs sampled uniformly from all."""
    return _weighted(pool, np.array([0, pool.pairs]), budgets, rng)


def near_random(pool: Pool, budgets: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Measure on Mussmann, Jia and Liang's strata, half of the labels each: near (our top) and random others."""
    near = bands_to(pool.pairs, TOP, least_top(pool.pairs))[-1]
    return _weighted(pool, np.array([0, near, pool.pairs]), budgets, rng)


def _weighted(pool: Pool, edges: np.ndarray, budgets: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    orders = [draw_ranks(a, b, budgets[-1], rng) for a, b in pairwise(edges)]
    shares = [equal_shares(np.array([len(order) for order in orders]), budget) for budget in budgets]
    taken = [[order[:n] for order, n in zip(orders, share, strict=True)] for share in shares]
    return np.array([weighted.answer(pool, edges, ranks, rng) for ranks in taken])


def equal_shares(available: np.ndarray, labels: int) -> np.ndarray:
    """Return that many labels in equal shares (h,) int64, within what is available; the first get the remainder."""
    shares = np.zeros_like(available)
    while (missing := min(labels, int(available.sum())) - int(shares.sum())) > 0:
        open_ = np.nonzero(shares < available)[0]
        shares[open_[:missing]] += np.minimum(max(1, missing // len(open_)), (available - shares)[open_[:missing]])
    return shares


def oasis(pool: Pool, budgets: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Measure by OASIS aimed at F1, its scores calibrated on the truth; only F1 has an interval, the normal one."""
    draws = sample(pool, csf_strata(calibrate(pool)), budgets[-1], rng)
    parts = [draws.until(budget) for budget in budgets]
    return np.array([weighted.of_draws(pool, part, f_interval(part, pool.threshold)) for part in parts])


METHODS: dict[str, Method] = {
    "ours": ours,
    "HT": equal,
    "OASIS": oasis,
    "near-random": near_random,
    "uniform": uniform,
    "activeeval": activeeval,
}
# Raters by sensitivity/specificity. They are given more than the others: verdicts on 1,000 pairs of each stratum.
RATERS: dict[str, Method] = {
    "rater 0.95/0.99": Rater(0.95, 0.99, 0.95),
    "rater 0.9/0.9": Rater(0.9, 0.9, 0.9),
    "rater 0.5/0.5": Rater(0.5, 0.5, 0.5),
    "rater 0.95/0.99, deep 0.3": Rater(0.95, 0.99, 0.3),
}
