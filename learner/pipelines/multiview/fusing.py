"""Fit the fusion of a first stage's scores with a re-ranker's to training queries that trained nothing."""

from collections.abc import Mapping

import numpy as np

from allpairs.learner.backbones.reranking.fusion import Fusion, fit_fusion
from allpairs.learner.pipelines.multiview.first import first_scores, found_passages
from allpairs.learner.pipelines.multiview.inputs import TestSet
from allpairs.learner.pipelines.pipeline import Run


def fitted(run: Run, fitting: TestSet, scores: np.ndarray | None = None) -> Fusion | None:
    """Return the fusion, fitted to the candidates of these queries; None if all are right, or all wrong.

    scores: the re-ranker's scores (n, k); without them cosine and BM25 are joined alone.
    """
    near = found_passages(run, fitting.name)
    right = np.array(
        [[passage in gold for passage in row] for row, gold in zip(near.tolist(), fitting.gold, strict=True)]
    )
    real = near >= 0
    if len(np.unique(right[real])) < 2:
        return None
    return fit_fusion(right[real], first_scores(run, fitting.name)[real], None if scores is None else scores[real])


def fused_scores(
    run: Run, fitting: TestSet, name: str, scores: Mapping[str, np.ndarray] | None = None
) -> np.ndarray | None:
    """Return the joined scores (n, k) of the candidates of a set of queries; None if nothing can be fitted.

    scores: the re-ranker's scores by set of queries, the fitted one's among them.
    """
    fusion = fitted(run, fitting, None if scores is None else scores[fitting.name])
    if fusion is None:
        return None
    return fusion.join(first_scores(run, name), None if scores is None else scores[name])
