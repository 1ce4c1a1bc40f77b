"""ActiveEval over rank intervals: the successor of OASIS, without an array over all pairs.

Source: Marchant and Rubinstein (2021). Pairs are drawn with replacement from the distribution that is asymptotically
best for F1 given a model of the labels, and weighted by the inverse of their probability. The model is the package's
for an oracle that never contradicts itself (`activeeval` 0.1.2): a Dirichlet tree over strata for each label, fitted by
expectation maximisation, in which labelled pairs keep their label. Settings are those of the authors' experiments on
F1: a binary tree of depth 8 over strata by cumulative square root of frequency, one pseudo-observation of the scores in
each stratum, 50 labels between two updates; the others are the package's defaults.

Two things differ. The strata are cut on calibrated probabilities, as for OASIS: a pool here has no raw scores. And the
fit starts at the scores. The package's start adds a pseudo-observation of either label to each stratum, so that a third
of all pairs begin as positives; one step moves a stratum by about one part in its size, so that 100 million pairs never
leave that start, and the proposal spends half of its draws far down the ranking.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from benchmarks.data.pools import Pool
from benchmarks.quality import weighted
from benchmarks.quality.oasis_peer import ALPHA, Draws, Strata
from benchmarks.quality.oasis_strata import calibrate, csf_strata

STRATA = 256
STRENGTH = 1.0  # pseudo-observations of the scores in each stratum
ROUND = 50  # labels between two updates of the proposal
EPSILON = 1e-9  # least influence of a pair that can matter, while nothing is labelled
TOLERANCE = 1e-6  # of expectation maximisation: relative change of the log posterior
STEPS = 1_000  # steps of it
MOST = 200_000  # draws in a round; if they do not bring its labels, sampling ends
TINY = 1e-300  # stands for the mass of a branch without strata


class LabelModel:
    """The labels' probabilities in the strata: which label, then left or right down a binary tree to a stratum."""

    def __init__(self, strata: Strata) -> None:
        number = len(strata.sizes)
        depth = (number - 1).bit_length()
        self.leaf = np.arange(number) * 2**depth // number
        scores = np.column_stack([1 - strata.chance, strata.chance])  # columns: negative, positive
        self.prior = self._on_leaves(STRENGTH * scores, 2**depth)
        self.labels = self._on_leaves(scores, 2**depth)
        used = self.prior.any(1)
        # by level each branch's pseudo-observations of either label: the level squared, none without strata; (b, 1)
        self.smoothing = [
            np.where(used.reshape(2**level, -1).any(1, keepdims=True), level**2, 0) for level in range(1, depth + 1)
        ]
        self.log_posterior = -np.inf

    def _on_leaves(self, values: np.ndarray, leaves: int) -> np.ndarray:
        """Return the strata's values (k, ...) on the tree's leaves (leaves, ...), 0 on those without a stratum."""
        filled = np.zeros((leaves, *values.shape[1:]))
        filled[self.leaf] = values
        return filled

    @property
    def chance(self) -> np.ndarray:
        """Return the probability that an unlabelled pair of each stratum is a positive, (k,)."""
        return self.labels[self.leaf, 1]

    def fit(self, seen: np.ndarray, left: np.ndarray) -> None:
        """Fit to the strata's labelled negatives and positives (k, 2) and their numbers of unlabelled pairs (k,)."""
        labelled, unlabelled = (self._on_leaves(part, len(self.prior)) for part in (seen, left))
        for _ in range(STEPS):
            before = self.log_posterior
            self.log_posterior = self.step(labelled, unlabelled)
            if abs(self.log_posterior - before) <= TOLERANCE * min(abs(before), abs(self.log_posterior)):
                return

    def step(self, seen: np.ndarray, left: np.ndarray) -> float:
        """Share the leaves' unlabelled pairs among the labels, refit, and return the log posterior but a constant."""
        total = seen + left[:, None] * self.labels + self.prior
        mass = total.sum(0, keepdims=True) / total.sum()
        posterior = xlogy(total.sum(0), mass).sum()
        for smoothing in self.smoothing:
            siblings = (total.reshape(len(smoothing), -1, 2).sum(1) + smoothing).reshape(-1, 2, 2)
            branch = siblings / np.maximum(siblings.sum(1, keepdims=True), TINY)
            posterior += xlogy(siblings, branch).sum()
            mass = (mass[:, None] * branch).reshape(-1, 2)
        self.labels = mass / np.maximum(mass.sum(1, keepdims=True), TINY)
        return float(posterior)


