"""The audit labels of a project as a stratified sample under the newest design."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind, DesignKind
from allpairs.db.groups.decisions import known_by_decisions
from allpairs.db.labels.audits import AuditLabel, audit_labels
from allpairs.learner.evaluation.audit.measure import labels_needed
from allpairs.learner.evaluation.audit.sample import Posterior, Sample, draw_posterior
from allpairs.learner.evaluation.audit.verdicts import NO, UNREAD, VERDICTS, YES, Verdicts
from allpairs.learner.jobs.audit.designs import AuditDesign, evaluation_ids
from allpairs.learner.jobs.audit.read_pairs import ReadPairs, read_of
from allpairs.learner.jobs.data.evaluation_snapshot import item_pair_scores, rows_of, similarities_of
from allpairs.learner.jobs.data.project_data import ProjectData


@dataclass(frozen=True)
class LabelledAudit:
    """Labelled pairs with their item ids (n,), and all pairs that need no label any more.

    unsure: number of pairs that nobody could decide. They are left out, as if they had not been drawn. known,
    known_negatives: (k, 2) item ids of known pairs: those that came with the data, those that checks of false positives
    found, and those that people had decided of before the design was made.
    read: what a machine rater has read of the design.
    """

    sample: Sample
    left_ids: np.ndarray
    right_ids: np.ndarray
    unsure: int
    answered: set[tuple[int, int]]
    known: np.ndarray
    known_negatives: np.ndarray
    read: ReadPairs

    def placed(self) -> list[list[float]]:
        """Return items, stratum and inclusion probability of each labelled pair."""
        columns = self.left_ids, self.right_ids, self.sample.stratum, 1 / self.sample.weight
        return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]

    def rated(self) -> dict[str, list[int]] | None:
        """Return a machine rater's verdict on each labelled pair, and how many pairs it read and called positive."""
        verdicts = self.sample.verdicts
        if verdicts is None:
            return None
        return {"said": verdicts.verdict.tolist(), "read": verdicts.read.tolist(), "called": verdicts.called.tolist()}


def read_usable(
    session: Session, project_id: int, data: ProjectData, designs: Sequence[AuditDesign]
) -> tuple[AuditDesign, LabelledAudit]:
    """Return the newest design whose strata have enough labels for figures, with the labels; else the newest one."""
    placed = [(design, read_under(session, project_id, data, designs, design)) for design in reversed(designs)]
    enough = (
        (design, labelled)
        for design, labelled in placed
        if not labels_needed(labelled.sample.labels, labelled.sample.sizes)
    )
    return next(enough, placed[0])


def read_under(
    session: Session, project_id: int, data: ProjectData, designs: Sequence[AuditDesign], design: AuditDesign
) -> LabelledAudit:
    """Place all labels of this design's texts in its strata."""
    of_same = [candidate for candidate in designs if candidate.is_of(design)]
    return read_labelled(session, project_id, data.within(design.rows), of_same, design)


