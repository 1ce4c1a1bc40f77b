"""The machine raters of a project, and what they have said."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import EventKind, RaterUse
from allpairs.db.errors import InputError
from allpairs.db.labels.pairs import Pair
from allpairs.db.projects.events import add_event
from allpairs.db.rating import RaterSetup, Spent
from allpairs.db.schema.tables import MachineRater, PairVerdict, now
from allpairs.db.schema.tables.raters import LIMITS

NO_RATER = "the project has no machine rater: set one up first"


def setup_of(rater: MachineRater) -> RaterSetup:
    """Return the rater's setup."""
    return RaterSetup.model_validate(rater.setup)


def raters_of(session: Session, project_id: int) -> Sequence[MachineRater]:
    """Return all raters that the project has had, the newest first."""
    raters = select(MachineRater).where(MachineRater.project_id == project_id)
    return session.scalars(raters.order_by(MachineRater.number.desc())).all()


def rater_in_use(session: Session, project_id: int) -> MachineRater | None:
    """Return the rater that is in use, paused or not."""
    in_use = select(MachineRater).where(MachineRater.project_id == project_id, MachineRater.ended_at.is_(None))
    return session.scalar(in_use)


def rater_to_ask(session: Session, project_id: int) -> MachineRater:
    """Return the rater in use. Raises InputError if the project has none, or it is paused."""
    rater = rater_in_use(session, project_id)
    if rater is None:
        raise InputError(NO_RATER)
    if rater.paused_at is not None:
        raise InputError(f"the machine rater is paused: {rater.paused_why}. Resume it first")
    return rater


def rater_at_work(session: Session, project_id: int, use: RaterUse) -> MachineRater | None:
    """Return the rater that reads each batch, if the project uses one so and it is not paused."""
    rater = None if use == "measure" else rater_in_use(session, project_id)
    return rater if rater is not None and rater.paused_at is None else None


def spent_by(session: Session, rater_id: int) -> Spent:
    """Return what the rater has rated and cost so far."""
    sums = (func.coalesce(func.sum(limited(name, getattr(PairVerdict, name))), 0) for name in LIMITS)
    row = session.execute(select(func.count(), *sums).where(PairVerdict.rater_id == rater_id)).one()
    return Spent(int(row[0]), int(row[1]), int(row[2]), float(row[3]))


def limited(name: str, amount: ColumnElement[float]) -> ColumnElement[float]:
    """Return an amount of tokens or money up to its limit, so that no sum overflows whatever a row holds."""
    return case((amount.between(0, LIMITS[name]), amount), else_=LIMITS[name])


def last_verdict(session: Session, rater_id: int) -> datetime | None:
    """Return when the rater gave its last verdict; None if it has given none."""
    return session.scalar(select(func.max(PairVerdict.at)).where(PairVerdict.rater_id == rater_id))


def rated_pairs(session: Session, rater_id: int) -> set[Pair]:
    """Return the pairs that the rater has rated."""
    pairs = select(PairVerdict.left_id, PairVerdict.right_id).where(PairVerdict.rater_id == rater_id)
    return {(left, right) for left, right in session.execute(pairs)}


def pause(session: Session, rater: MachineRater, reason: str) -> None:
    """Pause the rater, so that it is asked nothing until a person resumes it; record the reason."""
    rater.paused_at = now()
    rater.paused_why = reason
    add_event(session, None, EventKind.RATER_PAUSED, rater.project_id, setup_of(rater).name, new=reason)
