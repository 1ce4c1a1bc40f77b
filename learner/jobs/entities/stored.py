"""Designs of entity audits: which texts are drawn, and which pairs of each, as a row; and the labels of these pairs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from allpairs.db.domain import AnswerKind
from allpairs.db.schema.tables import Design
from allpairs.learner.evaluation.audit.ranking import Ranking
from allpairs.learner.evaluation.entities.drawing import Bands, Plan, TextPopulation
from allpairs.learner.evaluation.entities.sample import EntitySample, LabelledPairs

Answers = dict[tuple[int, int], AnswerKind]  # by items, left and right


def design_columns(plan: Plan, corpus: TextPopulation, ranking: Ranking) -> dict[str, Any]:
    """Return what a design's row keeps of the plan: strata, and in details the texts' weights, sizes and pairs."""
    ids = corpus.ids
    bands = plan.bands
    edges = bands.edges[:-1]
    ends = [0, *np.round(ranking.rank(edges)).astype(int).tolist(), ranking.pairs]
    lows = [*edges.tolist(), None]
    highs = [float(ranking.score(np.array([1]))[0]), *edges.tolist()]
    strata = [
        {
            "name": f"pairs {ends[place] + 1:,} to {ends[place + 1]:,}",
            "low": lows[place],
            "high": highs[place],
            "size": ends[place + 1] - ends[place],
            "share": float(share),
        }
        for place, share in enumerate(bands.share)
    ]
    sample = [
        [int(ids[text]), int(ids[partner]), int(band)]
        for text, pairs in zip(plan.texts.tolist(), plan.pairs, strict=True)
        for partner, band in zip(pairs.partner.tolist(), pairs.band.tolist(), strict=True)
    ]
    sizes = [pairs.sizes.tolist() for pairs in plan.pairs]
    return {"strata": strata, "details": {"sample": sample, "weights": plan.weight.tolist(), "sizes": sizes}}


def read_sample(design: Design, corpus: TextPopulation, answers: Answers) -> EntitySample:
    """Return the texts all of whose drawn pairs have an answer, with the pairs that are a match or none."""
    edges = np.array([-np.inf if stratum["low"] is None else stratum["low"] for stratum in design.strata])
    bands = Bands(edges, np.array([stratum["share"] for stratum in design.strata]))
    rows = np.array(design.details["sample"], dtype=np.int64).reshape(-1, 3)
    weights = np.array(design.details["weights"])
    sizes = np.array(design.details["sizes"], dtype=np.int64)
    rows, weights, sizes = _present(rows, weights, sizes, corpus)
    order = np.argsort(corpus.ids, kind="stable")
    pairs = order[np.searchsorted(corpus.ids, rows[:, :2], sorter=order)]
    _, first, drawn_text = np.unique(pairs[:, 0], return_index=True, return_inverse=True)
    drawn_text = np.argsort(np.argsort(first))[drawn_text]  # in the order in which the texts were drawn
    pair_answers = [answers.get(pair) for pair in pairs_as_items(corpus, pairs)]
    complete = np.ones(len(first), dtype=bool)
    complete[drawn_text[[answer is None for answer in pair_answers]]] = False
    decided = complete[drawn_text] & np.array([answer != AnswerKind.UNSURE for answer in pair_answers], dtype=bool)
    labelled = LabelledPairs(
        (np.cumsum(complete) - 1)[drawn_text[decided]],
        pairs[decided, 1],
        rows[decided, 2],
        np.array([answer == AnswerKind.POSITIVE for answer in pair_answers], dtype=bool)[decided],
    )
    texts = pairs[np.sort(first), 0][complete]
    return EntitySample(corpus, bands, texts, weights[complete], sizes[complete], labelled)


def _present(
    rows: np.ndarray, weights: np.ndarray, sizes: np.ndarray, corpus: TextPopulation
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs (text, partner, band) of texts in the corpus, and the weights and sizes of the drawn ones in it.

    A withdrawn text leaves the sample, and the sizes lose its drawn pairs. They keep those that nobody drew: few.
    """
    present = np.isin(rows[:, :2], corpus.ids).all(1)
    place = {text: number for number, text in enumerate(dict.fromkeys(rows[:, 0].tolist()))}
    drawn_text = np.array([place[text] for text in rows[:, 0].tolist()], dtype=np.int64)
    band = rows[:, 2]
    lost = ~present & (band < sizes.shape[1])  # the band after the last one is of none
    np.subtract.at(sizes, (drawn_text[lost], band[lost]), 1)
    remaining = np.unique(drawn_text[present])
    return rows[present], weights[remaining], sizes[remaining]


def pairs_as_items(corpus: TextPopulation, pairs: np.ndarray) -> Sequence[tuple[int, int]]:
    """Return the items of pairs (n, 2) of texts, the left one first, as answers name them."""
    sides = corpus.sides
    left, right = corpus.rows(pairs[:, 0], pairs[:, 1])
    return list(zip(sides.left_ids[left].tolist(), sides.right_ids[right].tolist(), strict=True))
