"""The audit labels of a project as a stratified sample under the newest design."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind, DesignKind
from allpairs.db.labels.audits import AuditLabel, audit_labels
from allpairs.learner.evaluation.audit.measure import labels_needed
from allpairs.learner.evaluation.audit.sample import Posterior, Sample, draw_posterior
from allpairs.learner.evaluation.audit.verdicts import NO, UNREAD, VERDICTS, YES, Verdicts
from allpairs.learner.jobs.audit.designs import Drawn
from allpairs.learner.jobs.audit.read_pairs import ReadPairs, read_of
from allpairs.learner.jobs.data.evaluation_snapshot import rows_of, scores_of, similarities_of
from allpairs.learner.jobs.data.project_data import ProjectData


@dataclass(frozen=True)
class Labelled:
    """Labelled pairs with their item ids (n,), and all pairs that need no label any more.

    unsure: number of pairs that nobody could decide. They are left out, as if they had not been drawn. known: (k, 2)
    item ids of the known positives: those that came with the data, and those that checks of false positives found.
    read: what a machine rater has read of the design.
    """

    sample: Sample
    left_ids: np.ndarray
    right_ids: np.ndarray
    unsure: int
    answered: set[tuple[int, int]]
    known: np.ndarray
    read: ReadPairs

    def placed(self) -> list[list[float]]:
        """Return items, stratum and inclusion probability of each labelled pair."""
        columns = self.left_ids, self.right_ids, self.sample.stratum, 1 / self.sample.weight
        return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]

    def rated(self) -> dict[str, list[int]] | None:
        """Return what a machine rater said: of each labelled pair, and how many it read and called positive."""
        found = self.sample.verdicts
        if found is None:
            return None
        return {"said": found.verdict.tolist(), "read": found.read.tolist(), "called": found.called.tolist()}


def read_usable(
    session: Session, project_id: int, data: ProjectData, designs: Sequence[Drawn]
) -> tuple[Drawn, Labelled]:
    """Return the newest design whose strata have enough labels for figures, with the labels; else the newest one."""
    placed = [(design, read_under(session, project_id, data, designs, design)) for design in reversed(designs)]
    enough = (one for one in placed if not labels_needed(one[1].sample.labels, one[1].sample.sizes))
    return next(enough, placed[0])


def read_under(
    session: Session, project_id: int, data: ProjectData, designs: Sequence[Drawn], under: Drawn
) -> Labelled:
    """Place all labels so far in the strata of this design, as far as they are of its texts."""
    of_same = [design for design in designs if design.is_of(under)]
    return read_labelled(session, project_id, data.within(under.rows), of_same, under)


def read_labelled(
    session: Session, project_id: int, data: ProjectData, designs: Sequence[Drawn], under: Drawn
) -> Labelled:
    """Place all labels so far, whichever design drew them, in the strata of this design.

    designs: those of the same texts. A label that another one drew counts if one of these has drawn its pair, too, and
    found it answered. Pairs that a check of false positives labelled are known now: they leave their strata, at whose
    other pairs the audit's labels are a random sample as before.
    """
    given = audit_labels(session, project_id, DesignKind.AUDIT)
    checks = _checked(session, project_id)
    gone = {(one.left_id, one.right_id) for one in checks}
    labels = gone | {(one.left_id, one.right_id) for one in given}
    read = {design.id: read_of(design, labels, gone) for design in designs}
    every = _drawn_by(designs, given, read)
    decided = [label for label in every if label.answer != AnswerKind.UNSURE]
    left, right = _items(decided)
    answered = {(one.left_id, one.right_id) for one in every}
    there = set(data.item_ids[rows_of(data)].tolist())
    checked = [
        one
        for one in checks
        if (one.left_id, one.right_id) not in answered and one.left_id in there and one.right_id in there
    ]
    known = np.concatenate([_given(data), _items(checked, AnswerKind.POSITIVE).T])
    sizes = under.strata.sizes.copy()
    beside = np.zeros(len(under.strata.sizes))
    np.subtract.at(sizes, _strata(under, checked, data, *_items(checked)), 1)
    np.add.at(beside, _placed(under, data, *known.T), 1)
    positive = np.array([one.answer == AnswerKind.POSITIVE for one in decided], dtype=bool)
    strata = [_strata(design, decided, data, left, right) for design in designs]
    inclusion = np.max(
        [_inclusion(design, decided, at, read[design.id]) for design, at in zip(designs, strata, strict=True)], axis=0
    )
    stratum = strata[[design.id for design in designs].index(under.id)]
    sample = Sample(
        stratum,
        positive,
        1 / inclusion,
        sizes,
        under.strata.band,
        beside,
        _verdicts(read[under.id], decided, stratum),
    )
    answered |= {(one.left_id, one.right_id) for one in (*given, *checked)}
    return Labelled(sample, left, right, len(every) - len(decided), answered, known, read[under.id])


def _verdicts(read: ReadPairs, labels: Sequence[AuditLabel], stratum: np.ndarray) -> Verdicts | None:
    return Verdicts(read.said(_pairs(labels), stratum), read.read, read.called) if read.head.any() else None


def _drawn_by(
    designs: Sequence[Drawn], labels: Sequence[AuditLabel], read: Mapping[int, ReadPairs]
) -> list[AuditLabel]:
    """Return the labels whose pair one of these designs has drawn by now, and has in its texts."""
    own = {design.id: order_places(design) for design in designs}
    mine = [one for one in labels if (one.left_id, one.right_id) in own.get(one.design_id, {})]
    if len(mine) == len(labels):
        return mine
    found = {(one.left_id, one.right_id): one for one in mine}
    for design in designs:
        depth = _depth(design, mine, read[design.id])
        places = own[design.id]
        there = [one for one in labels if (one.left_id, one.right_id) in places]
        of_order = dict(zip(places, design.order.stratum.tolist(), strict=True))
        stratum = np.array([of_order[pair] for pair in _pairs(there)], dtype=np.int64)
        deepest = depth[stratum, read[design.id].said(_pairs(there), stratum)]
        for one, pair, until in zip(there, _pairs(there), deepest.tolist(), strict=True):
            if places[pair] < until:
                found.setdefault(pair, one)
    return list(found.values())


def _checked(session: Session, project_id: int) -> list[AuditLabel]:
    """Return the decided labels of checks of false positives."""
    every = audit_labels(session, project_id, DesignKind.CORRECTION)
    return [label for label in every if label.answer != AnswerKind.UNSURE]


def _given(data: ProjectData) -> np.ndarray:
    """Return the item ids (k, 2) of the evaluation pairs that are positives in the data."""
    left, right = data.dataset.evaluation_positives.T
    ids = data.item_ids[data.dataset.evaluation_left[left]], data.item_ids[data.dataset.evaluation_right[right]]
    return np.column_stack(ids)


def _items(labels: Sequence[AuditLabel], answer: AnswerKind | None = None) -> np.ndarray:
    """Return the item ids (2, n) of the labels' pairs, of all or of those with this answer."""
    pairs = [(one.left_id, one.right_id) for one in labels if answer in (None, one.answer)]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


