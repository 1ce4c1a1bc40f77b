"""Manual correction of imputed negatives: some pairs that gold does not list are positives all the same.

People label a matcher's putative false positives at a threshold. The share of real false positives among them corrects
the precision. Source: Mussmann, Jia and Liang (2020), section 3.3 and appendix A.3.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import mannwhitneyu

from allpairs.db.errors import InputError
from allpairs.db.estimate import Estimate
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.evaluation.exact import TIE
from allpairs.learner.evaluation.sampling_designs import NEAR
from allpairs.learner.search.exact import Pairs, nearest
from allpairs.learner.search.rescored import NOTHING, Rescored
from allpairs.learner.search.top_pairs import best_pairs

STRATA = ("near", "random")  # near: a pair of neighbours under the pre-trained encoder; random: any other pair
MOST = 1_000_000  # putative false positives: with more, a feasible number of labels tells little
DRAWS = 10_000
TAIL = 2.5  # per cent left out at each end of an interval


@dataclass(frozen=True)
class Putative:
    """The pairs that a matcher calls positive at a threshold: `true` known ones, and pairs that gold does not list."""

    threshold: float
    true: int
    false: Pairs


@dataclass(frozen=True)
class Checked:
    """One stratum of putative false positives: its size, the number labelled, and how many of these are real ones."""

    size: int
    labelled: int
    real: int

    @property
    def rate(self) -> float:
        """The share of real ones among the labelled; one half without labels."""
        return self.real / self.labelled if self.labelled else 0.5

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw (DRAWS,) the real ones in the whole stratum from their posterior, with prior Beta(½, ½).

        Labelled pairs are known, so a fully labelled stratum has no uncertainty.
        """
        rates = rng.beta(0.5 + self.real, 0.5 + self.labelled - self.real, DRAWS)
        return self.real + rng.binomial(self.size - self.labelled, rates)


def corrected_precision(true: int, strata: Sequence[Checked], rng: np.random.Generator) -> dict[str, Estimate]:
    """Return the precision at the threshold as `uncorrected`, `consistent` and `paper`; true is at least 1.

    The paper's form removes the putative false positives that turn out to be positives. The consistent form counts them
    as true positives: its denominator remains all pairs at or above the threshold.
    """
    false = sum(stratum.size for stratum in strata)
    labels = sum(stratum.labelled for stratum in strata)
    real = np.array(sum(stratum.rate * stratum.size for stratum in strata))
    draws = sum((stratum.draw(rng) for stratum in strata), start=np.zeros(DRAWS))

    def estimate(form: Callable[[np.ndarray], np.ndarray], name: str) -> Estimate:
        value = float(form(real))
        low, high = np.percentile(form(draws), [TAIL, 100 - TAIL])
        return Estimate(value, min(value, float(low)), max(value, float(high)), f"correction ({name})", labels)

    uncorrected = true / (true + false)
    return {
        "uncorrected": Estimate(uncorrected, uncorrected, uncorrected, "exact"),
        "consistent": estimate(lambda real_ones: 1 - real_ones / (true + false), "consistent"),
        "paper": estimate(lambda real_ones: true / (true + real_ones), "paper"),
    }


def compare(first: Checked, second: Checked) -> float:
    """Return the two-sided p of the Mann–Whitney test: are two matchers' putative false positives equally often real?

    Both must have labels. Source: Mussmann, Jia and Liang (2020), section 5.3, where both are of the stratum *near*.
    """
    samples = [np.repeat([1, 0], [stratum.real, stratum.labelled - stratum.real]) for stratum in (first, second)]
    return float(mannwhitneyu(*samples, method="asymptotic").pvalue)


def threshold_at(scores: np.ndarray, recall: float) -> float:
    """Return the highest threshold that this share of the positives reaches; scores: theirs, (k,), at least one."""
    needed = max(int(np.ceil(recall * len(scores) - 1e-9)), 1)
    return float(np.sort(scores)[-needed])


def find_putative(
    left: np.ndarray,
    right: np.ndarray,
    positives: np.ndarray,
    recall: float,
    symmetric: bool,
    progress: Progress = no_progress,
    rescored: Rescored = NOTHING,
) -> Putative:
    """Return the pairs at or above the highest threshold with that recall: true positives counted, the others by row.

    left, right: (n, d) and (m, d) unit vectors of the evaluation items under the matcher; positives: (k, 2) rows of
    both, at least one, as `evaluate_exact` takes them, whose precision at this threshold is the same; rescored: pairs
    of rows that have another score than their product. Raises InputError if more than a million pairs are putative
    false positives.
    """
    products = np.einsum("kd,kd->k", left[positives[:, 0]], right[positives[:, 1]])
    scores = rescored.replace(positives[:, 0], positives[:, 1], products)
    threshold = threshold_at(scores, recall) - TIE  # includes pairs that tie with the last positive
    top = MOST + len(scores) + 1
    above = best_pairs(left, right, symmetric, top=top, threshold=threshold, rescored=rescored, progress=progress)
    known = positives[:, 0] * len(right) + positives[:, 1]
    false = above.take(~np.isin(above.keys(len(right)), known))
    if len(false) > MOST:
        raise InputError(
            f"at recall {recall:g} more than {MOST:,} pairs that gold does not list score {threshold:.3f} or more: "
            "choose a lower recall"
        )
    return Putative(threshold, int((scores >= threshold).sum()), false)


def near(
    pairs: Pairs, left: np.ndarray, right: np.ndarray, symmetric: bool, progress: Progress = no_progress
) -> np.ndarray:
    """Return which of the pairs are among the 100 nearest neighbours, (n,) bool.

    left, right: the vectors of the same items under the pre-trained encoder. In one list it is enough that either item
    is a neighbour of the other.
    """
    neighbours = nearest(left, right, NEAR, symmetric, progress=progress)
    return np.isin(pairs.keys(len(right)), neighbours.keys(len(right)))


def lowest(numbers: np.ndarray, stratum: np.ndarray, n: int) -> np.ndarray:
    """Return positions of the n pairs of each stratum with the lowest numbers (all pairs of a smaller stratum).

    numbers: (k,) the pairs' permanent random numbers, so that two matchers are checked on the same pairs where
    possible; stratum: (k,) the stratum of each pair.
    """
    order = np.lexsort((numbers, stratum))
    place = np.arange(len(order)) - np.searchsorted(stratum[order], stratum[order])  # within its stratum
    return order[place < n]
