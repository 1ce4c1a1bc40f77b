"""What strategies choose from: candidates found by search, all other pairs to draw from, and in simulations gold."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from learner.data.dataset import Dataset
from learner.models.cosine_bert import Labelled
from learner.models.output_layer import OutputLayer
from learner.search.exact import Pairs, count_pairs, pairs_numbered
from learner.search.nearest import Near

Draw = Callable[[int, np.random.Generator], Pairs]


def no_labels() -> Labelled:
    """Labels of no pair."""
    return Labelled(*(np.empty(0, dtype=np.int64) for _ in range(3)))


@dataclass(frozen=True)
class Gold:
    """Unlabelled training pairs whose class is known, for baselines: only a simulation has it.

    positives: all of them; stated: those, and the negatives that the data states; negatives(n, rng): n distinct pairs
    drawn uniformly from all that are not positives; composition: how many positives and negatives the batch has.
    """

    positives: Pairs
    stated: Pairs
    negatives: Draw
    composition: tuple[int, int] | None = None


@dataclass(frozen=True)
class Background:
    """What a strategy may know beside the newest model.

    labelled: the pairs labelled so far; pretrained: (texts, d) vectors under the pre-trained encoder; gold: in
    simulations, for those strategies that are baselines.
    """

    labelled: Labelled = field(default_factory=no_labels)
    pretrained: np.ndarray | None = None
    gold: Gold | None = None


@dataclass(frozen=True)
class Pool:
    """What a strategy may choose from, and what it may know.

    find: searches near unlabelled pairs; layer: the newest output layer (none while nothing is trained); draw(n, rng):
    n distinct pairs drawn uniformly from all unlabelled pairs; vectors: (texts, d) under the newest model.
    """

    find: Callable[[], Near]
    layer: OutputLayer | None
    draw: Draw
    vectors: np.ndarray
    background: Background = field(default_factory=Background)

    @cached_property
    def near(self) -> Near:
        """Unlabelled pairs found by nearest-neighbour search, each once; searched when first asked for."""
        return self.find()

    @property
    def candidates(self) -> Pairs:
        """The pairs of `near`."""
        return self.near.pairs

    @property
    def searched(self) -> Near | None:
        """`near`, where somebody asked for it."""
        return self.__dict__.get("near")


def draw_pairs(dataset: Dataset, known: np.ndarray, n: int, rng: np.random.Generator) -> Pairs:
    """n distinct training pairs, without a score (0), drawn uniformly from those whose key is not known.

    Fewer where fewer exist.
    """
    rows, columns = dataset.train_left, dataset.train_right
    total = count_pairs(len(rows), len(columns), dataset.symmetric)
    # Among n + |known| distinct pairs at least n are not known.
    numbers = rng.choice(total, size=min(total, n + len(known)), replace=False)
    at_left, at_right = pairs_numbered(numbers, len(rows), len(columns), dataset.symmetric)
    left, right = rows[at_left], columns[at_right]
    unknown = ~np.isin(dataset.keys(left, right), known)
    return unscored(left[unknown][:n], right[unknown][:n])


def gold_of(dataset: Dataset, known: np.ndarray, composition: tuple[int, int] | None = None) -> Gold:
    """The gold of the training pairs whose key is not known. Closure makes a stated negative a positive."""
    keys = dataset.keys(*dataset.positives.T)
    barred = np.union1d(keys, known)
    positives = dataset.positives[_free(dataset, dataset.positives, known)]
    negatives = dataset.stated[dataset.stated[:, 2] == 0, :2]
    stated = np.vstack([positives, negatives[_free(dataset, negatives, barred)]])
    return Gold(
        unscored(*positives.T), unscored(*stated.T), lambda n, rng: draw_pairs(dataset, barred, n, rng), composition
    )


def _free(dataset: Dataset, pairs: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Which of the pairs (k, 2) are training pairs whose key is not known."""
    left, right = pairs.T
    inside = np.isin(left, dataset.train_left) & np.isin(right, dataset.train_right)
    free: np.ndarray = inside & ~np.isin(dataset.keys(left, right), known)
    return free


def unscored(left: np.ndarray, right: np.ndarray) -> Pairs:
    """Pairs of these rows with a score of 0, to be scored when they are chosen."""
    return Pairs(left, right, np.zeros(len(left), dtype=np.float32))


def joined(*parts: Pairs) -> Pairs:
    """The pairs of all parts, one part after another."""
    return Pairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("left", "right", "score")))
