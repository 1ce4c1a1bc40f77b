"""Verdicts of a machine rater as the learner sees them."""

from dataclasses import dataclass

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import Purpose, RaterUse
from allpairs.db.raters.rows import rater_in_use, setup_of
from allpairs.db.raters.verdicts import judged_pairs, verdicts_to_train
from allpairs.db.schema.tables import PairVerdict
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.light.rating.agreement import verdict_weight
from allpairs.learner.models.cosine_bert import Labelled, Weighted


@dataclass(frozen=True)
class Teaching:
    """A rater that may teach a model: its verdicts up to the newest one, and their weight beside a person's label."""

    rater: int
    name: str
    newest: int
    weight: float


def teaching_of(session: Session, project_id: int, use: RaterUse) -> Teaching | None:
    """Return what the rater in use may teach now; None if it is only measured, or its weight is 0.

    The weight is fitted on training labels alone: those that measure the model teach it nothing.
    """
    rater = None if use == "measure" else rater_in_use(session, project_id)
    if rater is None:
        return None
    weight = verdict_weight(judged_pairs(session, rater, Purpose.TRAIN))
    newest = session.scalar(select(func.max(PairVerdict.id)).where(PairVerdict.rater_id == rater.id)) or 0
    return Teaching(rater.id, setup_of(rater).name, newest, weight) if weight and newest else None


def read_verdicts(session: Session, teaching: Teaching, data: ProjectData, labelled: Labelled, cutoff: int) -> Weighted:
    """Return the verdicts on training pairs that nobody had answered at the cutoff, with their weight.

    labelled: pairs with a label, implied ones too: on these the rater has no say.
    """
    verdicts = np.array(verdicts_to_train(session, teaching.rater, teaching.newest, cutoff), dtype=np.int64).reshape(
        -1, 3
    )
    left = data.rows(verdicts[:, 0])
    right = data.rows(verdicts[:, 1])
    trains = np.isin(left, data.dataset.train_left) & np.isin(right, data.dataset.train_right)
    keys = data.dataset.keys(labelled.left, labelled.right)
    trains[trains] = ~np.isin(data.dataset.keys(left[trains], right[trains]), keys)
    return Weighted(Labelled(left[trains], right[trains], verdicts[trains, 2]), teaching.weight)
