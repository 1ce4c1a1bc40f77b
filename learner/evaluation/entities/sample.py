"""The labelled pairs of drawn texts, and draws of how many of their other pairs are positives, too."""

from dataclasses import dataclass

import numpy as np

from allpairs.learner.evaluation.audit.stratum_rates import draw_rates
from allpairs.learner.evaluation.entities.drawing import Bands, Corpus, Plan

DRAWS = 1_000


@dataclass(frozen=True)
class Sample:
    """Drawn texts and their labelled pairs.

    texts: (n,) drawn; weight: (n,) how many texts each stands for; sizes: (n, h) its pairs in each band; of: (m,) which
    drawn text a labelled pair belongs to, from 0; other: (m,) its partner; band: (m,), h for one of its group beside
    its candidates; positive: (m,) bool.
    """

    corpus: Corpus
    bands: Bands
    texts: np.ndarray
    weight: np.ndarray
    sizes: np.ndarray
    of: np.ndarray
    other: np.ndarray
    band: np.ndarray
    positive: np.ndarray

    def counts(self, which: np.ndarray) -> np.ndarray:
        """Return how many of these labelled pairs (m,) each text has in each band, (n, h) int64."""
        n, h = self.sizes.shape
        inside = which & (self.band < h)
        return np.bincount(self.of[inside] * h + self.band[inside], minlength=n * h).reshape(n, h)

    @classmethod
    def answered(cls, corpus: Corpus, plan: Plan, entity: np.ndarray) -> "Sample":
        """Return the plan's texts with all their pairs answered by the true entity of each text, (N,)."""
        of = np.repeat(np.arange(len(plan.texts)), [len(one.other) for one in plan.pairs])
        other = np.concatenate([one.other for one in plan.pairs])
        band = np.concatenate([one.band for one in plan.pairs])
        sizes = np.array([one.sizes for one in plan.pairs])
        positive = entity[other] == entity[plan.texts[of]]
        return cls(corpus, plan.bands, plan.texts, plan.weight, sizes, of, other, band, positive)

    @property
    def open(self) -> np.ndarray:
        """How many pairs of each text in each band are not labelled, (n, h) int64."""
        return np.maximum(self.sizes - self.counts(np.ones(len(self.of), dtype=bool)), 0)

    @property
    def partners(self) -> np.ndarray:
        """How many of the labelled pairs of each text are positives, (n,) int64."""
        return np.bincount(self.of[self.positive], minlength=len(self.texts))


@dataclass(frozen=True)
class Grouped:
    """How a sample's texts are grouped.

    size: (n,) texts of each drawn text's group that it can match, and itself; right: (n,) how many of them are known
    partners; open: (n, h) how many are in each band and not labelled.
    """

    size: np.ndarray
    right: np.ndarray
    open: np.ndarray


def grouped(sample: Sample, group: np.ndarray) -> Grouped:
    """Return how the texts are grouped; group: (N,) of each text of the corpus."""
    size = np.ones(len(sample.texts), dtype=np.int64)
    members = []
    for at, text in enumerate(sample.texts.tolist()):
        others = sample.corpus.partners(text)
        others = others[group[others] == group[text]]
        size[at] += len(others)
        labelled = sample.other[sample.of == at]
        members.append(np.column_stack([np.full(len(others), at), others])[~np.isin(others, labelled)])
    of, other = np.concatenate(members).T
    scores = sample.corpus.scores(sample.texts[of], other)
    n, h = sample.sizes.shape
    open_ = np.bincount(of * h + sample.bands.of(scores), minlength=n * h).reshape(n, h)
    inside = sample.positive & (group[sample.other] == group[sample.texts[sample.of]])
    return Grouped(size, np.bincount(sample.of[inside], minlength=n), np.minimum(open_, sample.open))


@dataclass(frozen=True)
class Draws:
    """Draws of the positives among the pairs of each text that are not labelled, (draws, n, h) int64."""

    unseen: np.ndarray
    sample: Sample

    def entities(self) -> np.ndarray:
        """Return how many texts are of each drawn text's entity and can match it, and itself, (draws, n)."""
        return 1 + self.sample.partners + self.unseen.sum(2)

    def right(self, groups: Grouped, rng: np.random.Generator) -> np.ndarray:
        """Draw how many of each drawn text's group are of its entity, itself included, (draws, n)."""
        share = groups.open / np.maximum(self.sample.open, 1)
        return np.asarray(1 + groups.right + rng.binomial(self.unseen, share).sum(2))


def draw_unseen(sample: Sample, rng: np.random.Generator, draws: int = DRAWS) -> Draws:
    """Draw the positives that nobody labelled: each band's number from the shares of the audit's model, spread evenly.

    `stratum_rates` has that model.
    """
    every = np.ones(len(sample.of), dtype=bool)
    labels = sample.counts(every).sum(0)
    positives = sample.counts(sample.positive).sum(0)
    kept = sample.sizes.sum(0) > 0  # a band without pairs of these texts has no share
    open_ = sample.open
    unseen = np.zeros((draws, *open_.shape), dtype=np.int64)
    sizes = sample.sizes.sum(0)[kept]
    rates = draw_rates(positives[kept].astype(float), labels[kept].astype(float), sizes, draws, rng)
    for band, rate in zip(np.flatnonzero(kept).tolist(), rates.T, strict=True):
        total = int(open_[:, band].sum())
        if total:
            many = rng.binomial(total, rate)
            unseen[:, :, band] = rng.multinomial(many, open_[:, band] / total)
    return Draws(unseen, sample)
