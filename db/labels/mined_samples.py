"""Samples of a pipeline's mined pairs: their designs, tasks and labels."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind, DesignKind
from allpairs.db.labels.pairs import Pair, among
from allpairs.db.schema.tables import Answer, Design, PairLabel, Task

BEGINNING = "mined-"  # prefix of the keys of answers made from a pipeline's pairs
UNDO = "undo-mined-"  # and of the answers that undo them


class SampledCount(NamedTuple):
    """The number of sampled pairs of a band with this label; None: unlabelled."""

    stratum: int | None  # a task of a design has one
    answer: AnswerKind | None
    pairs: int


def mined_designs(session: Session, project_id: int, run_id: str, number: int) -> list[Design]:
    """Return the designs of samples of this run's pairs, the first one first. number: the output's place."""
    query = select(Design).where(Design.project_id == project_id, Design.kind == DesignKind.MINED)
    return [
        design
        for design in session.scalars(query.order_by(Design.number))
        if design.details == {"run": run_id, "made": number}
    ]


def next_design_number(session: Session, project_id: int) -> int:
    """Return the number of the project's next design."""
    return (session.scalar(select(func.max(Design.number)).where(Design.project_id == project_id)) or 0) + 1


def drawn_pairs(session: Session, design_ids: Collection[int]) -> set[Pair]:
    """Return the pairs that are tasks of these designs."""
    rows = session.execute(select(Task.left_id, Task.right_id).where(Task.design_id.in_(design_ids)))
    return {(left, right) for left, right in rows}


def sampled(session: Session, project_id: int, pairs: Collection[Pair]) -> set[Pair]:
    """Return which of the pairs are in a sample of any run of the project."""
    sampled_pairs: set[Pair] = set()
    for condition in among(Task, pairs):
        query = select(Task.left_id, Task.right_id).join(Design, Design.id == Task.design_id)
        rows = session.execute(query.where(Task.project_id == project_id, Design.kind == DesignKind.MINED, condition))
        sampled_pairs |= {(left, right) for left, right in rows}
    return sampled_pairs


def count_drawn(session: Session, design_ids: Collection[int]) -> list[SampledCount]:
    """Count the pairs of these designs by band and label."""
    same_pair = and_(PairLabel.left_id == Task.left_id, PairLabel.right_id == Task.right_id)
    counted = select(Task.stratum, PairLabel.answer, func.count()).select_from(Task).outerjoin(PairLabel, same_pair)
    rows = session.execute(counted.where(Task.design_id.in_(design_ids)).group_by(Task.stratum, PairLabel.answer))
    return [
        SampledCount(stratum, None if answer is None else AnswerKind(answer), count) for stratum, answer, count in rows
    ]


def own_labels(session: Session, project_id: int, pairs: Collection[Pair]) -> dict[Pair, str]:
    """Return which of the pairs have a label from a pipeline, with its annotator, named after the pipeline."""
    annotators: dict[Pair, str] = {}
    for condition in among(PairLabel, pairs):
        query = select(PairLabel.left_id, PairLabel.right_id, Answer.annotator)
        joined = query.join(Answer, Answer.id == PairLabel.answer_id).where(
            PairLabel.project_id == project_id, condition
        )
        rows = session.execute(joined.where(Answer.key.startswith(BEGINNING, autoescape=True)))
        annotators |= {(left, right): annotator for left, right, annotator in rows}
    return annotators
