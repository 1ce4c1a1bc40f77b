"""The input of strategies: candidates found by search, all other pairs to draw from, and in simulations gold."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from allpairs.learner.data.dataset import Dataset
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.exact import Pairs, count_pairs, pairs_numbered
from allpairs.learner.search.nearest import Near

Draw = Callable[[int, np.random.Generator], Pairs]


def no_labels() -> Labelled:
    """Return labels of no pair."""
    return Labelled(*(np.empty(0, dtype=np.int64) for _ in range(3)))


@dataclass(frozen=True)
class GoldPairs:
    """Unlabelled training pairs whose class is known, for baselines: only a simulation has it.

    positives: all of them; known: those, and the known negatives; negatives(n, rng): n distinct pairs drawn uniformly
    from all that are not positives; composition: how many positives and negatives the batch has.
    """

    positives: Pairs
    known: Pairs
    negatives: Draw
    composition: tuple[int, int] | None = None


@dataclass(frozen=True)
class Background:
    """Further input of a strategy besides the newest model.

    labelled: the pairs labelled so far; pretrained: (texts, d) vectors under the pre-trained encoder; gold: in
    simulations, for baseline strategies.
    """

    labelled: Labelled = field(default_factory=no_labels)
    pretrained: np.ndarray | None = None
    gold: GoldPairs | None = None


@dataclass(frozen=True)
class Pool:
    """What a strategy may choose from, and what it may know.

    find: searches near unlabelled pairs; layer: the newest output layer (None before training); draw(n, rng): n
    distinct pairs drawn uniformly from all unlabelled pairs; first: pairs in the first batch.
    """

    find: Callable[[], Near]
    layer: OutputLayer | None
    draw: Draw
    first: int
    background: Background = field(default_factory=Background)

    @cached_property
    def near(self) -> Near:
        """Unlabelled pairs from a nearest-neighbour search, each once; searched on first use."""
        return self.find()

    @property
    def candidates(self) -> Pairs:
        """The pairs of `near`."""
        return self.near.pairs

    @property
    def searched(self) -> Near | None:
        """`near`, if it was used."""
        return self.__dict__.get("near")


def draw_training_pairs(dataset: Dataset, known: np.ndarray, n: int, rng: np.random.Generator) -> Pairs:
    """Draw n distinct training pairs, without a score (0), uniformly from those whose key is not known.

    Fewer if fewer exist.
    """
    rows = dataset.train_left
    columns = dataset.train_right
    total = count_pairs(len(rows), len(columns), dataset.symmetric)
    # Among n + |known| distinct pairs at least n are not known.
    numbers = rng.choice(total, size=min(total, n + len(known)), replace=False)
    at_left, at_right = pairs_numbered(numbers, len(rows), len(columns), dataset.symmetric)
    left = rows[at_left]
    right = columns[at_right]
    unknown = ~np.isin(dataset.keys(left, right), known)
    return unscored(left[unknown][:n], right[unknown][:n])


def gold_of(dataset: Dataset, known: np.ndarray, composition: tuple[int, int] | None = None) -> GoldPairs:
    """Return the gold of the training pairs whose key is not known; closure overrides given negatives."""
    keys = dataset.keys(*dataset.positives.T)
    barred = np.union1d(keys, known)
    positives = dataset.positives[_free(dataset, dataset.positives, known)]
    negatives = dataset.known_pairs[dataset.known_pairs[:, 2] == 0, :2]
    known_pairs = np.vstack([positives, negatives[_free(dataset, negatives, barred)]])
    return GoldPairs(
        unscored(*positives.T),
        unscored(*known_pairs.T),
        lambda n, rng: draw_training_pairs(dataset, barred, n, rng),
        composition,
    )


def _free(dataset: Dataset, pairs: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return which of the pairs (k, 2) are training pairs whose key is not known."""
    left, right = pairs.T
    inside = np.isin(left, dataset.train_left) & np.isin(right, dataset.train_right)
    free: np.ndarray = inside & ~np.isin(dataset.keys(left, right), known)
    return free


def unscored(left: np.ndarray, right: np.ndarray) -> Pairs:
    """Return pairs of these rows with a score of 0, to be scored when they are chosen."""
    return Pairs(left, right, np.zeros(len(left), dtype=np.float32))


def joined_pairs(*parts: Pairs) -> Pairs:
    """Return the pairs of all parts, one part after another."""
    return Pairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("left", "right", "score")))
