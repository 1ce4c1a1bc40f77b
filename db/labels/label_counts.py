"""Label counts by batch, day and annotator, and the times of the newest answers."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, extract, func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import LABELS, AnswerKind, Purpose
from allpairs.db.labels.answers import counting_ids
from allpairs.db.schema.tables import Answer, Task

DAY = 86_400  # seconds


@dataclass(frozen=True)
class Tally:
    """The number of pairs with this label, by batch (or audit batch; None: imported), day and annotator."""

    round_id: int | None
    purpose: Purpose
    day: int  # of UTC, days since 1970
    annotator: str
    answer: AnswerKind
    count: int


def label_tally(session: Session, project_id: int) -> list[Tally]:
    """Count the project's labels, each pair once, where and when its label was given; the earliest day first."""
    columns = (
        Task.round_id,
        func.coalesce(Task.purpose, Purpose.TRAIN),
        _day(),
        Answer.annotator,
        Answer.answer,
    )
    counted = select(*columns, func.count()).outerjoin(Task, Task.id == Answer.task_id)
    rows = session.execute(counted.where(Answer.id.in_(counting_ids(project_id))).group_by(*columns))
    tallies = [
        Tally(round_id, Purpose(purpose), int(day), annotator, AnswerKind(answer), count)
        for round_id, purpose, day, annotator, answer, count in rows
    ]
    return sorted(tallies, key=lambda tally: (tally.day, tally.annotator, tally.answer, tally.round_id or 0))


def _day() -> ColumnElement[float]:
    """Return the whole days since 1970. A date would depend on the database's time zone, and floor is not portable."""
    return func.round(extract("epoch", Answer.created_at) / DAY - 0.5)


def newest_times(session: Session, project_id: int, n: int) -> list[tuple[str, int, float]]:
    """Return annotator, day and seconds on screen of the newest n timed answers, without skips and undos."""
    timed = select(Answer.annotator, _day(), Answer.seconds).where(
        Answer.project_id == project_id, Answer.answer.in_(LABELS), Answer.seconds.is_not(None)
    )
    rows = session.execute(timed.order_by(Answer.id.desc()).limit(n))
    return [(annotator, int(day), seconds) for annotator, day, seconds in rows if seconds is not None]
