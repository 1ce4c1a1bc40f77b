"""Verdicts beside what people answered on the same pairs."""

from datetime import datetime

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from allpairs.db.domain import DECIDED, ROUTED, AnswerKind, Purpose, Verdict
from allpairs.db.labels.pairs import Pair
from allpairs.db.labels.withdrawn import texts_present
from allpairs.db.rating import Judged
from allpairs.db.schema.tables import Answer, MachineRater, PairLabel, PairVerdict, Task


def judged_pairs(session: Session, rater: MachineRater, purpose: Purpose | None = None) -> list[Judged]:
    """Return the rater's verdicts on pairs that people call a match or not; none with a withdrawn text.

    Nobody is shown a verdict, so people answered without knowing it. Pairs that people were asked about because of the
    verdict are left out: among them it errs more often. purpose: of the label, if not any.
    """
    same = and_(PairLabel.left_id == PairVerdict.left_id, PairLabel.right_id == PairVerdict.right_id)
    columns = (PairVerdict.left_id, PairVerdict.right_id, PairVerdict.verdict, PairVerdict.p, PairLabel.answer)
    query = (
        select(*columns, Task.score)
        .join(PairLabel, same)
        .join(Answer, Answer.id == PairLabel.answer_id)
        .outerjoin(Task, Task.id == Answer.task_id)
        .where(PairVerdict.rater_id == rater.id, PairLabel.answer.in_(DECIDED))
        .where(or_(Task.id.is_(None), Task.strategy != ROUTED))
        .where(texts_present(PairVerdict, rater.project_id))
        .order_by(PairVerdict.id)
    )
    if purpose is not None:
        query = query.where(PairLabel.purpose == purpose)
    return [
        Judged((left, right), Verdict(verdict), p, answer == AnswerKind.POSITIVE, score)
        for left, right, verdict, p, answer, score in session.execute(query)
    ]


def all_verdicts(
    session: Session, project_id: int, after: int = 0, limit: int | None = None
) -> list[tuple[PairVerdict, MachineRater]]:
    """Return every verdict of the project with its rater, in the order in which they were given.

    after, limit: only the first ones with a higher id than this.
    """
    query = select(PairVerdict, MachineRater).join(MachineRater, MachineRater.id == PairVerdict.rater_id)
    query = query.where(PairVerdict.project_id == project_id, PairVerdict.id > after)
    rows = session.execute(query.order_by(PairVerdict.id).limit(limit))
    return [(verdict, rater) for verdict, rater in rows]


def verdicts_of(session: Session, rater: MachineRater) -> dict[Pair, Verdict]:
    """Return what the rater said of each pair."""
    query = select(PairVerdict.left_id, PairVerdict.right_id, PairVerdict.verdict)
    rows = session.execute(query.where(PairVerdict.rater_id == rater.id))
    return {(left, right): Verdict(verdict) for left, right, verdict in rows}


def verdicts_to_train(session: Session, rater_id: int, newest: int, cutoff: int) -> list[tuple[int, int, bool]]:
    """Return left_id, right_id and whether it is called a match, of each pair that nobody had answered at the cutoff.

    An answer of any kind counts, unsure too: where people have spoken, the rater has no say. newest: the id of the last
    verdict that may train.
    """
    same = and_(
        Answer.project_id == PairVerdict.project_id,
        Answer.id <= cutoff,
        Answer.left_id == PairVerdict.left_id,
        Answer.right_id == PairVerdict.right_id,
    )
    query = select(PairVerdict.left_id, PairVerdict.right_id, PairVerdict.verdict).where(
        PairVerdict.rater_id == rater_id,
        PairVerdict.id <= newest,
        PairVerdict.verdict != Verdict.ABSTAIN,
        ~select(Answer.id).where(same).exists(),
    )
    rows = session.execute(query.order_by(PairVerdict.id))
    return [(left, right, verdict == Verdict.YES) for left, right, verdict in rows]


def verdicts_since(session: Session, project_id: int, moment: datetime) -> bool:
    """Return whether the project's machine rater has given verdicts since this moment."""
    later = select(PairVerdict.id).where(PairVerdict.project_id == project_id, PairVerdict.at > moment)
    return session.scalar(later.limit(1)) is not None
