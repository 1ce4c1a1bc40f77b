"""How often each annotator agrees with the consensus of all."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from allpairs.annotate.features.review.agreement import Votes, opinions_by_pair
from allpairs.db.domain import AnswerKind
from allpairs.db.estimate import Estimate, wilson
from allpairs.learner.light.stats.dawid_skene import answers_of, dawid_skene, posterior

SAMPLED = "Gibbs sampling"
COUNTED = "Wilson"


@dataclass(frozen=True)
class Person:
    """One annotator compared with the consensus of all, which includes their own answers."""

    name: str
    answers: int
    sensitivity: Estimate
    specificity: Estimate
    agrees: Estimate


def people(votes: Votes, seed: int = 0) -> list[Person]:
    """Return each annotator by name, with 95 % intervals; none if no pair has two opinions.

    The intervals of sensitivity and specificity are posterior intervals, given that annotators err independently; the
    interval of agreement is Wilson's, with the consensus taken as fixed.
    """
    said = [answers for answers in opinions_by_pair(votes) if len(answers) > 1]
    if not said:
        return []
    # Pairs with the same votes have the same consensus, so only each distinct set of votes is computed.
    kinds = Counter(frozenset(answers.items()) for answers in said)
    names = {name: at for at, name in enumerate(sorted({who for answers in said for who in answers}))}
    rows = [
        (at, names[who], answer == AnswerKind.POSITIVE) for at, kind in enumerate(kinds) for who, answer in sorted(kind)
    ]
    pair, annotator, yes = np.array(rows, dtype=np.int64).T
    answers = answers_of(pair, annotator, yes, np.array(list(kinds.values())))
    found = dawid_skene(answers)
    drawn = posterior(answers, found, np.random.default_rng(seed))
    given = answers.times @ (answers.yes + answers.no)
    right = answers.times @ np.where(found.positive[:, None] > 0.5, answers.yes, answers.no)
    return [
        Person(
            name,
            int(given[at]),
            _sampled(found.sensitivity[at], drawn[0][:, at], int(given[at])),
            _sampled(found.specificity[at], drawn[1][:, at], int(given[at])),
            _counted(right[at], given[at]),
        )
        for name, at in names.items()
    ]


def _sampled(value: float, drawn: np.ndarray, answers: int) -> Estimate:
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Estimate(float(value), float(min(low, value)), float(max(high, value)), SAMPLED, answers)


def _counted(right: float, given: float) -> Estimate:
    low, high = wilson(float(right), float(given))
    return Estimate(float(right / given), low, high, COUNTED, int(given))
