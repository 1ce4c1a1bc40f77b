"""How far a machine rater agrees with people: what its verdicts count in training, and when it pauses."""

from collections import Counter
from collections.abc import Sequence
from math import sqrt

from allpairs.db.domain import RaterSetup, Verdict
from allpairs.db.estimate import wilson
from allpairs.db.raters.judged import Judged

LEAST = 0.05  # a smaller weight teaches next to nothing, but would still order a batch by what may be chance


def weight_of(judged: Sequence[Judged]) -> float:
    """Return the weight of a verdict beside a person's label, from 0 to 1; judged: pairs that people answered, too.

    It is the square of the lower end of Youden's (1950) J = sensitivity + specificity - 1: a label that errs so often
    holds J² of the information of one that never does, where matches and others are alike frequent. The 95 % interval
    is that of Newcombe (1998, method 10) for a difference of two shares. Below 0.05 the weight is 0: a rater that is no
    better than a coin has it, and so has one of which too little is known.
    """
    pairs, hits = _pairs_and_hits(judged)
    if not (pairs[True] and pairs[False]):
        return 0.0
    shares = {match: hits[match] / pairs[match] for match in pairs}
    below = sqrt(sum((shares[match] - wilson(hits[match], pairs[match])[0]) ** 2 for match in pairs))
    weight = max(0.0, sum(shares.values()) - 1 - below) ** 2
    return round(weight, 4) if weight >= LEAST else 0.0


def wrong_too_often(judged: Sequence[Judged], setup: RaterSetup) -> str | None:
    """Return why the rater should pause, if the upper end of its accuracy's interval is below its bound."""
    pairs, hits = _pairs_and_hits(judged)
    right = hits.total()
    n = pairs.total()
    if not n or wilson(right, n)[1] >= setup.least_accuracy:
        return None
    low, high = wilson(right, n)
    return (
        f"it agrees with people on {right:,} of {n:,} pairs ({right / n:.0%}, 95% interval {low:.0%} to {high:.0%}), "
        f"and its bound is {setup.least_accuracy:.0%}: change its setup or its guidelines, or end it"
    )


def _pairs_and_hits(judged: Sequence[Judged]) -> tuple[Counter[bool], Counter[bool]]:
    """Return how many matches and others it called something, and how many of these it called what people do."""
    said = [one for one in judged if one.verdict != Verdict.ABSTAIN]
    hits = [one for one in said if (one.verdict == Verdict.YES) is one.match]
    return Counter(one.match for one in said), Counter(one.match for one in hits)
