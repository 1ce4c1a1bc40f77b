"""How much the columns of two records agree, learned without labels: the model of Fellegi and Sunter (1969).

Each figure of a pair falls into a level. A level counts log(m / u): how much more frequent it is among matches than
among other candidates. Both are estimated by expectation and maximization (Winkler 1988), where columns are independent
given whether a pair matches. docs/log.md has the measurements.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from allpairs.learner.models.output_layer import sigmoid

# A higher level speaks more for a match. The lower ends of the levels of a likeness, and the upper ends of a distance.
LIKENESS = (0.35, 0.5, 0.65, 0.8, 0.9, 0.999)
RATIO = (1e-9, 0.01, 0.05, 0.15, 0.4, 1.0)  # of two numbers, as the difference of their logarithms
DAYS = (1e-9, 0.8, 3.5, 6.0, 8.0)  # log(1 + days)
# Pairs before any are seen: matches for a tenth of the texts, with each level 0.6 times as frequent as the next higher
# one, and a few of both kinds, others the other way round. Else a list without doubles would get some: of its columns
# that vary most, two towns or two brands.
MATCHES = 0.1
FALL = 0.6
FEW = 2.0
STEPS = 100
SETTLED = 1e-4  # of a probability: a step that changes none by more is the last
MOST = 20.0  # of a logit: any more tells nothing


@dataclass(frozen=True)
class ColumnAgreement:
    """The logit of a match by the levels of a pair's figures; a figure that is missing, NaN, counts nothing.

    odds: the logit without any; cuts and weights: by feature, of n levels n - 1 ascending cuts and n weights. Negative
    cuts are of a distance.
    """

    odds: float
    cuts: Mapping[str, Sequence[float]]
    weights: Mapping[str, Sequence[float]]

    def logit(self, figures: np.ndarray) -> np.ndarray:
        """Return the logits (n,) float64, from -20 to 20, of figures (n, features)."""
        return np.clip(self.odds + self.amounts(figures).sum(1), -MOST, MOST)

    def amounts(self, figures: np.ndarray) -> np.ndarray:
        """Return what each figure adds to the logit, (n, features) float64."""
        levels = levels_of(figures, list(self.cuts.values()))
        return np.column_stack(
            [np.append(weight, 0.0)[level] for level, weight in zip(levels, self.weights.values(), strict=True)]
        )

    def as_dict(self) -> dict[str, Any]:
        """Return it as in a matcher's details; `read` takes it back."""
        return {"odds": self.odds, "weights": {name: list(weights) for name, weights in self.weights.items()}}

    @classmethod
    def read(cls, stored: Mapping[str, Any], cuts: Mapping[str, Sequence[float]]) -> "ColumnAgreement":
        """Return the agreement of `as_dict`. Raises KeyError, TypeError or ValueError if it is broken."""
        weights = {name: [float(weight) for weight in stored["weights"][name]] for name in cuts}
        if any(len(weights[name]) != len(ends) + 1 for name, ends in cuts.items()):
            raise ValueError("weights of other levels")
        return cls(float(stored["odds"]), cuts, weights)


def levels_of(figures: np.ndarray, cuts: Sequence[Sequence[float]]) -> list[np.ndarray]:
    """Return the level of each figure by feature, (n,) int64 each; -1 where it is missing."""
    return [
        np.where(np.isnan(values), -1, np.searchsorted(ends, values if ends[-1] > 0 else -values, side="right"))
        for values, ends in zip(figures.T, cuts, strict=True)
    ]


def fit_agreement(figures: np.ndarray, cuts: Mapping[str, Sequence[float]], texts: int) -> ColumnAgreement:
    """Return the likeliest agreement of candidate pairs: figures (n, features) of the candidates of so many texts."""
    levels = levels_of(figures, list(cuts.values()))
    counts = [len(ends) + 1 for ends in cuts.values()]
    few = MATCHES * max(texts, 1)
    p = np.zeros(len(figures))
    seen = np.zeros(len(figures))  # whether a pair counts: at first, none does
    for _ in range(STEPS):
        matches = seen * p
        share = (matches.sum() + few) / (seen.sum() + len(p) + few + FEW)
        weights = [
            _weights(level, matches, seen - matches, count, few) for level, count in zip(levels, counts, strict=True)
        ]
        agreement = ColumnAgreement(float(np.log(share / (1 - share))), cuts, dict(zip(cuts, weights, strict=True)))
        estimated = sigmoid(agreement.logit(figures))
        moved = np.abs(estimated - p).max(initial=0.0)
        p = estimated
        seen = np.ones(len(figures))
        if moved < SETTLED:
            break
    return agreement


def _weights(level: np.ndarray, match: np.ndarray, other: np.ndarray, count: int, few: float) -> list[float]:
    """Return log(m / u) of each level; match, other: (n,) how much each pair counts as a match, and as none."""
    known = level >= 0
    rising = FALL ** np.arange(count)[::-1]
    rising /= rising.sum()
    m = np.bincount(level[known], match[known], count) + (few + FEW) * rising
    u = np.bincount(level[known], other[known], count) + FEW * rising[::-1]
    weights: list[float] = np.log(m / m.sum() * u.sum() / u).tolist()
    return weights
