"""Agreement of annotators on pairs that several of them have labelled."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from sqlalchemy import Engine

from allpairs.db.domain import DECIDED, AnswerKind
from allpairs.db.estimate import Estimate
from allpairs.db.labels.reviews import shared_votes
from allpairs.db.schema.engine import reading
from allpairs.learner.light.stats.agreement import (
    Coefficient,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    observed_agreement,
    specific_agreement,
)
from allpairs.learner.light.stats.agreement_intervals import agreement_estimate, cohen_estimate, why_kappa_is_low

NAMES = ("yes", "no")
# The most important figures come first: positives are rare, so chance-corrected figures say little about them.
COEFFICIENTS: dict[str, Coefficient] = {
    "On matches (positive-specific)": specific_agreement(0),
    "On others (negative-specific)": specific_agreement(1),
    "Observed": observed_agreement,
    "Gwet's AC1": gwet_ac1,
    "Fleiss' kappa": fleiss_kappa,
    "Krippendorff's alpha": krippendorff_alpha,
}

Votes = Sequence[tuple[int, int, str, AnswerKind]]  # left_id, right_id, annotator, answer


@dataclass(frozen=True)
class Two:
    """Agreement of two annotators, on pairs that both labelled yes or no."""

    first: str
    second: str
    pairs: int
    positive: Estimate | None
    negative: Estimate | None
    kappa: Estimate | None


@dataclass(frozen=True)
class Agreement:
    """Agreement of all annotators: coefficients by name, why kappa is low in words, and each two annotators.

    pairs: the number of pairs with a yes or no from several annotators.
    """

    pairs: int
    coefficients: dict[str, Estimate | None]
    kappa_note: str
    twos: list[Two]


def read_votes(engine: Engine, project_id: int, drawn: bool) -> Votes:
    """Return the votes on pairs with several annotators; drawn: only on pairs chosen at random for several."""
    with reading(engine) as session:
        return shared_votes(session, project_id, drawn)


def agreement(votes: Votes, seed: int = 0) -> Agreement:
    """Return the annotators' agreement, with 95 % intervals."""
    rng = np.random.default_rng(seed)
    opinions = opinions_by_pair(votes)
    counts = np.array([_counts(answers.values()) for answers in opinions], dtype=np.int64).reshape(-1, len(DECIDED))
    shared = counts[counts.sum(axis=1) > 1]
    coefficients = {
        name: agreement_estimate(coefficient, shared, rng=rng) for name, coefficient in COEFFICIENTS.items()
    }
    people = sorted({annotator for answers in opinions for annotator in answers})
    twos = [two for first, second in combinations(people, 2) if (two := _two(opinions, first, second, rng)) is not None]
    return Agreement(len(shared), coefficients, why_kappa_is_low(shared, NAMES), twos)


def opinions_by_pair(votes: Votes) -> list[dict[str, AnswerKind]]:
    """Return who answered yes or no, for each pair."""
    opinions: dict[tuple[int, int], dict[str, AnswerKind]] = defaultdict(dict)
    for left, right, annotator, answer in votes:
        if answer in DECIDED:
            opinions[left, right][annotator] = answer
    return list(opinions.values())


def _counts(answers: Iterable[AnswerKind]) -> list[int]:
    kinds = list(answers)
    return [kinds.count(answer) for answer in DECIDED]


def _two(opinions: list[dict[str, AnswerKind]], first: str, second: str, rng: np.random.Generator) -> Two | None:
    pairs = [(answers[first], answers[second]) for answers in opinions if first in answers and second in answers]
    if not pairs:
        return None
    table = np.zeros((2, 2), dtype=np.int64)
    for pair in pairs:
        table[DECIDED.index(pair[0]), DECIDED.index(pair[1])] += 1
    counts = np.array([_counts(pair) for pair in pairs])
    positive, negative = (
        agreement_estimate(specific_agreement(place), counts, rng=rng) for place in range(len(DECIDED))
    )
    return Two(first, second, len(pairs), positive, negative, cohen_estimate(table, rng))
