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
BAD, GOOD = ((2, 1, 1), (1, 2, 1), (2, 2, 1)), ((2, 2, 2), (1, 1, 1))
LEAST = 1e-12  # a sum that is 0 divides nothing
METHOD = "entity audit"


@dataclass(frozen=True)
class _Texts:
    """Draws of texts, (draws, n) each: weight, and how many texts are in group, entity, and both, itself included."""

    weight: np.ndarray
    group: np.ndarray
    entity: np.ndarray
    both: np.ndarray

    def beside(self, weight: np.ndarray, group: int, entity: int, both: int) -> "_Texts":
        """Return them with one more; weight: (draws,)."""
        more = [np.full((len(weight), 1), one) for one in (group, entity, both)]
        columns = zip((self.group, self.entity, self.both), more, strict=True)
        return _Texts(np.c_[self.weight, weight], *(np.hstack(one) for one in columns))


def figures(draws: Draws, groups: Grouped, whole: bool, rng: np.random.Generator) -> dict[str, Estimate]:
    """Return the figures by name: B³ and pairwise, and for `whole` groups (of one list) those of whole groups."""
    sample = draws.sample
    others = np.maximum(sample.weight - 1, 0)
    part = rng.standard_gamma(1.0, (len(draws.unseen), len(sample.texts) + 1))
    entity, both = draws.entities(), draws.right(groups, rng)
    texts = _Texts(1 + part[:, :-1] * others, np.broadcast_to(groups.size, both.shape), entity, both)
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


def _measures(texts: _Texts, whole: bool) -> dict[str, np.ndarray]:
    """Return each measure in each draw, (draws,)."""
    weight, group, entity, both = texts.weight, texts.group, texts.entity, texts.both
    found = _with_f1("b_cubed", _ratio(weight * both / group, weight), _ratio(weight * both / entity, weight))
    pairs = weight * (both - 1)
    found |= _with_f1("pairwise", _ratio(pairs, weight * (group - 1)), _ratio(pairs, weight * (entity - 1)))
    if whole:
        exact = (both == group) & (both == entity)
        precision = _ratio(weight * exact / group, weight / group)
        found |= _with_f1("cluster", precision, _ratio(weight * exact / entity, weight / entity))
    return found


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.asarray(part.sum(1) / np.maximum(whole.sum(1), LEAST))


def _with_f1(name: str, precision: np.ndarray, recall: np.ndarray) -> dict[str, np.ndarray]:
    f1 = 2 * precision * recall / np.maximum(precision + recall, LEAST)
    return {f"{name}_precision": precision, f"{name}_recall": recall, f"{name}_f1": f1}