def read_labelled(
    session: Session, project_id: int, data: ProjectData, designs: Sequence[AuditDesign], design: AuditDesign
) -> LabelledAudit:
    """Place all labels so far, whichever design drew them, in the strata of this design.

    designs: those of the same texts. A label that another one drew counts if one of these has drawn its pair, too.
    Pairs that a check of false positives labelled are known now: they leave their strata, at whose other pairs the
    audit's labels are a random sample as before. Pairs that people had decided of when the design was made are in no
    stratum, whoever labelled them since or before.
    """
    audited = audit_labels(session, project_id, DesignKind.AUDIT)
    checks = _checked(session, project_id)
    checked_pairs = {(label.left_id, label.right_id) for label in checks}
    labels = checked_pairs | {(label.left_id, label.right_id) for label in audited}
    read = {candidate.id: read_of(candidate, labels, checked_pairs) for candidate in designs}
    drawn = _drawn_by(designs, audited, read)
    decided = [label for label in drawn if label.answer != AnswerKind.UNSURE]
    left, right = _items(decided)
    answered = {(label.left_id, label.right_id) for label in drawn}
    present = set(data.item_ids[rows_of(data)].tolist())
    checked = [
        label
        for label in checks
        if (label.left_id, label.right_id) not in {*answered, *design.decided}
        and label.left_id in present
        and label.right_id in present
    ]
    same, different = _decided(session, project_id, design)
    positives, negatives = _known_pairs(data)
    known = np.concatenate([positives, _items(checked, AnswerKind.POSITIVE).T, same])
    known_negatives = np.concatenate([negatives, _items(checked, AnswerKind.NEGATIVE).T, different])
    sizes = design.strata.sizes.copy()
    known_by_stratum = np.zeros(len(design.strata.sizes))
    np.subtract.at(sizes, _strata(design, checked, data, *_items(checked)), 1)
    np.add.at(known_by_stratum, _placed(design, data, *known.T), 1)
    positive = np.array([label.answer == AnswerKind.POSITIVE for label in decided], dtype=bool)
    strata = [_strata(candidate, decided, data, left, right) for candidate in designs]
    inclusion = np.max(
        [
            _inclusion(candidate, decided, places, read[candidate.id])
            for candidate, places in zip(designs, strata, strict=True)
        ],
        axis=0,
    )
    inside = np.array([pair not in design.decided for pair in _pairs(decided)], dtype=bool)
    stratum = strata[[candidate.id for candidate in designs].index(design.id)][inside]
    sample = Sample(
        stratum,
        positive[inside],
        1 / inclusion[inside],
        sizes,
        design.strata.band,
        known_by_stratum,
        _verdicts(read[design.id], [label for label, is_in in zip(decided, inside, strict=True) if is_in], stratum),
    )
    answered |= {(label.left_id, label.right_id) for label in (*audited, *checked)}
    unsure = len(drawn) - len(decided)
    return LabelledAudit(sample, left[inside], right[inside], unsure, answered, known, known_negatives, read[design.id])


def _decided(session: Session, project_id: int, design: AuditDesign) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs (k, 2) outside the design's strata that people say are the same, now or else before; others."""
    now_decided = known_by_decisions(session, project_id)
    pairs = np.array(list(design.decided), dtype=np.int64).reshape(-1, 2)
    same = np.array([now_decided.get(pair, before) for pair, before in design.decided.items()], dtype=bool)
    return pairs[same], pairs[~same]


def _verdicts(read: ReadPairs, labels: Sequence[AuditLabel], stratum: np.ndarray) -> Verdicts | None:
    return Verdicts(read.verdicts_on(_pairs(labels), stratum), read.read, read.called) if read.head.any() else None


def _drawn_by(
    designs: Sequence[AuditDesign], labels: Sequence[AuditLabel], read: Mapping[int, ReadPairs]
) -> list[AuditLabel]:
    """Return the labels whose pair one of these designs has drawn by now, and has in its texts."""
    places_by_design = {design.id: order_places(design) for design in designs}
    drawn = [label for label in labels if (label.left_id, label.right_id) in places_by_design.get(label.design_id, {})]
    if len(drawn) == len(labels):
        return drawn
    by_pair = {(label.left_id, label.right_id): label for label in drawn}
    for design in designs:
        depth = _depth(design, drawn, read[design.id])
        places = places_by_design[design.id]
        in_order = [label for label in labels if (label.left_id, label.right_id) in places]
        of_order = dict(zip(places, design.order.stratum.tolist(), strict=True))
        stratum = np.array([of_order[pair] for pair in _pairs(in_order)], dtype=np.int64)
        deepest = depth[stratum, read[design.id].verdicts_on(_pairs(in_order), stratum)]
        for label, pair, end in zip(in_order, _pairs(in_order), deepest.tolist(), strict=True):
            if places[pair] < end:
                by_pair.setdefault(pair, label)
    return list(by_pair.values())


def _checked(session: Session, project_id: int) -> list[AuditLabel]:
    """Return the decided labels of checks of false positives."""
    labels = audit_labels(session, project_id, DesignKind.CORRECTION)
    return [label for label in labels if label.answer != AnswerKind.UNSURE]


