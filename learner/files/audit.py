"""Draw the pairs of an audit from all pairs of files: which to label, so that few labels measure any matcher."""

from dataclasses import dataclass

import numpy as np

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.evaluation.audit.allocation import allocate
from allpairs.learner.evaluation.audit.ranking import rank_all
from allpairs.learner.evaluation.audit.sampling_order import Sides, make_sampling_order
from allpairs.learner.evaluation.audit.strata import rank_bands
from allpairs.learner.files.evaluate import all_evaluation, load_vectors
from allpairs.learner.loop.simulate import dataset_of
from allpairs.learner.search.inner_product import as_left, as_right


@dataclass(frozen=True)
class Drawn:
    """Pairs to label (n,): positions of items, stratum from 1 (the highest scores), its size, and inclusion."""

    left: np.ndarray
    right: np.ndarray
    stratum: np.ndarray
    size: np.ndarray
    inclusion: np.ndarray


def draw_audit(model: str, corpus: Corpus, pairs: int, seed: int, progress: Progress = no_progress) -> Drawn:
    """Draw this many pairs from strata of all pairs, ranked by the model; equally many from each stratum.

    model: a matcher or an encoder. Raises InputError if the model does not score by cosine, or if the pairs are too few
    for five in every stratum.
    """
    dataset = dataset_of(all_evaluation(corpus))
    scorer = load_vectors(model, dataset, progress)
    if scorer.space.distance != "cosine":
        raise InputError(f"{model} scores by {scorer.space.distance}, and an audit ranks by cosine: name another model")
    rows, columns = dataset.evaluation_left, dataset.evaluation_right
    left, right = as_left(scorer.vectors[rows], scorer.space), as_right(scorer.vectors[columns], scorer.space)
    bands = rank_bands(rank_all(left, right, dataset.symmetric, progress))
    order = make_sampling_order(Sides(left, right, rows, columns, dataset.symmetric), bands, seed, progress)
    strata = len(bands.sizes)
    if pairs < 5 * strata:
        raise InputError(f"{pairs} pairs are too few for {strata} strata: draw {5 * strata} or more")
    available = np.bincount(order.stratum, minlength=strata)
    wanted = allocate(np.zeros(strata), available, None, pairs)
    first = np.searchsorted(order.stratum, np.arange(strata))
    at = np.concatenate([np.arange(start, start + count) for start, count in zip(first, wanted, strict=True)])
    stratum = order.stratum[at]
    size = bands.sizes[stratum]
    return Drawn(rows[order.left[at]], columns[order.right[at]], stratum + 1, size, wanted[stratum] / size)
