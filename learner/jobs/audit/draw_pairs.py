"""Draw the next pairs to audit from the sampling orders of the newest design."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from allpairs.learner.evaluation.audit.allocation import Gain, allocate, gain_of
from allpairs.learner.evaluation.audit.cells import Cells, audit_cells, draw_cells
from allpairs.learner.evaluation.audit.measure import labels_needed
from allpairs.learner.evaluation.audit.sample import Sample
from allpairs.learner.evaluation.audit.verdicts import YES
from allpairs.learner.jobs.audit.designs import AuditDesign, read_designs
from allpairs.learner.jobs.audit.labels import LabelledAudit, read_under
from allpairs.learner.jobs.data.project_data import ProjectData


@dataclass(frozen=True)
class Candidate:
    """A pair to audit: its items, stratum, score under the design's model, and inclusion probability, about."""

    left_id: int
    right_id: int
    stratum: int
    score: float
    inclusion: float


def draw_audit_pairs(session: Session, project_id: int, data: ProjectData, draw: int) -> tuple[int, list[Candidate]]:
    """Return the newest design's id and the next pairs of its sampling orders, by stratum; fewer if they run out.

    Where a machine rater has read the first pairs of an order, they are drawn by its verdicts.
    """
    designs = read_designs(session, project_id, data)
    design = designs[-1]
    labelled = read_under(session, project_id, data, designs, design)
    sample = labelled.sample
    cells = audit_cells(labelled.sample)
    orders = _left_in_orders(design, labelled)
    available = np.array([len(order) for order in orders])
    gain = _gain(sample, cells, np.random.default_rng([data.settings.seed, design.number]))
    counts = allocate(cells.labels, available, gain, draw)
    chosen = [order[:n] for order, n in zip(orders, counts.tolist(), strict=True)]
    inclusion = np.minimum((cells.labels + counts) / np.maximum(cells.sizes, 1.0), 1.0)
    order = design.order
    return design.id, [
        Candidate(
            int(order.left[place]),
            int(order.right[place]),
            int(order.stratum[place]),
            float(order.score[place]),
            float(share),
        )
        for positions, share in zip(chosen, inclusion, strict=True)
        for place in positions.tolist()
    ]


def _gain(sample: Sample, cells: Cells, rng: np.random.Generator) -> Gain | None:
    """Return what more labels of each cell would gain; None while too few pairs are labelled."""
    if labels_needed(sample.labels, sample.sizes):
        return None
    return gain_of(draw_cells(sample, rng), cells.sizes, cells.band, cells.known)


def _left_in_orders(design: AuditDesign, labelled: LabelledAudit) -> list[np.ndarray]:
    """For each cell, return the positions of the unanswered pairs in its stratum's sampling order."""
    pairs = list(zip(design.order.left.tolist(), design.order.right.tolist(), strict=True))
    open_ = np.array([pair not in labelled.answered for pair in pairs], dtype=bool)
    stratum = design.order.stratum
    read = labelled.read
    if not read.head.any():
        return [np.nonzero(open_ & (stratum == h))[0] for h in range(len(read.head))]
    place = np.arange(len(stratum)) - np.searchsorted(stratum, stratum)
    yes = read.verdicts_on(pairs, stratum) == YES
    open_ &= (read.head[stratum] == 0) | (place < read.head[stratum])
    return [
        np.nonzero(open_ & (stratum == h) & (yes == verdict))[0] for h in range(len(read.head)) for verdict in (0, 1)
    ]


def columns_of(pairs: Sequence[Candidate], positions: Sequence[int]) -> list[dict[str, Any]]:
    """Return the task columns specific to these pairs, at these positions of their round."""
    return [asdict(pair) | {"position": at, "p": None} for pair, at in zip(pairs, positions, strict=True)]
