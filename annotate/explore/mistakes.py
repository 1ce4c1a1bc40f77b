"""The pairs with a known answer that a model gets most wrong (Mussmann, Jia and Liang 2020, figure 2)."""

import numpy as np

from allpairs.annotate.kit.jobs.prepared import Known, Scored


def confident_mistakes(known: Known) -> Scored:
    """Return the known negatives, the highest score first: p rises with the score, so the model is surest of these."""
    negatives = known.scored.take(known.truth == 0)
    return negatives.take(np.argsort(-negatives.score, kind="stable"))


def missed_positives(known: Known) -> Scored:
    """Return the known positives, the lowest score first."""
    positives = known.scored.take(known.truth == 1)
    return positives.take(np.argsort(positives.score, kind="stable"))


def wrong_above(scored: Scored, at: float) -> int:
    """Return how many of the pairs score at least `at`."""
    return int((scored.score >= at).sum())
