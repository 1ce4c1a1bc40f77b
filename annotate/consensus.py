"""How often each annotator is right, by the consensus of all."""

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
    names = sorted({who for answers in said for who in answers})
    rows = [
        (at, names.index(who), answer == ANSWERS[0])
        for at, answers in enumerate(said)
        for who, answer in answers.items()
    ]
    pair, annotator, yes = np.array(rows, dtype=np.int64).T
    rng = np.random.default_rng(seed)
    point = _against(pair, annotator, yes, len(names))
    drawn = np.array(
        [_against(*_resampled(pair, annotator, yes, len(said), rng), len(names)) for _ in range(resamples)]
    )
    given = np.bincount(annotator, minlength=len(names))
    people = []
    for at, name in enumerate(names):
        answers = int(given[at])
        found = [_interval(point[what, at], drawn[:, what, at], answers) for what in range(len(point))]
        people.append(Person(name, answers, *found))
    return people


def _against(pair: np.ndarray, annotator: np.ndarray, yes: np.ndarray, names: int) -> np.ndarray:
    """(3, annotators) Sensitivity, specificity, and the share of answers that are the consensus'."""
    found = dawid_skene(pair, annotator, yes)
    right = (found.positive[pair] > 0.5) == (yes > 0)
    given = np.bincount(annotator, minlength=names)
    rows = np.full((3, names), np.nan)
    rows[0, : len(found.sensitivity)], rows[1, : len(found.specificity)] = found.sensitivity, found.specificity
    with np.errstate(invalid="ignore"):
        rows[2] = np.bincount(annotator, right, minlength=names) / given
    rows[:, given == 0] = np.nan
    return rows


def _resampled(
    pair: np.ndarray, annotator: np.ndarray, yes: np.ndarray, pairs: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The answers on as many pairs, drawn with replacement, each draw a pair of its own."""
    starts = np.searchsorted(pair, np.arange(pairs + 1))
    chosen = rng.integers(pairs, size=pairs)
    sizes = np.diff(starts)[chosen]
    rows = np.repeat(starts[chosen], sizes) + np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.repeat(np.arange(pairs), sizes), annotator[rows], yes[rows]


def _interval(value: float, drawn: np.ndarray, answers: int) -> Estimate | None:
    drawn = drawn[~np.isnan(drawn)]
    if np.isnan(value) or not drawn.size:
        return None
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Estimate(float(value), float(min(low, value)), float(max(high, value)), METHOD, answers)
