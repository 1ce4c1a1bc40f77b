"""Make a matcher's reference from its corpus, and measure how far p moves for texts that the corpus lacks."""

from dataclasses import dataclass, replace

import numpy as np

from db.domain import Distance
from learner.data.dataset import Dataset
from learner.models.output_layer import OutputLayer
from learner.scoring.hubness import NEIGHBOURS, weight_of
from learner.scoring.matcher import Matcher
from learner.scoring.reference import MOVES, NOTHING, ListReference, Reference, digests_of, near_sample
from learner.scoring.score import Blend, lacking_of
from learner.search.inner_product import Space

SAMPLE = 10_000  # texts of each list whose vectors are kept: 8 MB, with lexical features 18 MB
MOST_KNOWN = 1_000_000  # texts of each list whose hubness is kept: 12 MB
HELD = 1_000  # texts of each list on which the sample is compared with the whole list
COMPARED = 100_000  # texts of the other list among which the best pair of such a text is looked for


@dataclass(frozen=True)
class _Corpus:
    """A dataset with its blended vectors (texts, d), and the offset (texts,) that they have besides hubness."""

    dataset: Dataset
    vectors: np.ndarray
    lacking: np.ndarray
    space: Space

    def bare(self, rows: np.ndarray) -> np.ndarray:
        """Return the vectors of these rows without the hubness correction, (n, d)."""
        part: np.ndarray = self.vectors[rows]
        part[:, -1] = self.lacking[rows]
        return part

    def hubness(self, rows: np.ndarray) -> np.ndarray:
        """Return what hubness subtracts from the scores of these rows, (n,)."""
        return np.asarray(self.vectors[rows, -1] - self.lacking[rows], dtype=np.float32)


@dataclass(frozen=True)
class _Side:
    """The rows of a list and of the other one, and the sample of the other one that is kept."""

    rows: np.ndarray
    others: np.ndarray
    sample: np.ndarray
    of_left: bool

    @property
    def is_whole(self) -> bool:
        """Whether the sample is the whole other list."""
        return len(self.sample) == len(self.others)


def make_reference(
    dataset: Dataset,
    vectors: np.ndarray,
    blend: Blend,
    layer: OutputLayer,
    rng: np.random.Generator,
    distance: Distance = "cosine",
) -> Reference:
    """Make the reference of a corpus from its blended vectors (texts, d), as `learner.scoring.score.blended` has them.

    layer: turns scores into the p whose moves are measured.
    """
    terms = dataset.terms if blend.lexical else None
    if not blend.hubness:
        return Reference(NOTHING, NOTHING, terms, {})
    corpus = _Corpus(dataset, vectors, lacking_of(dataset, blend), Space(distance, offset=True))
    left, right = dataset.left, dataset.right
    samples = [_some(rows, SAMPLE, rng) for rows in ([left] if dataset.symmetric else [left, right])]
    sides = [_Side(left, right, samples[-1], of_left=True), _Side(right, left, samples[0], of_left=False)]
    made, moved = [], []
    for side, sample in zip(sides, samples, strict=False):  # one of both if there is one list
        one, moves = _list(corpus, side, sample, blend.hubness, layer, rng)
        made.append(one)
        moved.append(moves)
    return Reference(made[0], made[-1], terms, _summary(np.concatenate(moved)))


def _list(
    corpus: _Corpus, side: _Side, sample: np.ndarray, weight: float, layer: OutputLayer, rng: np.random.Generator
) -> tuple[ListReference, np.ndarray]:
    """Return what is kept of a list, and how far p moves for texts of it if they were not known."""
    kept, weight = side.rows[:MOST_KNOWN], weight_of(weight, side.rows, side.others)
    known, first = np.unique(digests_of([corpus.dataset.texts[row] for row in kept]), return_index=True)
    one = ListReference(known, corpus.hubness(kept)[first], corpus.bare(sample).astype(np.float16), weight)
    held = _some(side.rows if side.is_whole else np.setdiff1d(side.rows, side.sample), HELD, rng)
    means = _means(corpus, held, side)
    if not len(means):
        return one, means
    if not side.is_whole:
        one = one.fitted(means, corpus.hubness(held))
    compared = replace(side, others=_some(side.others, COMPARED, rng))
    return one, _moves(corpus, held, compared, one.hubness_by(means) - corpus.hubness(held), layer)


def _some(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _means(corpus: _Corpus, rows: np.ndarray, side: _Side) -> np.ndarray:
    """Return the mean score of each row with its nearest texts of the sample but itself, (n,); empty without any."""
    itself = corpus.dataset.symmetric
    sample = corpus.bare(side.sample).astype(np.float16)
    near = near_sample(corpus.bare(rows), sample, corpus.space, side.of_left, NEIGHBOURS + itself)
    if near.shape[1] <= itself:
        return np.empty(0, dtype=np.float32)
    inside = np.isin(rows, side.sample) & itself
    # A row of the sample finds itself first: no text is more like it.
    return np.where(inside, near[:, itself:].mean(1), near[:, :NEIGHBOURS].mean(1))


def _moves(corpus: _Corpus, held: np.ndarray, side: _Side, more: np.ndarray, layer: OutputLayer) -> np.ndarray:
    """Return how far p of each held text's best pair moves if this much more is subtracted from its score, (n,)."""
    itself = corpus.dataset.symmetric
    others = side.others[~np.isin(side.others, held)] if itself else side.others
    if not len(others):
        return np.empty(0)
    best = near_sample(corpus.vectors[held], corpus.vectors[others], corpus.space, side.of_left, 1)[:, 0]
    return np.abs(layer.probability(best - more) - layer.probability(best))


def _summary(moved: np.ndarray) -> dict[str, float]:
    if not len(moved):
        return {}
    figures = len(moved), moved.mean(), np.quantile(moved, 0.95), moved.max()
    return {name: round(float(figure), 5) for name, figure in zip(MOVES, figures, strict=True)}


def with_reference(matcher: Matcher, dataset: Dataset, vectors: np.ndarray, rng: np.random.Generator) -> Matcher:
    """Return the matcher with the reference of its corpus, where its score needs one; vectors: its blended ones."""
    if matcher.layer is None or not matcher.blend.needs_all:
        return matcher
    distance = matcher.encoder.distance
    return replace(matcher, reference=make_reference(dataset, vectors, matcher.blend, matcher.layer, rng, distance))