def _known_pairs(data: ProjectData) -> tuple[np.ndarray, np.ndarray]:
    """Return the item ids (k, 2) of the evaluation pairs that are positives in the data, and of its negatives."""
    dataset = data.dataset
    known = np.unique(np.concatenate([dataset.evaluation_positives, dataset.evaluation_known]), axis=0)
    width = len(dataset.evaluation_right) + 1
    positive = np.isin(known @ [width, 1], dataset.evaluation_positives @ [width, 1])
    left, right = evaluation_ids(data)
    pairs = np.column_stack([left[known[:, 0]], right[known[:, 1]]])
    return pairs[positive], pairs[~positive]


def _items(labels: Sequence[AuditLabel], answer: AnswerKind | None = None) -> np.ndarray:
    """Return the item ids (2, n) of the labels' pairs, of all or of those with this answer."""
    pairs = [(label.left_id, label.right_id) for label in labels if answer in (None, label.answer)]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


def posterior_of(labelled: LabelledAudit, ranks: np.ndarray, rng: np.random.Generator) -> Posterior | None:
    """Draw from the posterior; None while labels are missing. ranks: (n, m) of the labelled pairs under each model."""
    sample = labelled.sample
    return None if labels_needed(sample.labels, sample.sizes) else draw_posterior(sample, rng, ranks=ranks)


def _strata(
    design: AuditDesign, labels: Sequence[AuditLabel], data: ProjectData, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Return each labelled pair's stratum under a design: as drawn where it drew the pair, else by the score."""
    placed = _placed(design, data, left, right)
    return np.array(
        [
            label.stratum if label.design_id == design.id else int(place)
            for label, place in zip(labels, placed, strict=True)
        ],
        dtype=np.int64,
    )


def _placed(design: AuditDesign, data: ProjectData, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the stratum in which each pair of items would be under a design, by its score and similarity."""
    if not len(left):
        return np.empty(0, dtype=np.int64)
    similarities = similarities_of(data, design.lexical, left, right)
    return design.strata.place(item_pair_scores(data, design.vectors, left, right, design.rescored), similarities)


def _inclusion(design: AuditDesign, labels: Sequence[AuditLabel], stratum: np.ndarray, read: ReadPairs) -> np.ndarray:
    """Return the probability that the design has drawn each labelled pair by now, (n,), given its verdict.

    A design has drawn each of its sampling orders, or the pairs of each verdict in it, down to the deepest drawn pair,
    and a pair's permanent random number is equally likely to be any of that order's. Designs share these numbers, so
    the inclusion probability under several designs is the highest of theirs.
    """
    share = np.minimum(_depth(design, labels, read) / design.strata.sizes[:, None], 1.0)
    inclusion: np.ndarray = share[stratum, read.verdicts_on(_pairs(labels), stratum)]
    inclusion[[pair in design.decided for pair in _pairs(labels)]] = 0.0
    return inclusion


def _depth(design: AuditDesign, labels: Sequence[AuditLabel], read: ReadPairs) -> np.ndarray:
    """Return how deep the design has drawn each stratum's sampling order, by verdict, (h, 3)."""
    depth = np.zeros((len(design.strata.sizes), VERDICTS))
    places = order_places(design)
    drawn = [label for label in labels if label.design_id == design.id]
    stratum = np.array([label.stratum for label in drawn], dtype=np.int64)
    place = np.array([places[pair] for pair in _pairs(drawn)], dtype=np.int64)
    np.maximum.at(depth, (stratum, read.verdicts_on(_pairs(drawn), stratum)), place + 1)
    # a pair that another design drew, and of which this one's rater said nothing, may have either verdict
    depth[:, UNREAD] = np.maximum(depth[:, UNREAD], np.minimum(depth[:, NO], depth[:, YES]))
    return depth


def _pairs(labels: Sequence[AuditLabel]) -> list[tuple[int, int]]:
    return [(label.left_id, label.right_id) for label in labels]


def order_places(design: AuditDesign) -> dict[tuple[int, int], int]:
    """Return the place of each pair of items in its stratum's sampling order, from 0."""
    order = design.order
    place = np.arange(len(order.stratum)) - np.searchsorted(order.stratum, order.stratum)
    return dict(zip(zip(order.left.tolist(), order.right.tolist(), strict=True), place.tolist(), strict=True))
