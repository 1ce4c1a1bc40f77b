"""The labelled pairs of an audit, and how many positives each of them may stand for."""

from dataclasses import dataclass

import numpy as np

from allpairs.learner.evaluation.audit.match_probability import draw_chances
from allpairs.learner.evaluation.audit.stratum_rates import draw_rates, first_strata
from allpairs.learner.evaluation.audit.verdict_rates import COARSE, draw_shares
from allpairs.learner.evaluation.audit.verdicts import UNREAD, Shares, Verdicts

DRAWS = 1_000
LEAST = 0.2  # shape of the shares when very few positives were found
SPREAD = 1.5  # found positives that equal the prior weight of probabilities in placing a stratum's other positives


@dataclass(frozen=True)
class Sample:
    """Labelled pairs.

    stratum: (n,) int64, from 0, the highest; positive: (n,) bool; weight: (n,) float64, the inverse of the inclusion
    probability; sizes: (h,) pairs in each stratum; band: (h,) int64 the band of each stratum, ascending, two strata at
    most to a band; without it each stratum is a band; known: (h,) known positives beside each stratum's pairs. Every
    stratum has a labelled pair. verdicts: a machine rater's, where the labelled pairs of a stratum were drawn by
    them; a pair's inclusion probability is then that of its verdict.
    """

    stratum: np.ndarray
    positive: np.ndarray
    weight: np.ndarray
    sizes: np.ndarray
    band: np.ndarray | None = None
    known: np.ndarray | None = None
    verdicts: Verdicts | None = None

    @property
    def labels(self) -> np.ndarray:
        """Labelled pairs in each stratum, (h,) int64."""
        return np.bincount(self.stratum, minlength=len(self.sizes))

    @property
    def positives(self) -> np.ndarray:
        """Positives among them, (h,) int64."""
        return np.bincount(self.stratum[self.positive], minlength=len(self.sizes))

    def effective(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the effective positives and labels of each stratum (Kish 1965): the plain counts for equal weights."""
        total = self._sum(self.weight)
        squares = self._sum(self.weight**2)
        labels = total**2 / np.maximum(squares, 1e-300)
        return labels * self._sum(self.weight * self.positive) / np.maximum(total, 1e-300), labels

    def draw_rates(self, draws: int, rng: np.random.Generator) -> np.ndarray:
        """Draw (draws, h) the strata's shares of positives from their posterior, by labels alone."""
        return draw_rates(*self.effective(), self.sizes, draws, rng, self.band)

    def draw_by_verdict(self, draws: int, rng: np.random.Generator) -> np.ndarray:
        """Draw roughly (draws, 2h) the shares of positives by stratum and verdict: no, yes, no, yes … It has some."""
        assert self.verdicts is not None
        counts = self.verdicts.count(self.stratum, self.positive, self.weight)
        shares = draw_shares(self.verdicts, counts, self.sizes, draws, rng, self.band, COARSE)
        return shares.by_cell(self.verdicts.read)

    def relative(self) -> np.ndarray:
        """Return what each labelled pair counts for among those of its stratum, (n,): 1 on average."""
        mean = self._sum(self.weight) / np.maximum(self.labels, 1)
        return np.asarray(self.weight / mean[self.stratum]) if self.verdicts else np.ones(len(self.stratum))

    def _sum(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.stratum, values, minlength=len(self.sizes))


@dataclass(frozen=True)
class Posterior:
    """Draws from the posterior.

    rates: (draws, h) shares of positives; mass, pairs: (draws, n) the positives, and all pairs, that each labelled pair
    stands for; ends: (b,) the last rank of each band, ascending, under the model that made them; counts: (n,) what each
    labelled pair counts for among those of its stratum, 1 if it is not given. With a machine rater's verdicts also
    cells: (draws, 2h) shares of positives by stratum and verdict; sensitivity: (draws,) the share of all positives that
    it calls positive, of the strata that it has read.
    """

    rates: np.ndarray
    mass: np.ndarray
    pairs: np.ndarray
    ends: np.ndarray
    counts: np.ndarray | None = None
    cells: np.ndarray | None = None
    sensitivity: np.ndarray | None = None


@dataclass(frozen=True)
class _Cell:
    """Pairs of a stratum that are alike. labelled: (n,) int64, positions of the labelled ones in the sample.

    unlabelled, positives: (draws,) the unlabelled pairs, and the positives among them.
    """

    stratum: int
    labelled: np.ndarray
    unlabelled: np.ndarray
    positives: np.ndarray


def draw_posterior(
    sample: Sample, rng: np.random.Generator, draws: int = DRAWS, ranks: np.ndarray | None = None
) -> Posterior:
    """Draw how many positives each stratum has, and how they are spread over its labelled pairs.

    ranks: (n, m) of the labelled pairs under each of the models to measure; without them all pairs of a stratum are
    alike. Each labelled positive stands for itself and for a random, on average equal share of its stratum's other
    positives (a Bayesian bootstrap, Rubin 1981). Some of these are placed at any labelled pair, by its probability of
    being a positive: otherwise a model better than the one that made the strata would show no gain where few positives
    are found. Where a machine rater has read pairs, those of each verdict stand for others of that verdict.
    """
    shares = None if sample.verdicts is None else _shares(sample, sample.verdicts, draws, rng)
    cells = _whole(sample, draws, rng) if shares is None else _by_verdict(sample, shares, rng)
    known = np.ones((len(sample.positive), 0)) if ranks is None else ranks
    verdicts = None if sample.verdicts is None else sample.verdicts.verdict
    chance = draw_chances(sample.positive, known, draws, rng, verdicts)
    mass = np.empty_like(chance)
    pairs = np.empty_like(chance)
    unseen = np.zeros((draws, len(sample.sizes)))
    for cell in cells:
        labelled = cell.labelled
        unseen[:, cell.stratum] += cell.positives
        positive = sample.positive[labelled]
        likely = chance[:, labelled] / chance[:, labelled].sum(1, keepdims=True)
        shape = _evenness(positive.sum()) * (positive + SPREAD * likely)
        unlabelled = sample.weight[labelled] - 1  # a pair that was certain to be drawn stands for itself alone
        part = rng.standard_gamma(shape) * unlabelled + 1e-300
        mass[:, labelled] = part * (cell.positives / part.sum(1))[:, None] + positive
        part_of_rest = rng.standard_gamma(1.0, part.shape) * unlabelled * ~positive + 1e-300
        rest = cell.unlabelled - cell.positives
        pairs[:, labelled] = mass[:, labelled] + part_of_rest * (rest / part_of_rest.sum(1))[:, None] + ~positive
    ends = np.cumsum(np.add.reduceat(sample.sizes, first_strata(sample.sizes, sample.band))).astype(np.float64)
    rates = (sample.positives + unseen) / sample.sizes
    counts = sample.relative()
    if shares is None or sample.verdicts is None:
        return Posterior(rates, mass, pairs, ends, counts)
    read = sample.verdicts.read
    expected = shares.positive * sample.sizes * (read > 0) + 1e-300
    sensitivity = (expected * shares.sensitivity).sum(1) / expected.sum(1)
    return Posterior(rates, mass, pairs, ends, counts, shares.by_cell(read), sensitivity)


def _shares(sample: Sample, verdicts: Verdicts, draws: int, rng: np.random.Generator) -> Shares:
    counts = verdicts.count(sample.stratum, sample.positive, sample.weight)
    return draw_shares(verdicts, counts, sample.sizes, draws, rng, sample.band)


def _whole(sample: Sample, draws: int, rng: np.random.Generator) -> list[_Cell]:
    """Draw the unlabelled positives of each stratum."""
    left = np.maximum(sample.sizes - sample.labels, 0).astype(np.int64)
    unseen = rng.binomial(left, sample.draw_rates(draws, rng))
    return [
        _Cell(h, np.flatnonzero(sample.stratum == h), np.full(draws, left[h]), unseen[:, h]) for h in range(len(left))
    ]


def _by_verdict(sample: Sample, shares: Shares, rng: np.random.Generator) -> list[_Cell]:
    """Draw the unlabelled positives of each verdict in each stratum."""
    verdicts = sample.verdicts
    assert verdicts is not None
    left = np.maximum(sample.sizes - sample.labels, 0).astype(np.int64)
    called = np.clip(shares.called, 0.0, 1.0)
    rates = [np.clip(rate, 0.0, 1.0) for rate in shares.among()]
    cells = []
    for h in range(len(left)):
        labelled = np.flatnonzero(sample.stratum == h)
        labels = np.bincount(verdicts.verdict[labelled], minlength=UNREAD + 1)
        read = int(verdicts.read[h])
        yes = int(verdicts.called[h])
        unread = rng.binomial(max(int(sample.sizes[h]) - read, 0), called[:, h])
        all_yes = np.clip(yes + unread - labels[1], 0, left[h])
        of_stratum = []
        for verdict, unlabelled in enumerate((left[h] - all_yes, all_yes)):
            of_verdict = labelled[verdicts.verdict[labelled] == verdict]
            of_stratum.append(_Cell(h, of_verdict, unlabelled, rng.binomial(unlabelled, rates[verdict][:, h])))
        cells += of_stratum if min(labels[0], labels[1]) and not labels[UNREAD] else [_together(labelled, *of_stratum)]
    return cells


def _together(labelled: np.ndarray, first: _Cell, second: _Cell) -> _Cell:
    """Return both cells of a stratum as one: where not every labelled pair has a verdict, or none has one of them."""
    return _Cell(first.stratum, labelled, first.unlabelled + second.unlabelled, first.positives + second.positives)


def _evenness(positives: int) -> float:
    """Return the shape of each found positive's share, such that the mean over them has its unbiased variance.

    Shares of shape 1 (Rubin's) vary less, by (k − 1)/(k + 1) for k positives; (k − 2)/k makes up for that.
    """
    return max((positives - 2) / positives, LEAST) if positives else 1.0