def posterior_of(labelled: Labelled, ranks: np.ndarray, rng: np.random.Generator) -> Posterior | None:
    """Draw from the posterior; None while labels are missing. ranks: (n, m) of the labelled pairs under each model."""
    sample = labelled.sample
    return None if labels_needed(sample.labels, sample.sizes) else draw_posterior(sample, rng, ranks=ranks)


def _strata(
    design: Drawn, labels: Sequence[AuditLabel], data: ProjectData, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Return each labelled pair's stratum under a design: as drawn where it drew the pair, else by the score."""
    placed = _placed(design, data, left, right)
    return np.array(
        [one.stratum if one.design_id == design.id else int(at) for one, at in zip(labels, placed, strict=True)],
        dtype=np.int64,
    )


def _placed(design: Drawn, data: ProjectData, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the stratum in which each pair of items would be under a design, by its score and similarity."""
    if not len(left):
        return np.empty(0, dtype=np.int64)
    similarities = similarities_of(data, design.lexical, left, right)
    return design.strata.place(scores_of(data, design.vectors, left, right, design.rescored), similarities)


def _inclusion(design: Drawn, labels: Sequence[AuditLabel], stratum: np.ndarray, read: ReadPairs) -> np.ndarray:
    """Return the probability that the design has drawn each labelled pair by now, (n,), given its verdict.

    A design has drawn each of its sampling orders, or the pairs of each verdict in it, down to the deepest drawn pair,
    and a pair's permanent random number is equally likely to be any of that order's. Designs share these numbers, so
    the inclusion probability under several designs is the highest of theirs.
    """
    share = np.minimum(_depth(design, labels, read) / design.strata.sizes[:, None], 1.0)
    found: np.ndarray = share[stratum, read.said(_pairs(labels), stratum)]
    return found


def _depth(design: Drawn, labels: Sequence[AuditLabel], read: ReadPairs) -> np.ndarray:
    """Return how deep the design has drawn each stratum's sampling order, by verdict, (h, 3)."""
    depth = np.zeros((len(design.strata.sizes), VERDICTS))
    places = order_places(design)
    mine = [one for one in labels if one.design_id == design.id]
    stratum = np.array([one.stratum for one in mine], dtype=np.int64)
    place = np.array([places[pair] for pair in _pairs(mine)], dtype=np.int64)
    np.maximum.at(depth, (stratum, read.said(_pairs(mine), stratum)), place + 1)
    # a pair that another design drew, and of which this one's rater said nothing, may have either verdict
    depth[:, UNREAD] = np.maximum(depth[:, UNREAD], np.minimum(depth[:, NO], depth[:, YES]))
    return depth


def _pairs(labels: Sequence[AuditLabel]) -> list[tuple[int, int]]:
    return [(one.left_id, one.right_id) for one in labels]


def order_places(design: Drawn) -> dict[tuple[int, int], int]:
    """Return the place of each pair of items in its stratum's sampling order, from 0."""
    order = design.order
    place = np.arange(len(order.stratum)) - np.searchsorted(order.stratum, order.stratum)
    return dict(zip(zip(order.left.tolist(), order.right.tolist(), strict=True), place.tolist(), strict=True))
