"""Figures of groups from drawn texts, with intervals.

A text is drawn with a known chance, and so is its entity, the more often the larger it is: sums over texts are weighted
by the inverse of both. Sources: B³ of Bagga and Baldwin (1998); the cluster measure of Menestrina, Whang and
Garcia-Molina (2010); ratio estimators from drawn clusters of Binette et al. (2023). The intervals are those of a
Bayesian bootstrap of the texts (Rubin 1981), in a population of finite size.
"""

from dataclasses import dataclass

import numpy as np

from allpairs.db.estimate import Estimate
from allpairs.learner.evaluation.entities.sample import Draws, Grouped

TAILS = (2.5, 97.5)
# Texts that may be hidden from the sample, as (group, entity, both): a wrong pair, a missed one, both; a right pair and
# a text alone. An interval reaches as low as it does with one bad one more, and as high as with one good one.
BAD = ((2, 1, 1), (1, 2, 1), (2, 2, 1))
GOOD = ((2, 2, 2), (1, 1, 1))
LEAST = 1e-12  # a sum that is 0 divides nothing
METHOD = "entity audit"


@dataclass(frozen=True)
class Texts:
    """Draws of texts, (draws, n) each: weight, and how many texts are in group, entity, and both, itself included."""

    weight: np.ndarray
    group: np.ndarray
    entity: np.ndarray
    both: np.ndarray

    def beside(self, weight: np.ndarray, group: int, entity: int, both: int) -> "Texts":
        """Return them with one more; weight: (draws,)."""
        more = [np.full((len(weight), 1), one) for one in (group, entity, both)]
        columns = zip((self.group, self.entity, self.both), more, strict=True)
        return Texts(np.c_[self.weight, weight], *(np.hstack(one) for one in columns))


def figures(draws: Draws, groups: Grouped, whole: bool, rng: np.random.Generator) -> dict[str, Estimate]:
    """Return the figures by name: B³ and pairwise, and for `whole` groups (of one list) those of whole groups."""
    sample = draws.sample
    others = np.maximum(sample.weight - 1, 0)
    part = rng.standard_gamma(1.0, (len(draws.unseen), len(sample.texts) + 1))
    entity = draws.entities()
    both = draws.right(groups, rng)
    texts = Texts(1 + part[:, :-1] * others, np.broadcast_to(groups.size, both.shape), entity, both)
    hidden = part[:, -1] * others.mean()
    value = {name: float(one.mean()) for name, one in _measures(texts, whole).items()}
    low = [_measures(texts.beside(hidden, *one), whole) for one in BAD]
    high = [_measures(texts.beside(hidden, *one), whole) for one in GOOD]
    return {
        name: Estimate(
            at,
            min(at, *(float(np.percentile(one[name], TAILS[0])) for one in low)),
            max(at, *(float(np.percentile(one[name], TAILS[1])) for one in high)),
            METHOD,
            len(sample.texts),
        )
        for name, at in value.items()
    }


def _measures(texts: Texts, whole: bool) -> dict[str, np.ndarray]:
    """Return each measure in each draw, (draws,)."""
    found = {name: part / np.maximum(total, LEAST) for name, (part, total) in sums(texts, whole).items()}
    for name in dict.fromkeys(one.rpartition("_")[0] for one in tuple(found)):
        precision = found[f"{name}_precision"]
        recall = found[f"{name}_recall"]
        found[f"{name}_f1"] = 2 * precision * recall / np.maximum(precision + recall, LEAST)
    return found


def sums(texts: Texts, whole: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the sums whose ratio is each precision and recall, in each draw, (draws,) each.

    With the inverse of each text's chance as its weight, either sum is on average that of all texts.
    """
    weight = texts.weight
    group = texts.group
    entity = texts.entity
    both = texts.both
    every = weight.sum(1)
    pairs = (weight * (both - 1)).sum(1)
    found = {
        "b_cubed_precision": ((weight * both / group).sum(1), every),
        "b_cubed_recall": ((weight * both / entity).sum(1), every),
        "pairwise_precision": (pairs, (weight * (group - 1)).sum(1)),
        "pairwise_recall": (pairs, (weight * (entity - 1)).sum(1)),
    }
    if whole:
        exact = weight * ((both == group) & (both == entity))
        found["cluster_precision"] = (exact / group).sum(1), (weight / group).sum(1)
        found["cluster_recall"] = (exact / entity).sum(1), (weight / entity).sum(1)
    return found
