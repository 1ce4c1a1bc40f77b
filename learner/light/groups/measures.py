"""How good groups are beside the true entities, and what groups look like by themselves.

Sources: pairwise measures and the cluster measure of Menestrina, Whang and Garcia-Molina (2010); B³ of Bagga and
Baldwin (1998); rates of names of Binette et al. (2023); diversity of order q of Hill (1973).
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PrecisionRecall:
    """A precision and a recall, each None where nothing could be right or wrong."""

    precision: float | None
    recall: float | None

    @property
    def f1(self) -> float | None:
        """Their harmonic mean; 0 if both are."""
        if self.precision is None or self.recall is None:
            return None
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def pairwise(predicted: np.ndarray, true: np.ndarray, second: np.ndarray | None = None) -> PrecisionRecall:
    """Return the quality of the pairs within groups, predicted and true: (n,) group and entity of each text.

    second: (n,) bool, which texts are of the second of two lists; then only pairs of both lists count.
    """
    same = _pairs(np.column_stack([predicted, true]), second)
    return PrecisionRecall(
        _share(same, _pairs(predicted[:, None], second)), _share(same, _pairs(true[:, None], second))
    )


def clusters(predicted: np.ndarray, true: np.ndarray) -> PrecisionRecall:
    """Return the share of groups that are exactly an entity, and of entities that are exactly a group."""
    shared = _shared(predicted, true)
    exact = len(np.unique(predicted[(shared == _size_of_each(predicted)) & (shared == _size_of_each(true))]))
    return PrecisionRecall(_share(exact, len(np.unique(predicted))), _share(exact, len(np.unique(true))))


def b_cubed(predicted: np.ndarray, true: np.ndarray, second: np.ndarray | None = None) -> PrecisionRecall:
    """Return the mean over texts of the share of their group that is their entity's, and of their entity in it.

    second: as in `pairwise`; then only a text itself and those of the other list count, which it can match.
    """
    return PrecisionRecall(*map(_mean, _b_cubed_of_each(predicted, true, second)))


def b_cubed_by(predicted: np.ndarray, true: np.ndarray, part: np.ndarray) -> list[PrecisionRecall]:
    """Return the means over the texts of each part. part: (n,) int64 from 0, no number left out."""
    count = np.bincount(part)
    means = [np.bincount(part, weights=each) / count for each in _b_cubed_of_each(predicted, true)]
    return [PrecisionRecall(*both) for both in zip(*(mean.tolist() for mean in means), strict=True)]


def matching_rate(group: np.ndarray) -> float | None:
    """Return the share of texts that are in a group with another one."""
    return _mean(_size_of_each(group) > 1)


def name_variation(group: np.ndarray, name: np.ndarray) -> float | None:
    """Return the share of groups whose texts have more than one name, (n,) of each text."""
    named = np.unique(np.column_stack([_codes(group), _codes(name)]), axis=0)
    return _mean(np.bincount(named[:, 0]) > 1) if len(named) else None


def homonymy(group: np.ndarray, name: np.ndarray) -> float | None:
    """Return the share of groups in which a text has a name that a text of another group has, too."""
    named = np.unique(np.column_stack([_codes(group), _codes(name)]), axis=0)
    if not len(named):
        return None
    elsewhere = np.bincount(named[:, 1])[named[:, 1]] > 1
    return _mean(np.bincount(named[:, 0], weights=elsewhere) > 0)


def hill_number(group: np.ndarray, order: float) -> float | None:
    """Return the diversity of this order of the sizes of groups: how many sizes there are, the common ones more.

    Order 0 counts the sizes, 1 is the exponential of their entropy, 2 the inverse of Simpson's concentration.
    """
    if not len(group):
        return None
    share = np.array(list(sizes(group).values()), dtype=np.float64)
    share /= share.sum()
    if order == 1:
        return float(np.exp(-(share * np.log(share)).sum()))
    return float((share**order).sum() ** (1 / (1 - order)))


def sizes(group: np.ndarray) -> dict[int, int]:
    """Return how many groups there are of each size, the smallest first."""
    size, count = np.unique(np.unique(group, return_counts=True)[1], return_counts=True)
    return dict(zip(size.tolist(), count.tolist(), strict=True))


def _shared(predicted: np.ndarray, true: np.ndarray, second: np.ndarray | None = None) -> np.ndarray:
    """Return how many texts share both group and entity with each text, itself included, (n,) int64."""
    return _size_of_each(np.unique(np.column_stack([predicted, true]), axis=0, return_inverse=True)[1].ravel(), second)


def _b_cubed_of_each(
    predicted: np.ndarray, true: np.ndarray, second: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of each text's group that is its entity's, and of its entity in its group, (n,) each."""
    shared = _shared(predicted, true, second)
    return shared / _size_of_each(predicted, second), shared / _size_of_each(true, second)


def _pairs(names: np.ndarray, second: np.ndarray | None) -> int:
    """Return how many pairs of texts have equal rows of names (n, c)."""
    code = np.unique(names, axis=0, return_inverse=True)[1].ravel()
    size = np.bincount(code).astype(object)  # exact, also for groups of millions
    if second is None:
        return int((size * (size - 1) // 2).sum())
    seconds = np.bincount(code, weights=second).astype(np.int64).astype(object)
    return int((seconds * (size - seconds)).sum())


def _size_of_each(group: np.ndarray, second: np.ndarray | None = None) -> np.ndarray:
    """Return how many texts are in each text's group, (n,) int64; with `second` itself and those of the other list."""
    codes = _codes(group)
    if not len(codes):
        return codes
    size = np.bincount(codes)
    if second is None:
        return size[codes]
    seconds = np.bincount(codes, weights=second).astype(np.int64)
    return 1 + np.where(second, (size - seconds)[codes], seconds[codes])


def _codes(values: np.ndarray) -> np.ndarray:
    return np.unique(values, return_inverse=True)[1].ravel()


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mean(values: np.ndarray) -> float | None:
    return float(np.mean(values)) if len(values) else None
