"""Manual selection: a pair chosen on the page Explore becomes the first task of the current batch."""

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.db.domain import Split
from allpairs.db.errors import InputError
from allpairs.db.labels.pairs import Pair, in_round, labels_of, splits_of
from allpairs.db.labels.tasks import newest_round, put_first
from allpairs.db.projects.jobs import NEXT_ROUND, open_job
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Round, now

PICKED = "picked"  # the strategy of such a task


def pick(engine: Engine, project_id: int, annotator: str, pair: Pair, score: float, p: float | None) -> int:
    """Make the pair the first task of the current batch, and return the batch's number.

    score, p: under the matcher that found it. Raises InputError for a pair of another project, for one that cannot be
    used for training or is already labelled or in the batch, and if there is no batch.
    """
    with acting(engine, Right.LABEL, project_id, annotator) as session:
        batch = _batch(session, project_id, lock=True)
        _check(session, batch, pair)
        row = {"left_id": pair[0], "right_id": pair[1], "strategy": PICKED, "score": score, "p": p}
        put_first(session, batch, row, annotator, now())
        return batch.number or 0


def why_closed(engine: Engine, project_id: int) -> str:
    """Return why no pair can be chosen at the moment; empty if pairs can."""
    try:
        with reading(engine) as session:
            _batch(session, project_id)
    except InputError as problem:
        return str(problem)
    return ""


def _batch(session: Session, project_id: int, lock: bool = False) -> Round:
    """Return the current batch. lock: nobody else adds tasks to it until this transaction ends.

    Raises InputError if there is none, or if the next one is being made.
    """
    job = open_job(session, project_id)
    if job is not None and job.kind == NEXT_ROUND:
        raise InputError("the next batch is being prepared: choose pairs when it is ready")
    batch = newest_round(session, project_id, lock)
    if batch is None:
        raise InputError("there is no batch yet: choose pairs when the first one is ready")
    return batch


def _check(session: Session, batch: Round, pair: Pair) -> None:
    splits = splits_of(session, batch.project_id, pair)
    if not splits.keys() >= set(pair):
        raise InputError("the project has no such pair, or its texts have been withdrawn: reload the page")
    if problem := why_not(*splits.values()):
        raise InputError(problem)
    label = labels_of(session, batch.project_id, [pair]).get(pair)
    if label is not None:
        raise InputError(f"this pair is already labelled: {label}")
    if in_round(session, batch, [pair]):
        raise InputError(f"this pair is already in batch {batch.number}: label it on the page “Label”")


def why_not(*splits: Split) -> str:
    """Return why a pair of items of these splits cannot be used for training; empty if it can."""
    measuring = splits.count(Split.EVALUATION)
    if not measuring:
        return ""
    texts = "both of its texts are" if measuring == 2 else "one of its texts is"
    return f"{texts} in the evaluation set, so the pair cannot be used for training"
