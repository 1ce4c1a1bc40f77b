"""What coefficients of agreement mean, in words."""

from collections.abc import Sequence

import numpy as np

from allpairs.annotate.stats.agreement import fleiss_kappa, observed_agreement
from allpairs.annotate.stats.agreement_intervals import value

GAP = 0.2  # the least difference of observed agreement and kappa that needs an explanation
COMMON = 0.8  # the least share of ratings that makes a category dominant


def why_kappa_is_low(counts: np.ndarray, names: Sequence[str]) -> str:
    """Return why kappa is low or undefined although raters mostly agree; empty where it is not.

    A rare category makes chance agreement so likely that kappa falls (Feinstein and Cicchetti 1990). counts: as in
    `value`; names: those of the categories, as shown to people.
    """
    counts = np.asarray(counts)
    rated = counts[counts.sum(axis=1) > 1]
    observed, kappa = value(observed_agreement, counts), value(fleiss_kappa, counts)
    if observed is None:
        return ""
    shares = (rated / rated.sum(axis=1, keepdims=True)).mean(axis=0)
    common = int(shares.argmax())
    if kappa is None:
        return f"All ratings are “{names[common]}”, so kappa and alpha are not defined."
    if observed - kappa < GAP or shares[common] < COMMON:
        return ""
    others = " or ".join(f"“{name}”" for at, name in enumerate(names) if at != common)
    return (
        f"Kappa and alpha are low because {others} is rare: {shares[common]:.0%} of the ratings are “{names[common]}”. "
        f"By chance alone raters would agree on {(shares**2).sum():.0%}, so each disagreement weighs heavily. They "
        f"actually agree on {observed:.0%}. AC1 and the agreement on {others} are more informative here."
    )
