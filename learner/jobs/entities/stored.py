"""Designs of entity audits: which texts are drawn, and which pairs of each, as a row; and the labels of these pairs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from allpairs.db.domain import AnswerKind
from allpairs.db.schema.tables import Design
from allpairs.learner.evaluation.audit.ranking import Ranking
from allpairs.learner.evaluation.entities.drawing import Bands, Corpus, Plan
from allpairs.learner.evaluation.entities.sample import Sample

Answers = dict[tuple[int, int], AnswerKind]  # by items, left and right


def columns_of(plan: Plan, corpus: Corpus, ranking: Ranking) -> dict[str, Any]:
    """Return what a design's row keeps of the plan: strata, and in details the texts' weights, sizes and pairs."""
    ids = corpus.ids
    bands = plan.bands
    edges = bands.edges[:-1]
    ends = [0, *np.round(ranking.rank(edges)).astype(int).tolist(), ranking.pairs]
    lows = [*edges.tolist(), None]
    highs = [float(ranking.score(np.array([1]))[0]), *edges.tolist()]
    strata = [
        {
            "name": f"pairs {ends[at] + 1:,} to {ends[at + 1]:,}",
            "low": lows[at],
            "high": highs[at],
            "size": ends[at + 1] - ends[at],
            "share": float(share),
        }
        for at, share in enumerate(bands.share)
    ]
    sample = [
        [int(ids[text]), int(ids[other]), int(band)]
        for text, pairs in zip(plan.texts.tolist(), plan.pairs, strict=True)
        for other, band in zip(pairs.other.tolist(), pairs.band.tolist(), strict=True)
    ]
    sizes = [pairs.sizes.tolist() for pairs in plan.pairs]
    return {"strata": strata, "details": {"sample": sample, "weights": plan.weight.tolist(), "sizes": sizes}}


def read_sample(design: Design, corpus: Corpus, answers: Answers) -> Sample:
    """Return the texts all of whose drawn pairs have an answer, with the pairs that are a match or none."""
    edges = np.array([-np.inf if one["low"] is None else one["low"] for one in design.strata])
    bands = Bands(edges, np.array([one["share"] for one in design.strata]))
    rows = np.array(design.details["sample"], dtype=np.int64).reshape(-1, 3)
    weights = np.array(design.details["weights"])
    sizes = np.array(design.details["sizes"], dtype=np.int64)
    rows, weights, sizes = _there(rows, weights, sizes, corpus)
    order = np.argsort(corpus.ids, kind="stable")
    pairs = order[np.searchsorted(corpus.ids, rows[:, :2], sorter=order)]
    _, first, of = np.unique(pairs[:, 0], return_index=True, return_inverse=True)
    of = np.argsort(np.argsort(first))[of]  # in the order in which the texts were drawn
    given = [answers.get(pair) for pair in as_items(corpus, pairs)]
    done = np.ones(len(first), dtype=bool)
    done[of[[answer is None for answer in given]]] = False
    decided = done[of] & np.array([answer != AnswerKind.UNSURE for answer in given], dtype=bool)
    return Sample(
        corpus,
        bands,
        pairs[np.sort(first), 0][done],
        weights[done],
        sizes[done],
        (np.cumsum(done) - 1)[of[decided]],
        pairs[decided, 1],
        rows[decided, 2],
        np.array([answer == AnswerKind.POSITIVE for answer in given], dtype=bool)[decided],
    )


def _there(
    rows: np.ndarray, weights: np.ndarray, sizes: np.ndarray, corpus: Corpus
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs (text, other, band) of texts in the corpus, and the weights and sizes of the drawn ones in it.

    A withdrawn text leaves the sample, and the sizes lose its drawn pairs. They keep those that nobody drew: few.
    """
    there = np.isin(rows[:, :2], corpus.ids).all(1)
    place = {text: at for at, text in enumerate(dict.fromkeys(rows[:, 0].tolist()))}
    of = np.array([place[text] for text in rows[:, 0].tolist()], dtype=np.int64)
    band = rows[:, 2]
    lost = ~there & (band < sizes.shape[1])  # the band after the last one is of none
    np.subtract.at(sizes, (of[lost], band[lost]), 1)
    kept = np.unique(of[there])
    return rows[there], weights[kept], sizes[kept]


def as_items(corpus: Corpus, pairs: np.ndarray) -> Sequence[tuple[int, int]]:
    """Return the items of pairs (n, 2) of texts, the left one first, as answers name them."""
    sides = corpus.sides
    left, right = corpus.rows(pairs[:, 0], pairs[:, 1])
    return list(zip(sides.left_ids[left].tolist(), sides.right_ids[right].tolist(), strict=True))
