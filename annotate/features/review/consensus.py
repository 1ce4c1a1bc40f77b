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
class AnnotatorScore:
    """One annotator compared with the consensus of all, which includes their own answers."""

    name: str
    answers: int
    sensitivity: Estimate
    specificity: Estimate
    agrees: Estimate


def annotator_scores(votes: Votes, seed: int = 0) -> list[AnnotatorScore]:
    """Return each annotator by name, with 95 % intervals; none if no pair has two opinions.

    The intervals of sensitivity and specificity are posterior intervals, given that annotators err independently; the
    interval of agreement is Wilson's, with the consensus taken as fixed.
    """
    shared = [answers for answers in opinions_by_pair(votes) if len(answers) > 1]
    if not shared:
        return []
    # Pairs with the same votes have the same consensus, so only each distinct set of votes is computed.
    kinds = Counter(frozenset(answers.items()) for answers in shared)
    names = {name: i for i, name in enumerate(sorted({annotator for answers in shared for annotator in answers}))}
    rows = [
        (i, names[name], answer == AnswerKind.POSITIVE) for i, kind in enumerate(kinds) for name, answer in sorted(kind)
    ]
    pair, annotator, yes = np.array(rows, dtype=np.int64).T
    answers = answers_of(pair, annotator, yes, np.array(list(kinds.values())))
    consensus = dawid_skene(answers)
    drawn = posterior(answers, consensus, np.random.default_rng(seed))
    answered = answers.times @ (answers.yes + answers.no)
    right = answers.times @ np.where(consensus.positive[:, None] > 0.5, answers.yes, answers.no)
    return [
        AnnotatorScore(
            name,
            int(answered[i]),
            _sampled(consensus.sensitivity[i], drawn[0][:, i], int(answered[i])),
            _sampled(consensus.specificity[i], drawn[1][:, i], int(answered[i])),
            _counted(right[i], answered[i]),
        )
        for name, i in names.items()
    ]


def _sampled(value: float, drawn: np.ndarray, answers: int) -> Estimate:
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Estimate(float(value), float(min(low, value)), float(max(high, value)), SAMPLED, answers)


def _counted(right: float, total: float) -> Estimate:
    low, high = wilson(float(right), float(total))
    return Estimate(float(right / total), low, high, COUNTED, int(total))
