"""How often each annotator is right, by the consensus of all."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from annotate.agreeing import ANSWERS, Votes, opinions_by_pair
from annotate.agreement.dawid_skene import dawid_skene
from annotate.agreement.estimates import METHOD
from db.domain import Estimate


@dataclass(frozen=True)
class Person:
    """How one annotator does against the consensus of all, which their own answers are part of."""

    name: str
    answers: int
    sensitivity: Estimate | None
    specificity: Estimate | None
    agrees: Estimate | None


def people(votes: Votes, seed: int = 0, resamples: int = 200) -> list[Person]:
    """Each annotator by name, with intervals by bootstrap over pairs; nobody where no pair has two opinions."""
    said = [answers for answers in opinions_by_pair(votes) if len(answers) > 1]
    if not said:
        return []
    # Few kinds of pairs differ in who said what, so that the consensus of very many is that of a few.
    kinds = Counter(frozenset(answers.items()) for answers in said)
    names = {name: at for at, name in enumerate(sorted({who for answers in said for who in answers}))}
    rows = [(at, names[who], answer == ANSWERS[0]) for at, kind in enumerate(kinds) for who, answer in sorted(kind)]
    pair, annotator, yes = np.array(rows, dtype=np.int64).T
    times = np.array(list(kinds.values()))
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(said), times / len(said), size=resamples)
    point = _against(pair, annotator, yes, times)
    values = np.array([_against(pair, annotator, yes, each) for each in drawn])
    given = np.bincount(annotator, times[pair])
    return [
        Person(name, int(given[at]), *(_interval(point[i, at], values[:, i, at], int(given[at])) for i in range(3)))
        for name, at in names.items()
    ]


def _against(pair: np.ndarray, annotator: np.ndarray, yes: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(3, annotators) Sensitivity, specificity, and the share of answers that are the consensus'; nan: no answer."""
    found = dawid_skene(pair, annotator, yes, times)
    right = (found.positive[pair] > 0.5) == (yes > 0)
    given = np.bincount(annotator, times[pair])
    with np.errstate(invalid="ignore"):
        agrees = np.bincount(annotator, right * times[pair]) / given
    rows = np.array([found.sensitivity, found.specificity, agrees])
    rows[:, given == 0] = np.nan
    return rows


def _interval(value: float, drawn: np.ndarray, answers: int) -> Estimate | None:
    drawn = drawn[~np.isnan(drawn)]
    if np.isnan(value) or not drawn.size:
        return None
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Estimate(float(value), float(min(low, value)), float(max(high, value)), METHOD, answers)
