"""What audit pairs are drawn from: the strata, or in each of them the pairs of either verdict."""

from dataclasses import dataclass

import numpy as np

from allpairs.learner.evaluation.audit.sample import DRAWS, Sample
from allpairs.learner.evaluation.audit.verdicts import cell_sizes


@dataclass(frozen=True)
class Cells:
    """The strata (h,) of a sample; where a machine rater has read pairs (2h,): no, yes, no, yes …

    labels: labelled pairs of each; sizes: pairs, about, where they are parts of a stratum; band, known: as in `Sample`.
    Of a stratum that is not drawn by verdict the first cell has all.
    """

    labels: np.ndarray
    sizes: np.ndarray
    band: np.ndarray | None
    known: np.ndarray | None


def audit_cells(sample: Sample) -> Cells:
    """Return the cells of a sample."""
    verdicts = sample.verdicts
    if verdicts is None:
        return Cells(sample.labels, sample.sizes, sample.band, sample.known)
    split = np.repeat(verdicts.read > 0, 2)
    unsplit = np.column_stack([sample.labels, np.zeros_like(sample.labels)]).ravel()
    cells = cell_sizes(sample.sizes, verdicts.read, verdicts.called)
    whole = np.column_stack([sample.sizes, np.zeros_like(sample.sizes)]).ravel()
    band = np.arange(len(verdicts.read)) if sample.band is None else sample.band
    known = None if sample.known is None else np.column_stack([sample.known, np.zeros(len(sample.known))]).ravel()
    labels = np.where(split, verdicts.labelled(sample.stratum).ravel(), unsplit)
    return Cells(labels, np.where(split, cells, whole), np.repeat(band, 2), known)


def draw_cells(sample: Sample, rng: np.random.Generator) -> np.ndarray:
    """Draw (draws, c) the cells' shares of positives, to see where labels help."""
    return sample.draw_rates(DRAWS, rng) if sample.verdicts is None else sample.draw_by_verdict(DRAWS, rng)
