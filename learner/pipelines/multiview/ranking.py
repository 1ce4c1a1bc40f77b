"""From candidates and scores to ranks, and from ranks to figures.

Candidates are rows of passages, (n, k) int64, the first stage's best first, padded with −1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np
from ir_measures import Qrel, ScoredDoc
from scipy.stats import ttest_rel

from allpairs.db.errors import InputError

CUT = 10  # of the paper's mean reciprocal rank


def ranked(candidates: np.ndarray, scores: np.ndarray, depth: int) -> np.ndarray:
    """Return the first `depth` candidates by falling score, (n, depth) int64; ties in the first stage's order."""
    first = candidates[:, :depth]
    order = np.argsort(np.where(first < 0, np.inf, -scores[:, :depth]), axis=1, kind="stable")
    return np.take_along_axis(first, order, 1)


def reciprocal_ranks(ranking: np.ndarray, gold: Sequence[set[int]], cut: int = CUT) -> np.ndarray:
    """Return 1 / the rank of each query's first right passage, (n,) float64; 0 if none is in the first `cut`."""
    reciprocal = np.zeros(len(ranking))
    for query, (row, right) in enumerate(zip(ranking[:, :cut].tolist(), gold, strict=True)):
        reciprocal[query] = next((1 / rank for rank, passage in enumerate(row, 1) if passage in right), 0.0)
    return reciprocal


def measured(ranking: np.ndarray, gold: Sequence[set[int]], measures: Sequence[str]) -> dict[str, np.ndarray]:
    """Return every measure's value of each judged query, (n,) float64, by its name in ir-measures.

    Right passages that are not in the collection are −1, −2, …: they count as relevant, and are never found.
    """
    parsed_measures = parsed(measures)
    qrels = [Qrel(str(query), str(passage), 1) for query, right in enumerate(gold) for passage in right]
    run = [
        ScoredDoc(str(query), str(passage), float(-rank))
        for query, row in enumerate(ranking.tolist())
        for rank, passage in enumerate(row, 1)
        if passage >= 0
    ]
    values = {name: np.zeros(len(ranking)) for name in measures}
    names = dict(zip(parsed_measures, measures, strict=True))
    for metric in ir_measures.iter_calc(parsed_measures, qrels, run):
        values[names[metric.measure]][int(metric.query_id)] = metric.value
    return values


def parsed(measures: Sequence[str]) -> list[ir_measures.Measure]:
    """Return the measures of these names. Raises InputError for a name that ir-measures does not know."""
    parsed_measures = []
    for name in measures:
        try:
            parsed_measures.append(_measure(name))
        except (ValueError, NameError, AttributeError) as error:
            raise InputError(
                f"measures: {name!r} is not a measure ({error}): choose RR@10, Success@1, nDCG@10, …"
            ) from None
        if parsed_measures[-1] in parsed_measures[:-1]:
            raise InputError(f"measures: {name!r} is listed twice, under this or another name: remove one")
    return parsed_measures


def _measure(name: str) -> ir_measures.Measure:
    plain = re.fullmatch(r"(\w+)(?:@(\d+))?", name)
    known = ir_measures.measures.registry.get(plain[1]) if plain else None
    if plain is None or known is None:
        # Parameters in brackets, which ir-measures 0.4.3 cannot read on Python 3.14.
        return ir_measures.parse_measure(name)
    return known @ int(plain[2]) if plain[2] else known


@dataclass(frozen=True)
class Paired:
    """The mean difference of two lists of figures of the same queries, Student's t, and its two-sided p."""

    difference: float
    t: float
    p: float


def paired(base: np.ndarray, improved: np.ndarray) -> Paired:
    """Return the paired t-test of `improved` against `base`; p is 1 if they are equal."""
    difference = float((improved - base).mean())
    if len(base) < 2 or np.allclose(base, improved):
        return Paired(difference, 0.0, 1.0)
    test = ttest_rel(improved, base)
    return Paired(difference, float(test.statistic), float(test.pvalue))


def improvement(multi: float, single: float) -> float | None:
    """Return the relative improvement (Ju, Yang and Wang 2021, section 3.2), or None if `single` is 0."""
    return (multi - single) / single if single else None
