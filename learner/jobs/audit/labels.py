"""The audit labels of a project as a stratified sample under the newest design."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind, DesignKind
from allpairs.db.labels.audits import AuditLabel, audit_labels
from allpairs.learner.evaluation.audit.measure import labels_needed
from allpairs.learner.evaluation.audit.sample import Posterior, Sample, draw_posterior
from allpairs.learner.jobs.audit.designs import Drawn
from allpairs.learner.jobs.data.evaluation_snapshot import scores_of, similarities_of
from allpairs.learner.jobs.data.project_data import ProjectData


@dataclass(frozen=True)
class Labelled:
    """Labelled pairs with their item ids (n,), and all answered pairs.

    unsure: number of pairs that nobody could decide. They are left out, as if they had not been drawn.
    """

    sample: Sample
    left_ids: np.ndarray
    right_ids: np.ndarray
    unsure: int
    answered: set[tuple[int, int]]

    def placed(self) -> list[list[float]]:
        """Return items, stratum and inclusion probability of each labelled pair."""
        columns = self.left_ids, self.right_ids, self.sample.stratum, 1 / self.sample.weight
        return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def read_usable(
    session: Session, project_id: int, data: ProjectData, designs: Sequence[Drawn]
) -> tuple[Drawn, Labelled]:
    """Return the newest design whose strata have enough labels for figures, with the labels; else the newest one."""
    placed = [(design, read_labelled(session, project_id, data, designs, design)) for design in reversed(designs)]
    enough = (one for one in placed if not labels_needed(one[1].sample.labels, one[1].sample.sizes))
    return next(enough, placed[0])


def read_labelled(
    session: Session, project_id: int, data: ProjectData, designs: Sequence[Drawn], under: Drawn
) -> Labelled:
    """Place all labels so far, whichever design drew them, in the strata of this design."""
    every = audit_labels(session, project_id, DesignKind.AUDIT)
    decided = [label for label in every if label.answer != AnswerKind.UNSURE]
    left, right = np.array([(one.left_id, one.right_id) for one in decided], dtype=np.int64).reshape(-1, 2).T
    positive = np.array([one.answer == AnswerKind.POSITIVE for one in decided], dtype=bool)
    strata = [_strata(design, decided, data, left, right) for design in designs]
    inclusion = np.max([_inclusion(design, decided, at) for design, at in zip(designs, strata, strict=True)], axis=0)
    stratum = strata[[design.id for design in designs].index(under.id)]
    return Labelled(
        Sample(stratum, positive, 1 / inclusion, under.strata.sizes, under.strata.band), left, right,
        len(every) - len(decided), {(one.left_id, one.right_id) for one in every},
    )  # fmt: skip


def posterior_of(labelled: Labelled, ranks: np.ndarray, rng: np.random.Generator) -> Posterior | None:
    """Draw from the posterior; None while labels are missing. ranks: (n, m) of the labelled pairs under each model."""
    sample = labelled.sample
    return None if labels_needed(sample.labels, sample.sizes) else draw_posterior(sample, rng, ranks=ranks)


def _strata(
    design: Drawn, labels: Sequence[AuditLabel], data: ProjectData, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Return each labelled pair's stratum under a design: as drawn where it drew the pair, else by the score."""
    if not labels:
        return np.empty(0, dtype=np.int64)
    placed = design.strata.place(
        scores_of(data, design.vectors, left, right), similarities_of(data, design.lexical, left, right)
    )
    return np.array(
        [one.stratum if one.design_id == design.id else int(at) for one, at in zip(labels, placed, strict=True)],
        dtype=np.int64,
    )


def _inclusion(design: Drawn, labels: Sequence[AuditLabel], stratum: np.ndarray) -> np.ndarray:
    """Return the probability that the design has drawn each labelled pair by now, (n,).

    A design has drawn each of its sampling orders down to the deepest drawn pair, and a pair's permanent random number
    is equally likely to be any of that order's. Designs share these numbers, so the inclusion probability under several
    designs is the highest of theirs.
    """
    sizes = design.strata.sizes
    depth = np.zeros(len(sizes))
    places = order_places(design)
    for one in labels:
        if one.design_id == design.id:
            depth[one.stratum] = max(depth[one.stratum], places[one.left_id, one.right_id] + 1)
    found: np.ndarray = (depth / sizes)[stratum]
    return found


def order_places(design: Drawn) -> dict[tuple[int, int], int]:
    """Return the place of each pair of items in its stratum's sampling order, from 0."""
    order = design.order
    place = np.arange(len(order.stratum)) - np.searchsorted(order.stratum, order.stratum)
    return dict(zip(zip(order.left.tolist(), order.right.tolist(), strict=True), place.tolist(), strict=True))
