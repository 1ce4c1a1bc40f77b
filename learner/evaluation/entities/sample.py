"""The labelled pairs of drawn texts, and draws of how many of their other pairs are positives, too."""

from dataclasses import dataclass

import numpy as np

from allpairs.learner.evaluation.audit.stratum_rates import draw_rates
from allpairs.learner.evaluation.entities.drawing import Bands, Plan, TextPopulation

DRAWS = 1_000


@dataclass(frozen=True)
class LabelledPairs:
    """A table of labelled pairs, one a row, (m,) each.

    drawn_text: which drawn text the pair belongs to, from 0; partner: its other text; band: the pair's, h for one of
    the text's group beside its candidates; positive: bool.
    """

    drawn_text: np.ndarray
    partner: np.ndarray
    band: np.ndarray
    positive: np.ndarray

    def __len__(self) -> int:
        return len(self.drawn_text)


@dataclass(frozen=True)
class EntitySample:
    """Drawn texts and their labelled pairs.

    texts: (n,) drawn; weight: (n,) how many texts each stands for; sizes: (n, h) its pairs in each band.
    """

    corpus: TextPopulation
    bands: Bands
    texts: np.ndarray
    weight: np.ndarray
    sizes: np.ndarray
    pairs: LabelledPairs

    def counts(self, chosen: np.ndarray) -> np.ndarray:
        """Return how many of the chosen labelled pairs, (m,) bool, each text has in each band, (n, h) int64."""
        n, h = self.sizes.shape
        inside = chosen & (self.pairs.band < h)
        return np.bincount(self.pairs.drawn_text[inside] * h + self.pairs.band[inside], minlength=n * h).reshape(n, h)

    @classmethod
    def answered(cls, corpus: TextPopulation, plan: Plan, entity: np.ndarray) -> "EntitySample":
        """Return the plan's texts with all their pairs answered by the true entity of each text, (N,)."""
        drawn_text = np.repeat(np.arange(len(plan.texts)), [len(pairs.partner) for pairs in plan.pairs])
        partner = np.concatenate([pairs.partner for pairs in plan.pairs])
        band = np.concatenate([pairs.band for pairs in plan.pairs])
        sizes = np.array([pairs.sizes for pairs in plan.pairs])
        positive = entity[partner] == entity[plan.texts[drawn_text]]
        return cls(
            corpus, plan.bands, plan.texts, plan.weight, sizes, LabelledPairs(drawn_text, partner, band, positive)
        )

    @property
    def open(self) -> np.ndarray:
        """How many pairs of each text in each band are not labelled, (n, h) int64."""
        return np.maximum(self.sizes - self.counts(np.ones(len(self.pairs), dtype=bool)), 0)

    @property
    def partners(self) -> np.ndarray:
        """How many of the labelled pairs of each text are positives, (n,) int64."""
        return np.bincount(self.pairs.drawn_text[self.pairs.positive], minlength=len(self.texts))


@dataclass(frozen=True)
class Grouped:
    """How a sample's texts are grouped.

    size: (n,) texts of each drawn text's group that it can match, and itself; right: (n,) how many of them are known
    partners; open: (n, h) how many are in each band and not labelled.
    """

    size: np.ndarray
    right: np.ndarray
    open: np.ndarray


def grouped(sample: EntitySample, group: np.ndarray) -> Grouped:
    """Return how the texts are grouped; group: (N,) of each text of the corpus."""
    pairs = sample.pairs
    size = np.ones(len(sample.texts), dtype=np.int64)
    unlabelled = []
    for place, text in enumerate(sample.texts.tolist()):
        members = sample.corpus.partners(text)
        members = members[group[members] == group[text]]
        size[place] += len(members)
        labelled = pairs.partner[pairs.drawn_text == place]
        unlabelled.append(np.column_stack([np.full(len(members), place), members])[~np.isin(members, labelled)])
    drawn_text, partner = np.concatenate(unlabelled).T
    scores = sample.corpus.scores(sample.texts[drawn_text], partner)
    n, h = sample.sizes.shape
    open_ = np.bincount(drawn_text * h + sample.bands.of(scores), minlength=n * h).reshape(n, h)
    inside = pairs.positive & (group[pairs.partner] == group[sample.texts[pairs.drawn_text]])
    return Grouped(size, np.bincount(pairs.drawn_text[inside], minlength=n), np.minimum(open_, sample.open))


@dataclass(frozen=True)
class Draws:
    """Draws of the positives among the pairs of each text that are not labelled, (draws, n, h) int64."""

    unseen: np.ndarray
    sample: EntitySample

    def entities(self) -> np.ndarray:
        """Return how many texts are of each drawn text's entity and can match it, and itself, (draws, n)."""
        return 1 + self.sample.partners + self.unseen.sum(2)

    def right(self, groups: Grouped, rng: np.random.Generator) -> np.ndarray:
        """Draw how many of each drawn text's group are of its entity, itself included, (draws, n)."""
        share = groups.open / np.maximum(self.sample.open, 1)
        return np.asarray(1 + groups.right + rng.binomial(self.unseen, share).sum(2))


def draw_unseen(sample: EntitySample, rng: np.random.Generator, draws: int = DRAWS) -> Draws:
    """Draw the positives that nobody labelled: each band's number from the shares of the audit's model, spread evenly.

    `stratum_rates` has that model.
    """
    labels = sample.counts(np.ones(len(sample.pairs), dtype=bool)).sum(0)
    positives = sample.counts(sample.pairs.positive).sum(0)
    nonempty = sample.sizes.sum(0) > 0  # a band without pairs of these texts has no share
    open_ = sample.open
    unseen = np.zeros((draws, *open_.shape), dtype=np.int64)
    sizes = sample.sizes.sum(0)[nonempty]
    rates = draw_rates(positives[nonempty].astype(float), labels[nonempty].astype(float), sizes, draws, rng)
    for band, rate in zip(np.flatnonzero(nonempty).tolist(), rates.T, strict=True):
        total = int(open_[:, band].sum())
        if total:
            many = rng.binomial(total, rate)
            unseen[:, :, band] = rng.multinomial(many, open_[:, band] / total)
    return Draws(unseen, sample)