@dataclass(frozen=True)
class Risk:
    """The means over all pairs whose ratio is F: of true positives, and of half the called and half the positives."""

    true: float
    below: float

    @classmethod
    def of(cls, draws: Draws, threshold: int) -> "Risk":
        """Return its estimate from weighted draws."""
        called = draws.rank <= threshold
        below = ALPHA * called + (1 - ALPHA) * draws.positive
        return cls(float((draws.weight * (called & draws.positive)).mean()), float((draws.weight * below).mean()))

    def influence(self, called: np.ndarray, positive: np.ndarray) -> np.ndarray:
        """Return F's gradient times the loss of pairs called and labelled like this (n,), (n,)."""
        below = ALPHA * called + (1 - ALPHA) * positive
        return ((called & positive) - below * self.true / self.below) / self.below

    def density(self, chance: np.ndarray, called: np.ndarray, floor: float) -> np.ndarray:
        """Return what the proposal is proportional to (n,): the expected size of the influence.

        chance: (n,) the probability of a positive, 0 or 1 for labelled pairs; called: (n,). Where a label can matter
        its influence counts as at least `floor`; that of a negative which the model does not call is 0.
        """
        yes = np.maximum(np.abs(self.influence(called, np.ones_like(called))), floor)
        no = np.maximum(np.abs(self.influence(called, np.zeros_like(called))), floor)
        return chance * yes + (1 - chance) * called * no


