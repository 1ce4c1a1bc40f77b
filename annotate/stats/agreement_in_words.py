"""What coefficients of agreement mean, in words."""

from collections.abc import Sequence

import numpy as np

from annotate.stats.agreement import fleiss_kappa, observed_agreement
from annotate.stats.agreement_intervals import value

GAP = 0.2  # between the observed agreement and kappa, from which on the difference is worth a word
COMMON = 0.8  # share of ratings from which on a category leaves little room for the others


def why_kappa_is_low(counts: np.ndarray, names: Sequence[str]) -> str:
    """A sentence that says why kappa is low though raters mostly agree, or not defined; empty where there is no need.

    A category that is seldom given makes agreement by chance so likely that kappa falls (Feinstein and Cicchetti 1990).
    counts: as `value` takes them; names: of the categories, as a person reads them.
    """
    counts = np.asarray(counts)
    rated = counts[counts.sum(axis=1) > 1]
    observed, kappa = value(observed_agreement, counts), value(fleiss_kappa, counts)
    if observed is None:
        return ""
    shares = (rated / rated.sum(axis=1, keepdims=True)).mean(axis=0)
    common = int(shares.argmax())
    if kappa is None:
        return f"All ratings are “{names[common]}”: kappa and alpha are not defined, for nothing was told apart."
    if observed - kappa < GAP or shares[common] < COMMON:
        return ""
    others = " or ".join(f"“{name}”" for at, name in enumerate(names) if at != common)
    return (
        f"Kappa and alpha are low because {others} is rare: {shares[common]:.0%} of the ratings are “{names[common]}”, "
        f"so that raters would agree on {(shares**2).sum():.0%} by chance, and each disagreement weighs much. They do "
        f"agree on {observed:.0%}: AC1, and the agreement on {others}, say more here."
    )
