"""How far a machine rater agrees with people: what its verdicts count in training, and when it pauses."""

from collections import Counter
from collections.abc import Sequence
from math import sqrt

from allpairs.db.domain import Verdict
from allpairs.db.estimate import wilson
from allpairs.db.rating import Judged, RaterSetup

LEAST = 0.05  # a smaller weight teaches next to nothing, but would still order a batch by what may be chance


def verdict_weight(judged: Sequence[Judged]) -> float:
    """Return the weight of a verdict beside a person's label, from 0 to 1; judged: pairs that people answered, too.

    It is the square of the lower end of Youden's (1950) J = sensitivity + specificity - 1: a label that errs so often
    holds J² of the information of one that never does, where matches and non-matches are equally frequent. The 95 %
    interval is that of Newcombe (1998, method 10) for a difference of two shares. Below 0.05 the weight is 0: so it is
    for a rater that is no better than a coin, and for one of which too little is known.
    """
    pairs, hits = _pairs_and_hits(judged)
    if not (pairs[True] and pairs[False]):
        return 0.0
    shares = {match: hits[match] / pairs[match] for match in pairs}
    below = sqrt(sum((shares[match] - wilson(hits[match], pairs[match])[0]) ** 2 for match in pairs))
    weight = max(0.0, sum(shares.values()) - 1 - below) ** 2
    return round(weight, 4) if weight >= LEAST else 0.0


def reason_to_pause(judged: Sequence[Judged], setup: RaterSetup) -> str | None:
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
    """Return how many matches and non-matches it decided, and on how many of these it agrees with people."""
    decided = [pair for pair in judged if pair.verdict != Verdict.ABSTAIN]
    hits = [pair for pair in decided if (pair.verdict == Verdict.YES) is pair.match]
    return Counter(pair.match for pair in decided), Counter(pair.match for pair in hits)
