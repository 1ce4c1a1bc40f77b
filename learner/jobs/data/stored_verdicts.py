"""Verdicts of a machine rater as the learner sees them."""

import numpy as np
from sqlalchemy.orm import Session

from allpairs.db.raters.training import Teaching, verdicts_to_train
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.models.cosine_bert import Labelled, Weighted


def read_verdicts(session: Session, teaching: Teaching, data: ProjectData, cutoff: int) -> Weighted:
    """Return the verdicts on training pairs that nobody had answered at the cutoff, with their weight."""
    found = np.array(verdicts_to_train(session, teaching, cutoff), dtype=np.int64).reshape(-1, 3)
    left, right = data.rows(found[:, 0]), data.rows(found[:, 1])
    trains = np.isin(left, data.dataset.train_left) & np.isin(right, data.dataset.train_right)
    return Weighted(Labelled(left[trains], right[trains], found[trains, 2]), teaching.weight)
