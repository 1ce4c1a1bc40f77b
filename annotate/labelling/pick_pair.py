"""A pair that somebody picks on the page Explore becomes a task of the batch at hand, before all others."""

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from annotate.access.roles import Right
from annotate.access.transactions import acting
from db.domain import Split
from db.errors import InputError
from db.labels.pairs import Pair, in_round, items_of, labels_of
from db.labels.tasks import newest_round, put_first
from db.projects.jobs import NEXT_ROUND, open_job
from db.schema.tables import Round, now

PICKED = "picked"  # the strategy of such a task


def pick(engine: Engine, project_id: int, annotator: str, pair: Pair, score: float, p: float | None) -> int:
    """The number of the batch whose first task the pair is now; score, p: under the matcher it was found with.

    Raises InputError for a pair that cannot train, one that is labelled or in the batch already, and without a batch.
    """
    with acting(engine, Right.LABEL, project_id, annotator) as session:
        batch = _batch(session, project_id)
        _check(session, batch, pair)
        row = {"left_id": pair[0], "right_id": pair[1], "strategy": PICKED, "score": score, "p": p}
        put_first(session, batch, row, annotator, now())
        return batch.number or 0


def _batch(session: Session, project_id: int) -> Round:
    """The batch at hand, which nobody else adds tasks to until this transaction ends."""
    job = open_job(session, project_id)
    if job is not None and job.kind == NEXT_ROUND:
        raise InputError("the next batch is being made: pick the pair again when it is there")
    batch = newest_round(session, project_id, lock=True)
    if batch is None:
        raise InputError("there is no batch yet: pick the pair again when the first one is there")
    return batch


def _check(session: Session, batch: Round, pair: Pair) -> None:
    problem = why_not(*(split for _, split in items_of(session, pair).values()))
    if problem:
        raise InputError(problem)
    label = labels_of(session, batch.project_id, [pair]).get(pair)
    if label is not None:
        raise InputError(f"this pair is labelled already: {label}")
    if in_round(session, batch, [pair]):
        raise InputError(f"this pair is in batch {batch.number} already: it comes up on the page “Label”")


def why_not(*splits: Split) -> str:
    """Why a pair of items of these splits cannot be a task that trains; empty where it can."""
    measuring = splits.count(Split.EVALUATION)
    if not measuring:
        return ""
    kept = "both texts are" if measuring == 2 else "one of its texts is"
    return f"{kept} kept for measuring: a model that had trained on this pair could not be measured fairly any more"