class Sampler:
    """Draws pairs in rounds, and updates the proposal from the labels after each.

    A cell is a stratum's called or other pairs: its unlabelled pairs are equally probable. `known` (sorted ranks) and
    `positive` are the labelled pairs.
    """

    def __init__(self, pool: Pool, strata: Strata, rng: np.random.Generator) -> None:
        self.pool = pool
        self.strata = strata
        self.rng = rng
        self.model = LabelModel(strata)
        self.edges = np.unique(np.r_[strata.edges, pool.threshold])
        self.stratum = np.searchsorted(strata.edges, self.edges[:-1], "right") - 1
        self.rounds: list[Draws] = []
        self.learn(np.zeros(0, dtype=np.int64))

    @property
    def draws(self) -> Draws:
        """Return all draws so far."""
        rows = [(part.rank, part.positive, part.weight, part.labels) for part in self.rounds]
        return Draws(*(np.concatenate(column) for column in zip(*rows, strict=True)))

    def learn(self, known: np.ndarray) -> None:
        """Set the labelled pairs, fit the model to them, and compute the proposal."""
        self.known, self.positive = known, self.pool.labels(known)
        number = len(self.strata.sizes)
        at = np.searchsorted(self.strata.edges, known) - 1
        seen = np.bincount(2 * at + self.positive, minlength=2 * number).reshape(number, 2)
        self.model.fit(seen, self.strata.sizes - seen.sum(1))
        self._propose()

    def _propose(self) -> None:
        # cell i holds the unlabelled pairs first[i] to first[i + 1] - 1, counted from 0 over all unlabelled ones
        self.first = self.edges - np.searchsorted(self.known, self.edges, "right")
        # of the cells, then of the labelled pairs
        number = np.r_[np.diff(self.first), np.ones(len(self.known), dtype=np.int64)]
        called = np.r_[self.edges[1:], self.known] <= self.pool.threshold
        chance = np.r_[self.model.chance[self.stratum], self.positive]
        self.risk, self.floor = self._risk(number * chance, called), EPSILON * self.first[-1] / self.pool.pairs
        density = self.risk.density(chance, called, self.floor)
        self.below = np.cumsum(number * density)
        self.weight = self._weights(density)

    def _risk(self, positives: np.ndarray, called: np.ndarray) -> Risk:
        below = ALPHA * self.pool.threshold + (1 - ALPHA) * positives.sum()
        return Risk((positives * called).sum() / self.pool.pairs, below / self.pool.pairs)

    def _weights(self, density: np.ndarray) -> np.ndarray:
        """Return the weights of pairs of that density (n,); infinite where it is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.below[-1] / (self.pool.pairs * density))

    def draw(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw pairs from the proposal with replacement: ranks and weights, (number,) each."""
        at = np.searchsorted(self.below, self.rng.random(number) * self.below[-1], "right")
        cells = len(self.first) - 1
        fresh = at < cells
        index = self.rng.integers(self.first[at[fresh]], self.first[at[fresh] + 1])
        unlabelled_before = self.known - 1 - np.arange(len(self.known))
        rank = np.empty(number, dtype=np.int64)
        rank[fresh] = index + 1 + np.searchsorted(unlabelled_before, index, "right")
        rank[~fresh] = self.known[at[~fresh] - cells]
        return rank, self.weight[at]

    def round(self, labels: int) -> bool:
        """Draw until so many further pairs are labelled, and learn from them; return whether that was possible."""
        rank, weight = self.draw(ROUND)
        while (new := _first_seen(rank, self.known)).sum() < labels and len(rank) < MOST:
            more, their_weight = self.draw(len(rank))
            rank = np.r_[rank, more]
            weight = np.r_[weight, their_weight]
        used = np.cumsum(new)
        end = int(np.searchsorted(used, labels)) + 1
        taken = rank[:end]
        used = len(self.known) + used[:end]
        self.rounds.append(Draws(taken, self.pool.labels(taken), weight[:end], used))
        self.learn(np.union1d(self.known, taken))
        return bool(new.sum() >= labels)

    def until(self, labels: int) -> Draws:
        """Draw until that many distinct pairs are labelled, and return all draws."""
        while (missing := labels - len(self.known)) > 0 and self.round(min(ROUND, missing)):
            pass
        return self.draws

    def f_interval(self) -> np.ndarray:
        """Return F's value, low and high (3,): the normal interval of the package's asymptotic variance.

        It multiplies each draw's weight by the one under the last proposal, which knows the label. The package averages
        two factors apart, by a slip of array shapes; this is the formula that it documents.
        """
        draws = self.draws
        risk = Risk.of(draws, self.pool.threshold)
        called = draws.rank <= self.pool.threshold
        if risk.below == 0:
            return np.zeros(3)
        last = self._weights(self.risk.density(draws.positive, called, self.floor))
        last[np.isinf(last)] = 0  # a pair that the proposal excludes has no influence
        parts = risk.influence(called, draws.positive) ** 2 * draws.weight * last
        value = risk.true / risk.below
        half = 1.96 * np.sqrt(parts.mean() / len(parts))
        return np.array([value, value - half, value + half])


def _first_seen(rank: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return which draws (n,) are the first of a pair that is not known, (n,) bool."""
    first = np.zeros(len(rank), dtype=bool)
    first[np.unique(rank, return_index=True)[1]] = True
    return first & ~np.isin(rank, known)


def activeeval(pool: Pool, budgets: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Measure by ActiveEval aimed at F1, its scores calibrated on the truth; return (budgets, 5, 3).

    For each budget (ascending) and each of FIGURES value, low and high; only F1 has an interval.
    """
    sampler = Sampler(pool, csf_strata(calibrate(pool), STRATA), rng)
    return np.array([weighted.of_draws(pool, sampler.until(budget), sampler.f_interval()) for budget in budgets])
