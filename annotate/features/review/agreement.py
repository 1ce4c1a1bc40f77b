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
from allpairs.learner.light.stats.agreement_intervals import cohen_estimate, estimate, why_kappa_is_low

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

    one: str
    other: str
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
    why: str
    twos: list[Two]


def read_votes(engine: Engine, project_id: int, drawn: bool) -> Votes:
    """Return the votes on pairs with several annotators; drawn: only on pairs chosen at random for several."""
    with reading(engine) as session:
        return shared_votes(session, project_id, drawn)


def agreement(votes: Votes, seed: int = 0) -> Agreement:
    """Return the annotators' agreement, with 95 % intervals."""
    rng = np.random.default_rng(seed)
    said = opinions_by_pair(votes)
    counts = np.array([_counts(answers.values()) for answers in said], dtype=np.int64).reshape(-1, len(DECIDED))
    shared = counts[counts.sum(axis=1) > 1]
    found = {name: estimate(how, shared, rng=rng) for name, how in COEFFICIENTS.items()}
    people = sorted({who for answers in said for who in answers})
    twos = [two for one, other in combinations(people, 2) if (two := _two(said, one, other, rng)) is not None]
    return Agreement(len(shared), found, why_kappa_is_low(shared, NAMES), twos)


def opinions_by_pair(votes: Votes) -> list[dict[str, AnswerKind]]:
    """Return who answered yes or no, for each pair."""
    said: dict[tuple[int, int], dict[str, AnswerKind]] = defaultdict(dict)
    for left, right, who, answer in votes:
        if answer in DECIDED:
            said[left, right][who] = answer
    return list(said.values())


def _counts(answers: Iterable[AnswerKind]) -> list[int]:
    given = list(answers)
    return [given.count(answer) for answer in DECIDED]


def _two(said: list[dict[str, AnswerKind]], one: str, other: str, rng: np.random.Generator) -> Two | None:
    both = [(answers[one], answers[other]) for answers in said if one in answers and other in answers]
    if not both:
        return None
    table = np.zeros((2, 2), dtype=np.int64)
    for first, second in both:
        table[DECIDED.index(first), DECIDED.index(second)] += 1
    counts = np.array([_counts(pair) for pair in both])
    positive, negative = (estimate(specific_agreement(place), counts, rng=rng) for place in range(len(DECIDED)))
    return Two(one, other, len(both), positive, negative, cohen_estimate(table, rng))
