"""A model's figures over all pairs of files, from the audit labels of a file."""

from dataclasses import replace

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.evaluation.audit.label_files import AuditLabels
from allpairs.learner.evaluation.audit.measure import LEAST, View, labels_needed, measure, strata_table
from allpairs.learner.evaluation.audit.ranking import rank_all
from allpairs.learner.evaluation.audit.sample import draw_posterior
from allpairs.learner.evaluation.exact import AllPairs
from allpairs.learner.scorers.scorer import VectorScorer
from allpairs.learner.search.inner_product import as_left, as_right


def measure_labels(
    dataset: Dataset,
    scorer: VectorScorer,
    labels: AuditLabels,
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> AllPairs:
    """Return the model's figures over all pairs. Raises InputError if any stratum has fewer than five labels."""
    left = as_left(scorer.vectors[dataset.evaluation_left], scorer.space)
    right = as_right(scorer.vectors[dataset.evaluation_right], scorer.space)
    rescored = scorer.rescored.within(dataset.evaluation_left, dataset.evaluation_right)
    ranking = rank_all(left, right, dataset.symmetric, progress, rescored=rescored)
    sample = labels.sample()
    if missing := labels_needed(sample.labels, sample.sizes):
        problem = f"{len(labels.positive):,} labels in {len(sample.sizes)} strata"
        raise InputError(f"{problem} are too few: label {missing} more, so that every stratum has {LEAST}")
    layer = scorer.layer
    view = View(ranking, scorer.score(labels.left, labels.right), layer.threshold if layer else None)
    posterior = draw_posterior(sample, rng, ranks=view.ranks[:, None])
    rows = strata_table(sample, posterior)
    named = [{"name": f"stratum {at}"} | row for at, row in enumerate(rows, start=1)]
    return replace(measure(sample, posterior, view, rng), strata=named)
