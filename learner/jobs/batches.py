"""A batch as rows: training tasks, with audit tasks mixed in where no known positives measure the project."""

import numpy as np
from sqlalchemy.orm import Session

from db.audits import audit_rows, design_by_id
from db.models import Round
from db.tasks import add_tasks
from learner.jobs.audit_draws import Candidate, columns_of
from learner.jobs.rows import ProjectData, tasks_of
from learner.rounds import Batch

Audit = tuple[int, list[Candidate]]  # the design's id, and pairs of its decks


def audits_in(size: int, every: int) -> int:
    """How many audit tasks a batch of `size` training tasks gets, so that one task in `every` is one (0: none)."""
    return size // max(every - 1, 1) if every else 0


def add_batch(
    session: Session, row: Round, batch: Batch, p: np.ndarray | None, data: ProjectData, audit: Audit | None,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Nothing; the round and its tasks are stored. `row.size` training tasks are the batch, the others its reserve.

    Audit tasks lie at random places of the batch, so that nobody can tell them by theirs.
    """
    session.add(row)
    session.flush()
    tasks = tasks_of(batch, data, p, row.project_id, row.id)
    if audit is not None:
        design = design_by_id(session, audit[0])
        assert design is not None
        row.size += len(audit[1])
        places = np.sort(rng.choice(row.size, size=len(audit[1]), replace=False))
        free = np.setdiff1d(np.arange(len(tasks) + len(places)), places)
        tasks = [task | {"position": int(place)} for task, place in zip(tasks, free, strict=True)]
        shuffled = [audit[1][at] for at in rng.permutation(len(places))]
        tasks += audit_rows(row, design, columns_of(shuffled, places.tolist()))
    add_tasks(session, tasks)
