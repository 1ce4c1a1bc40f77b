"""Draw texts for an entity audit, and the pairs of each that people label.

All pairs are in bands by score. Of a drawn text, all pairs in the upper bands are labelled (its candidates), all pairs
within its group, and a random share of the pairs in each lower band, to estimate what was missed.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from allpairs.learner.evaluation.audit.ranking import Ranking
from allpairs.learner.evaluation.audit.sides import Sides, pair_numbers

CANDIDATES = 5  # pairs of a text in the upper bands, on average
UPPER = 5  # upper bands, each half as deep as the next: the fall of the shares is learned from them
BELOW = 3  # pairs of a text that are drawn from all lower bands together, on average
DEEPER = 4  # times as deep as the one above it is each lower band
MOST_OF_GROUP = 30  # texts of a text's group, beside its candidates, that are compared with it
LARGEST = 16  # texts of a group: its square root is how often a text is drawn, beside one alone (docs/log.md)


@dataclass(frozen=True)
class Bands:
    """Bands of all pairs by score, the highest first.

    edges: (h,) lowest score of each, descending, −inf for the last; share: (h,) of its pairs that are drawn, 1 for the
    upper bands.
    """

    edges: np.ndarray
    share: np.ndarray

    def of(self, scores: np.ndarray) -> np.ndarray:
        """Return the band of each score, of any shape."""
        return np.searchsorted(-self.edges[:-1], -np.asarray(scores, dtype=np.float64))


def make_bands(ranking: Ranking, texts: int) -> Bands:
    """Return the bands for this many texts; ranking: of all their pairs."""
    upper = CANDIDATES * texts / 2
    ends = [*(upper / 2**halvings for halvings in range(UPPER - 1, -1, -1))]
    while ends[-1] * (DEEPER + 2) < ranking.pairs:
        ends.append(ends[-1] * DEEPER)
    ends = [end for end in ends if 1 <= end < ranking.pairs]
    edges = np.unique(ranking.score(np.array(ends)))[::-1] if ends else np.empty(0)
    reached = np.r_[ranking.rank(edges), ranking.pairs] if len(edges) else np.array([float(ranking.pairs)])
    lower = reached > 1.5 * upper  # an edge reaches a few pairs more than wanted; with many equal scores, far more
    pairs_a_text = 2 * np.diff(reached, prepend=0) / texts  # pairs of a text in each band, on average
    share = np.where(lower, np.minimum(1.0, BELOW / max(lower.sum(), 1) / np.maximum(pairs_a_text, 1e-9)), 1.0)
    return Bands(np.r_[edges, -np.inf], share)


@dataclass(frozen=True)
class TextPopulation:
    """All texts that can be drawn: of one list as in it, of two lists the left ones and then the right ones."""

    sides: Sides
    seed: int

    @cached_property
    def ids(self) -> np.ndarray:
        """The items' ids, (n,) int64."""
        return self.sides.left_ids if self.sides.symmetric else np.r_[self.sides.left_ids, self.sides.right_ids]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def second(self) -> np.ndarray | None:
        """Which texts are of the second of two lists, (n,) bool; None for one list."""
        return None if self.sides.symmetric else np.arange(len(self)) >= len(self.sides.left)

    def partners(self, text: int) -> np.ndarray:
        """Return the texts that this one can match, ascending."""
        lefts = len(self.sides.left)
        if self.sides.symmetric:
            return np.delete(np.arange(lefts), text)
        return np.arange(lefts, len(self)) if text < lefts else np.arange(lefts)

    def rows(self, text: np.ndarray, partner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs of texts as rows of the left and of the right side."""
        low = np.minimum(text, partner)
        high = np.maximum(text, partner)
        return low, high if self.sides.symmetric else high - len(self.sides.left)

    def scores(self, text: np.ndarray, partner: np.ndarray) -> np.ndarray:
        """Return the score of each pair of texts, (n,)."""
        return self.sides.scores(*self.rows(text, partner))

    def scores_of(self, text: int) -> np.ndarray:
        """Return the scores of the text with all its partners, (k,) float32."""
        partner = self.partners(text)
        lefts = len(self.sides.left)
        if text < lefts:
            products = self.sides.right @ self.sides.left[text]
            products = products[partner] if self.sides.symmetric else products
        else:
            products = self.sides.left @ self.sides.right[text - lefts]
        return self.sides.rescored.replace(*self.rows(np.full(len(partner), text), partner), products)

    def numbers(self, text: np.ndarray, partner: np.ndarray) -> np.ndarray:
        """Return the permanent random number of each pair of texts, (n,)."""
        left, right = self.rows(text, partner)
        return self.sides.numbers(left, right, self.seed)


@dataclass(frozen=True)
class TextOrder:
    """The order in which texts are drawn, and by which the chance of each to be among the first is known.

    texts: (n,) as drawn; key: (n,) ascending exponential times, at the rates of `rate` (n,).
    """

    texts: np.ndarray
    key: np.ndarray
    rate: np.ndarray

    def weights(self, drawn: int) -> np.ndarray:
        """Return how many texts each of the first `drawn` ones stands for, (drawn,): the inverse of its chance."""
        if drawn >= len(self.texts):
            return np.ones(len(self.texts))
        weight = 1 / -np.expm1(-self.rate[:drawn] * self.key[drawn])
        return np.maximum(weight * len(self.texts) / weight.sum(), 1.0)


def draw_order(corpus: TextPopulation, group: np.ndarray) -> TextOrder:
    """Return the order of all texts; group: (n,) of each, whose size, up to 16, says how often it is drawn.

    Every text has a permanent random number, so that orders by other groups begin much the same. Sampling by the first
    exponential times is that of Efraimidis and Spirakis (2006).
    """
    size = np.bincount(group, minlength=len(corpus))[group]
    rate = np.sqrt(np.minimum(size, LARGEST))
    number = pair_numbers(corpus.ids, np.zeros_like(corpus.ids), corpus.seed)
    key = -np.log1p(-number) / rate
    order = np.argsort(key, kind="stable")
    return TextOrder(order, key[order], rate[order])


@dataclass(frozen=True)
class TextPairs:
    """The pairs of a drawn text that people label.

    partner, band: (k,) its partners and their bands; the band after the last one: those of its group that lie in lower
    bands. sizes: (h,) all its pairs in each band, without these.
    """

    partner: np.ndarray
    band: np.ndarray
    sizes: np.ndarray


def draw_pairs(corpus: TextPopulation, bands: Bands, group: np.ndarray, text: int) -> TextPairs:
    """Return the pairs of this text that are drawn, the most similar first; group: (n,) of each text."""
    partner = corpus.partners(text)
    scores = corpus.scores_of(text)
    band = bands.of(scores)
    last = len(bands.share)
    inside = (group[partner] == group[text]) | (
        scores == scores.max(initial=-np.inf)
    )  # it is compared with one at least
    extra = np.flatnonzero(inside & (bands.share[band] < 1))
    band[extra[np.argsort(-scores[extra], kind="stable")][:MOST_OF_GROUP]] = last
    share = np.r_[bands.share, 1.0][band]
    number = np.zeros(len(partner))
    lower = share < 1
    number[lower] = corpus.numbers(np.full(lower.sum(), text), partner[lower])
    drawn = np.flatnonzero(number <= share)
    drawn = drawn[np.argsort(-scores[drawn], kind="stable")]
    return TextPairs(partner[drawn], band[drawn], np.bincount(band, minlength=last + 1)[:last])


@dataclass(frozen=True)
class Plan:
    """Drawn texts and the pairs of each, as numbers of the corpus. weight: (n,) as in `Sample`."""

    bands: Bands
    texts: np.ndarray
    weight: np.ndarray
    pairs: list[TextPairs]


def draw_plan(corpus: TextPopulation, ranking: Ranking, group: np.ndarray, n: int) -> Plan:
    """Draw n texts and their pairs; ranking: of all pairs; group: (N,) of each text."""
    bands = make_bands(ranking, len(corpus))
    order = draw_order(corpus, group)
    texts = order.texts[:n]
    pairs = [draw_pairs(corpus, bands, group, text) for text in texts.tolist()]
    return Plan(bands, texts, order.weights(len(texts)), pairs)
