"""The order of a batch by a re-ranker: which pairs are in it stays the strategy's to say."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import rankdata

from db.domain import BatchOrder, Settings
from db.errors import InputError
from db.progress import Progress
from learner.loop.round import Batch
from learner.scorers.scorer import load_rerank_scorer


def in_order(
    batch: Batch, size: int, texts: Sequence[str], settings: Settings, progress: Progress
) -> tuple[Batch, str]:
    """The batch, its first `size` pairs as the project's re-ranker orders them; and what a person should know.

    Pairs in reserve keep their places: few of them are labelled, so there the strategy's choice is the order. Where
    the re-ranker cannot be had the batch is as it was.
    """
    if not settings.reranker or not size:
        return batch, ""
    own = batch.pairs.take(np.arange(size))
    try:
        score = load_rerank_scorer(settings.reranker, texts).score(own.left, own.right, progress)
    except InputError as problem:
        return batch, f"The batch is in the strategy's own order, no re-ranker's: {problem}."
    order = ordering(score, own.score, settings.batch_order)
    places = np.concatenate([order, np.arange(size, len(batch.pairs))])
    return replace(batch, pairs=batch.pairs.take(places), rerank=score[order]), ""


def ordering(rerank: np.ndarray, score: np.ndarray, how: BatchOrder) -> np.ndarray:
    """Positions (n,) in the order in which pairs are labelled; equal ones keep theirs.

    Contested is what has the most different ranks under both scores (n,): their scales cannot be compared.
    """
    if how == "likely first":
        return np.argsort(-rerank, kind="stable")
    ranks = [rankdata(-scores, method="ordinal") for scores in (rerank, score)]
    return np.argsort(-np.abs(ranks[0] - ranks[1]), kind="stable")
