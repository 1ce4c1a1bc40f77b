"""Verdicts of a machine rater as the learner sees them."""

import numpy as np
from sqlalchemy.orm import Session

from allpairs.db.raters.training import Teaching, verdicts_to_train
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.models.cosine_bert import Labelled, Weighted


def read_verdicts(session: Session, teaching: Teaching, data: ProjectData, labelled: Labelled, cutoff: int) -> Weighted:
    """Return the verdicts on training pairs that nobody had answered at the cutoff, with their weight.

    labelled: pairs with a label, implied ones too: on these the rater has no say.
    """
    found = np.array(verdicts_to_train(session, teaching, cutoff), dtype=np.int64).reshape(-1, 3)
    left = data.rows(found[:, 0])
    right = data.rows(found[:, 1])
    trains = np.isin(left, data.dataset.train_left) & np.isin(right, data.dataset.train_right)
    keys = data.dataset.keys(labelled.left, labelled.right)
    trains[trains] = ~np.isin(data.dataset.keys(left[trains], right[trains]), keys)
    return Weighted(Labelled(left[trains], right[trains], found[trains, 2]), teaching.weight)
