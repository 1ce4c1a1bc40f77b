"""Draw the next pairs to audit from the sampling orders of the newest design."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from allpairs.learner.evaluation.audit.allocation import Gain, allocate, gain_of
from allpairs.learner.evaluation.audit.measure import labels_needed
from allpairs.learner.evaluation.audit.sample import DRAWS, Sample
from allpairs.learner.jobs.audit.designs import Drawn, read_designs
from allpairs.learner.jobs.audit.labels import Labelled, read_under
from allpairs.learner.jobs.data.project_data import ProjectData


@dataclass(frozen=True)
class Candidate:
    """A pair to audit: its items, stratum, score under the design's model, and inclusion probability."""

    left_id: int
    right_id: int
    stratum: int
    score: float
    inclusion: float


def draw_pairs(session: Session, project_id: int, data: ProjectData, draw: int) -> tuple[int, list[Candidate]]:
    """Return the newest design's id and the next pairs of its sampling orders, by stratum; fewer if they run out."""
    designs = read_designs(session, project_id, data)
    design = designs[-1]
    labelled = read_under(session, project_id, data, designs, design)
    sample = labelled.sample
    orders = _left_in_orders(design, labelled, len(sample.sizes))
    available = np.array([len(order) for order in orders])
    gain = _gain(sample, np.random.default_rng([data.settings.seed, design.number]))
    wanted = allocate(sample.labels, available, gain, draw)
    inclusion = (sample.labels + wanted) / sample.sizes
    chosen = [at for order, n in zip(orders, wanted.tolist(), strict=True) for at in order[:n].tolist()]
    order = design.order
    return design.id, [
        Candidate(int(order.left[at]), int(order.right[at]), int(order.stratum[at]), float(order.score[at]),
                  float(min(1.0, inclusion[order.stratum[at]])))
        for at in chosen
    ]  # fmt: skip


def _gain(sample: Sample, rng: np.random.Generator) -> Gain | None:
    """Return what more labels of each stratum would gain; None while too few pairs are labelled."""
    if labels_needed(sample.labels, sample.sizes):
        return None
    return gain_of(sample.draw_rates(DRAWS, rng), sample.sizes, sample.band, sample.known)


def _left_in_orders(design: Drawn, labelled: Labelled, strata: int) -> list[np.ndarray]:
    """For each stratum, return the positions of the unanswered pairs in its sampling order."""
    pairs = zip(design.order.left.tolist(), design.order.right.tolist(), strict=True)
    open_ = np.array([pair not in labelled.answered for pair in pairs], dtype=bool)
    return [np.nonzero(open_ & (design.order.stratum == stratum))[0] for stratum in range(strata)]


def columns_of(pairs: Sequence[Candidate], positions: Sequence[int]) -> list[dict[str, Any]]:
    """Return the task columns specific to these pairs, at these positions of their round."""
    return [asdict(pair) | {"position": at, "p": None} for pair, at in zip(pairs, positions, strict=True)]
