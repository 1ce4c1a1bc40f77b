"""Verdicts beside what people answered on the same pairs."""

from dataclasses import dataclass

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from allpairs.db.domain import DECIDED, ROUTED, AnswerKind, Purpose, Verdict
from allpairs.db.labels.pairs import Pair
from allpairs.db.labels.withdrawn import is_there
from allpairs.db.schema.tables import Answer, MachineRater, PairLabel, PairVerdict, Task


@dataclass(frozen=True)
class Judged:
    """A verdict on a pair that people answered. match: their label; score: the matcher's when they were asked."""

    pair: Pair
    verdict: Verdict
    p: float | None
    match: bool
    score: float | None


def judged_pairs(session: Session, rater: MachineRater, purpose: Purpose | None = None) -> list[Judged]:
    """Return the rater's verdicts on pairs that people call a match or not; none with a withdrawn text.

    Nobody is shown a verdict, so people answered without knowing it. Pairs that people were asked about because of the
    verdict are left out: among them it errs more often. purpose: of the label, if not any.
    """
    same = and_(PairLabel.left_id == PairVerdict.left_id, PairLabel.right_id == PairVerdict.right_id)
    columns = (PairVerdict.left_id, PairVerdict.right_id, PairVerdict.verdict, PairVerdict.p, PairLabel.answer)
    wanted = (
        select(*columns, Task.score)
        .join(PairLabel, same)
        .join(Answer, Answer.id == PairLabel.answer_id)
        .outerjoin(Task, Task.id == Answer.task_id)
        .where(PairVerdict.rater_id == rater.id, PairLabel.answer.in_(DECIDED))
        .where(or_(Task.id.is_(None), Task.strategy != ROUTED))
        .where(is_there(PairVerdict, rater.project_id))
        .order_by(PairVerdict.id)
    )
    if purpose is not None:
        wanted = wanted.where(PairLabel.purpose == purpose)
    return [
        Judged((left, right), Verdict(verdict), p, answer == AnswerKind.POSITIVE, score)
        for left, right, verdict, p, answer, score in session.execute(wanted)
    ]


def all_verdicts(
    session: Session, project_id: int, after: int = 0, limit: int | None = None
) -> list[tuple[PairVerdict, MachineRater]]:
    """Return every verdict of the project with its rater, in the order in which they were given.

    after, limit: only the first ones with a higher id than this.
    """
    wanted = select(PairVerdict, MachineRater).join(MachineRater, MachineRater.id == PairVerdict.rater_id)
    wanted = wanted.where(PairVerdict.project_id == project_id, PairVerdict.id > after)
    rows = session.execute(wanted.order_by(PairVerdict.id).limit(limit))
    return [(verdict, rater) for verdict, rater in rows]


def verdicts_of(session: Session, rater: MachineRater) -> dict[Pair, Verdict]:
    """Return what the rater said of each pair."""
    wanted = select(PairVerdict.left_id, PairVerdict.right_id, PairVerdict.verdict)
    rows = session.execute(wanted.where(PairVerdict.rater_id == rater.id))
    return {(left, right): Verdict(verdict) for left, right, verdict in rows}
