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
class TextDraws:
    """Draws of texts, (draws, n) each: weight, and how many texts are in group, entity, and both, itself included."""

    weight: np.ndarray
    group: np.ndarray
    entity: np.ndarray
    shared: np.ndarray

    def beside(self, weight: np.ndarray, group: int, entity: int, shared: int) -> "TextDraws":
        """Return them with one more; weight: (draws,)."""
        more = [np.full((len(weight), 1), column) for column in (group, entity, shared)]
        columns = zip((self.group, self.entity, self.shared), more, strict=True)
        return TextDraws(np.c_[self.weight, weight], *(np.hstack(column) for column in columns))


def entity_figures(draws: Draws, groups: Grouped, whole: bool, rng: np.random.Generator) -> dict[str, Estimate]:
    """Return the figures by name: B³ and pairwise, and for `whole` groups (of one list) those of whole groups."""
    sample = draws.sample
    unseen = np.maximum(sample.weight - 1, 0)
    part = rng.standard_gamma(1.0, (len(draws.unseen), len(sample.texts) + 1))
    entity = draws.entities()
    shared = draws.right(groups, rng)
    texts = TextDraws(1 + part[:, :-1] * unseen, np.broadcast_to(groups.size, shared.shape), entity, shared)
    hidden = part[:, -1] * unseen.mean()
    value = {name: float(measures.mean()) for name, measures in _measures(texts, whole).items()}
    low = [_measures(texts.beside(hidden, *measures), whole) for measures in BAD]
    high = [_measures(texts.beside(hidden, *measures), whole) for measures in GOOD]
    return {
        name: Estimate(
            mean,
            min(mean, *(float(np.percentile(measures[name], TAILS[0])) for measures in low)),
            max(mean, *(float(np.percentile(measures[name], TAILS[1])) for measures in high)),
            METHOD,
            len(sample.texts),
        )
        for name, mean in value.items()
    }


def _measures(texts: TextDraws, whole: bool) -> dict[str, np.ndarray]:
    """Return each measure in each draw, (draws,)."""
    ratios = {name: part / np.maximum(total, LEAST) for name, (part, total) in sums(texts, whole).items()}
    for name in dict.fromkeys(ratio_name.rpartition("_")[0] for ratio_name in tuple(ratios)):
        precision = ratios[f"{name}_precision"]
        recall = ratios[f"{name}_recall"]
        ratios[f"{name}_f1"] = 2 * precision * recall / np.maximum(precision + recall, LEAST)
    return ratios


def sums(texts: TextDraws, whole: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the sums whose ratio is each precision and recall, in each draw, (draws,) each.

    With the inverse of each text's chance as its weight, either sum is on average that of all texts.
    """
    weight = texts.weight
    group = texts.group
    entity = texts.entity
    shared = texts.shared
    total = weight.sum(1)
    pairs = (weight * (shared - 1)).sum(1)
    terms = {
        "b_cubed_precision": ((weight * shared / group).sum(1), total),
        "b_cubed_recall": ((weight * shared / entity).sum(1), total),
        "pairwise_precision": (pairs, (weight * (group - 1)).sum(1)),
        "pairwise_recall": (pairs, (weight * (entity - 1)).sum(1)),
    }
    if whole:
        exact = weight * ((shared == group) & (shared == entity))
        terms["cluster_precision"] = (exact / group).sum(1), (weight / group).sum(1)
        terms["cluster_recall"] = (exact / entity).sum(1), (weight / entity).sum(1)
    return terms
