"""The verdicts that may train a model, and what each counts."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import Purpose, RaterUse, Verdict
from allpairs.db.raters.agreement import weight_of
from allpairs.db.raters.judged import judged_pairs
from allpairs.db.raters.rows import rater_in_use, setup_of
from allpairs.db.schema.tables import Answer, MachineRater, PairVerdict


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
    weight = trained_weight(session, rater)
    newest = session.scalar(select(func.max(PairVerdict.id)).where(PairVerdict.rater_id == rater.id)) or 0
    return Teaching(rater.id, setup_of(rater).name, newest, weight) if weight and newest else None


def trained_weight(session: Session, rater: MachineRater) -> float:
    """Return what a verdict of the rater counts beside a person's label, by people's training labels so far."""
    return weight_of(judged_pairs(session, rater, Purpose.TRAIN))


def verdicts_to_train(session: Session, teaching: Teaching, cutoff: int) -> list[tuple[int, int, bool]]:
    """Return left_id, right_id and whether it is called a match, of each pair that nobody had answered at the cutoff.

    An answer of any kind counts, unsure too: where people have spoken, the rater has no say.
    """
    same = and_(
        Answer.project_id == PairVerdict.project_id,
        Answer.id <= cutoff,
        Answer.left_id == PairVerdict.left_id,
        Answer.right_id == PairVerdict.right_id,
    )
    wanted = select(PairVerdict.left_id, PairVerdict.right_id, PairVerdict.verdict).where(
        PairVerdict.rater_id == teaching.rater,
        PairVerdict.id <= teaching.newest,
        PairVerdict.verdict != Verdict.ABSTAIN,
        ~select(Answer.id).where(same).exists(),
    )
    rows = session.execute(wanted.order_by(PairVerdict.id))
    return [(left, right, verdict == Verdict.YES) for left, right, verdict in rows]


def verdicts_since(session: Session, project_id: int, moment: datetime) -> bool:
    """Return whether the project's machine rater has given verdicts since this moment."""
    later = select(PairVerdict.id).where(PairVerdict.project_id == project_id, PairVerdict.at > moment)
    return session.scalar(later.limit(1)) is not None
