"""Order a batch by a re-ranker. The strategy alone decides which pairs are in it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import rankdata

from allpairs.db.domain import BatchOrder, Settings
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress
from allpairs.learner.loop.round import Batch
from allpairs.learner.scorers.scorer import load_rerank_scorer


def in_order(
    batch: Batch, size: int, texts: Sequence[str], settings: Settings, progress: Progress
) -> tuple[Batch, str]:
    """Return the batch with its first `size` pairs in the re-ranker's order, and a note for the user.

    Pairs in reserve keep the strategy's order: few of them are ever labelled. If the re-ranker cannot be loaded, the
    batch is returned unchanged.
    """
    if not settings.reranker or not size:
        return batch, ""
    own = batch.pairs.take(np.arange(size))
    try:
        score = load_rerank_scorer(settings.reranker, texts).score(own.left, own.right, progress)
    except InputError as problem:
        return batch, f"The re-ranker could not order the batch, which keeps the strategy's order: {problem}."
    order = ordering(score, own.score, settings.batch_order)
    places = np.concatenate([order, np.arange(size, len(batch.pairs))])
    return replace(batch, pairs=batch.pairs.take(places), rerank=score[order]), ""


def ordering(rerank: np.ndarray, score: np.ndarray, how: BatchOrder) -> np.ndarray:
    """Return the positions (n,) in the order in which pairs are labelled; the sort is stable.

    The most contested pairs are those whose ranks under the two scores (n,) differ most: the scales cannot be compared.
    """
    if how == "likely first":
        return np.argsort(-rerank, kind="stable")
    ranks = [rankdata(-scores, method="ordinal") for scores in (rerank, score)]
    return np.argsort(-np.abs(ranks[0] - ranks[1]), kind="stable")
