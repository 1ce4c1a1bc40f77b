"""Make a matcher's reference from its corpus, and measure how far p moves for texts outside the corpus."""

from dataclasses import dataclass, replace

import numpy as np

from allpairs.db.domain import Distance
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.hubness import NEIGHBOURS, hubness_weight
from allpairs.learner.scoring.matcher import PairModel
from allpairs.learner.scoring.reference import MOVES, NOTHING, ListReference, Reference, digests_of, near_sample
from allpairs.learner.scoring.score import Blend, lacking_of
from allpairs.learner.search.exact import neighbours
from allpairs.learner.search.inner_product import Space, as_left, as_right
from allpairs.learner.second_stage.competition import Competition

SAMPLE = 10_000  # texts of each list whose vectors are kept: 8 MB, with lexical features 18 MB
MOST_KNOWN = 1_000_000  # texts of each list whose hubness is kept: 12 MB
MOST_HELD_OUT = 1_000  # texts of each list, a tenth at most, that are taken as new to see what that changes
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
    """A list: its rows, the sample of it that is kept, and the rows that are taken as new to see what that changes."""

    rows: np.ndarray
    sample: np.ndarray
    held_out: np.ndarray


def make_reference(
    dataset: Dataset,
    vectors: np.ndarray,
    blend: Blend,
    layer: OutputLayer,
    rng: np.random.Generator,
    distance: Distance = "cosine",
    competition: Competition | None = None,
) -> Reference:
    """Make the reference of a corpus from its blended vectors (texts, d), as `learner.scoring.score.blended` has them.

    layer: turns scores into the p whose moves are measured. competition: of the texts, if there is a second stage.
    """
    terms = dataset.terms if blend.lexical or competition else None
    if not blend.hubness and competition is None:
        return Reference(NOTHING, NOTHING, terms, {})
    corpus = _Corpus(dataset, vectors, lacking_of(dataset, blend), Space(distance, offset=True))
    left = _side(dataset.left, rng)
    right = left if dataset.symmetric else _side(dataset.right, rng)
    more = np.zeros(len(vectors), dtype=np.float32)  # what is subtracted beyond the true hubness of texts taken as new
    references = []
    for side, opposite in [(left, right)] if dataset.symmetric else [(left, right), (right, left)]:
        weight = hubness_weight(blend.hubness, side.rows, opposite.rows)
        listed = _list(corpus, side, opposite, weight, of_left=side is left, more=more)
        references.append(
            listed if competition is None else _competing(listed, corpus, side, competition, side is left)
        )
    moved = [_moves(corpus, left, right, more, layer, rng, of_left=True)]
    if not dataset.symmetric:
        moved.append(_moves(corpus, right, left, more, layer, rng, of_left=False))
    return Reference(references[0], references[-1], terms, _summary(np.concatenate(moved)))


def _side(rows: np.ndarray, rng: np.random.Generator) -> _Side:
    sample = _some(rows, SAMPLE, rng)
    return _Side(rows, sample, _some(rows, min(MOST_HELD_OUT, -(-len(rows) // 10)), rng))


def _some(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _list(
    corpus: _Corpus, side: _Side, opposite: _Side, weight: float, of_left: bool, more: np.ndarray
) -> ListReference:
    """Return what is kept of a list; write to `more` how much hubness its held-out texts would gain as new ones."""
    rows = side.rows[:MOST_KNOWN]
    known, first = np.unique(digests_of([corpus.dataset.texts[row] for row in rows]), return_index=True)
    reference = ListReference(known, corpus.hubness(rows)[first], corpus.bare(side.sample).astype(np.float16), weight)
    # Texts of the other list that are taken as new are no neighbours either: neither list knows new texts.
    sample = np.setdiff1d(opposite.sample, opposite.held_out)
    if not len(sample):
        return reference
    near = near_sample(
        corpus.bare(side.held_out), corpus.bare(sample).astype(np.float16), corpus.space, of_left, NEIGHBOURS
    )
    true = corpus.hubness(side.held_out)
    if weight and len(opposite.sample) < len(opposite.rows):
        reference = reference.fitted(near.mean(1), true)
    more[side.held_out] = reference.hubness_by(near.mean(1)) - true
    return reference


def _competing(
    reference: ListReference, corpus: _Corpus, side: _Side, competition: Competition, of_left: bool
) -> ListReference:
    """Return the reference of a list with the best candidates of its texts."""
    rows = side.rows[:MOST_KNOWN]
    _, first = np.unique(digests_of([corpus.dataset.texts[row] for row in rows]), return_index=True)
    near = (competition.left if of_left else competition.right)[rows[first]]
    return replace(reference, near=near, sample_hubness=corpus.hubness(side.sample))


def _moves(
    corpus: _Corpus,
    side: _Side,
    opposite: _Side,
    more: np.ndarray,
    layer: OutputLayer,
    rng: np.random.Generator,
    of_left: bool,
) -> np.ndarray:
    """Return how far p of the best pair of each held text moves, (n,)."""
    candidates = _some(opposite.rows, COMPARED, rng)
    first, second = (as_left, as_right) if of_left else (as_right, as_left)
    queries = corpus.vectors[side.held_out]
    space = corpus.space
    near = neighbours(first(queries, space), second(corpus.vectors[candidates], space), 2, symmetric=False)
    rows = candidates[near.ids]
    itself = (rows[:, 0] == side.held_out) if corpus.dataset.symmetric else np.zeros(len(rows), dtype=bool)
    column = itself.astype(np.int64)
    usable = np.flatnonzero(column < rows.shape[1])
    best = near.scores[usable, column[usable]]
    partner = rows[usable, column[usable]]
    subtracted = more[side.held_out[usable]] + more[partner]
    return np.abs(layer.probability(best - subtracted) - layer.probability(best))


def _summary(moved: np.ndarray) -> dict[str, float]:
    if not len(moved):
        return {}
    figures = len(moved), moved.mean(), np.quantile(moved, 0.95), moved.max()
    return {name: round(float(figure), 5) for name, figure in zip(MOVES, figures, strict=True)}


def with_reference(
    matcher: PairModel,
    dataset: Dataset,
    vectors: np.ndarray,
    rng: np.random.Generator,
    competition: Competition | None = None,
) -> PairModel:
    """Return the matcher with the reference of its corpus, where its score needs one; vectors: its blended ones.

    competition: of the corpus's texts, if the matcher has a second stage.
    """
    if matcher.layer is None or not (matcher.blend.needs_all or matcher.second):
        return matcher
    distance = matcher.encoder.distance
    layer = matcher.layer
    reference = make_reference(dataset, vectors, matcher.blend, layer, rng, distance, competition)
    return replace(matcher, reference=reference)
