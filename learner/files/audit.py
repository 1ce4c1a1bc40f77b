"""Draw the pairs of an audit from all pairs of files: which to label, so that few labels measure any matcher."""

from dataclasses import dataclass

import numpy as np

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.equal_texts import further_ids
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.data.lexical_features import lexical_vectors
from allpairs.learner.evaluation.audit.allocation import allocate
from allpairs.learner.evaluation.audit.ranking import rank_all
from allpairs.learner.evaluation.audit.sampling_order import make_sampling_order
from allpairs.learner.evaluation.audit.sides import Sides
from allpairs.learner.evaluation.audit.strata import divide, rank_bands
from allpairs.learner.files.evaluate import Model, dataset_for, load_vector_scorer
from allpairs.learner.scorers.scorer import VectorScorer
from allpairs.learner.search.inner_product import as_left, as_right


@dataclass(frozen=True)
class DrawnPairs:
    """Pairs to label (n,): positions of items, stratum and band from 1 (the highest), its size, and inclusion."""

    left: np.ndarray
    right: np.ndarray
    stratum: np.ndarray
    band: np.ndarray
    size: np.ndarray
    inclusion: np.ndarray


def draw_corpus_audit(
    model: Model, corpus: Corpus, pairs: int, seed: int, progress: Progress = no_progress
) -> DrawnPairs:
    """Draw this many pairs from strata of all pairs, ranked by the model; equally many from each stratum.

    model: a matcher or an encoder. Raises InputError if the model does not score by cosine, or if the pairs are too few
    for five in every stratum.
    """
    dataset = dataset_for(model, corpus)
    scorer = load_vector_scorer(model, dataset, progress)
    if scorer.space.distance != "cosine":
        problem = f"the model scores by {scorer.space.distance}, and an audit ranks by cosine"
        raise InputError(f"{problem}: name another model")
    return drawn_by(scorer, dataset, pairs, seed, progress)


def other_ids(corpus: Corpus, rows: np.ndarray) -> list[str]:
    """Return the ids of each of these texts after its first one, as `further_ids`."""
    return [further_ids(corpus.items[row].ids) for row in rows.tolist()]


def drawn_by(
    scorer: VectorScorer, dataset: Dataset, pairs: int, seed: int, progress: Progress = no_progress
) -> DrawnPairs:
    """Draw likewise from the evaluation pairs of a dataset, ranked by the scorer: rows of the dataset."""
    rows = dataset.evaluation_left
    columns = dataset.evaluation_right
    left = as_left(scorer.vectors[rows], scorer.space)
    right = as_right(scorer.vectors[columns], scorer.space)
    rescored = scorer.rescored.within(rows, columns)
    sides = Sides(left, right, rows, columns, dataset.symmetric, _lexical(dataset), rescored=rescored)
    ranking = rank_all(left, right, dataset.symmetric, progress, rescored=rescored)
    design = divide(rank_bands(ranking), sides, progress)
    order = make_sampling_order(sides, design, seed, progress)
    strata = len(design.sizes)
    if pairs < 5 * strata:
        raise InputError(f"{pairs} pairs are too few for {strata} strata: draw {5 * strata} or more")
    available = np.bincount(order.stratum, minlength=strata)
    counts = allocate(np.zeros(strata), available, None, pairs)
    first = np.searchsorted(order.stratum, np.arange(strata))
    positions = np.concatenate([np.arange(start, start + count) for start, count in zip(first, counts, strict=True)])
    stratum = order.stratum[positions]
    size = design.sizes[stratum]
    band = design.band[stratum] + 1
    return DrawnPairs(
        rows[order.left[positions]], columns[order.right[positions]], stratum + 1, band, size, counts[stratum] / size
    )


def _lexical(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return the `lexical_vectors` of both sides."""
    vectors = lexical_vectors(dataset.texts)
    return vectors[dataset.evaluation_left], vectors[dataset.evaluation_right]
