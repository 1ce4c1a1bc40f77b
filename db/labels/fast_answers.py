"""Rushes as rows: what was answered faster than anyone reads, and which of it is put up again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, and_, func, insert, select, union, update
from sqlalchemy.orm import Session, aliased

from db.domain import LABELS, AnswerKind
from db.labels.stable_random import chance
from db.schema.tables import Answer, Check, CheckAnswer, FastAnswers, FastAnswersTask, Item, Task

LEFT, RIGHT = aliased(Item), aliased(Item)
LEAST, SHARE = 5, 10  # put up again: five pairs of a rush, one in ten of a long one


@dataclass(frozen=True)
class Told:
    """A rush as administrators are told of it.

    again: how many of its pairs are put up again; looked_at: of these, those with an answer since; otherwise: those
    whose answer since is another one.
    """

    annotator: str
    answer: AnswerKind
    answers: int
    seconds: float  # of one answer, on average
    began: datetime
    ended: datetime
    again: int
    looked_at: int
    otherwise: int


def last_acts(session: Session, project_id: int, annotator: str, n: int) -> list[Row[*tuple[Any, ...]]]:
    """The annotator's last n acts, the newest last: id, answer, seconds, task, both items, both lengths of text."""
    ids = select(Answer.id).where(Answer.project_id == project_id, Answer.annotator == annotator)
    lengths = (func.length(LEFT.text), func.length(RIGHT.text))
    columns = (Answer.id, Answer.answer, Answer.seconds, Answer.task_id, Answer.left_id, Answer.right_id, *lengths)
    acts = select(*columns).join(LEFT, LEFT.id == Answer.left_id).join(RIGHT, RIGHT.id == Answer.right_id)
    newest = ids.order_by(Answer.id.desc()).limit(n)
    return list(session.execute(acts.where(Answer.id.in_(newest)).order_by(Answer.id)))


def newest_fast_answers(session: Session, project_id: int, annotator: str) -> FastAnswers | None:
    """The annotator's last rush in the project."""
    mine = select(FastAnswers).where(FastAnswers.project_id == project_id, FastAnswers.annotator == annotator)
    return session.scalar(mine.order_by(FastAnswers.id.desc()).limit(1))


def put_up_again(session: Session, fast: FastAnswers, task_ids: Sequence[int], seed: int, votes: int) -> None:
    """Nothing; of these tasks so many are for another annotator too that the rush has its share of them.

    Those that are for several annotators anyway are left out: these stand for all pairs when agreement is measured.
    votes: annotators of such a pair.
    """
    again = select(FastAnswersTask.task_id).where(FastAnswersTask.rush_id == fast.id)
    missing = max(LEAST, fast.answers // SHARE) - len(session.scalars(again).all())
    free = select(Task.id).where(Task.id.in_(task_ids), Task.votes == 1)
    chosen = sorted(session.scalars(free), key=lambda task_id: chance(seed, "rush", task_id))[: max(missing, 0)]
    if chosen:
        rows = [{"task_id": task_id, "rush_id": fast.id, "project_id": fast.project_id} for task_id in chosen]
        session.execute(insert(FastAnswersTask), rows)
        session.execute(update(Task).where(Task.id.in_(chosen)).values(votes=votes))


def fast_answers_of(session: Session, project_id: int, limit: int) -> list[Told]:
    """The project's last rushes, the newest first."""
    first, last = aliased(Answer), aliased(Answer)
    wanted = select(FastAnswers, first.created_at, last.created_at).where(FastAnswers.project_id == project_id)
    wanted = wanted.join(first, first.id == FastAnswers.first_id).join(last, last.id == FastAnswers.last_id)
    rows = session.execute(wanted.order_by(FastAnswers.last_id.desc()).limit(limit)).all()
    again = _count_tasks(
        session,
        select(FastAnswersTask.rush_id, FastAnswersTask.task_id).where(FastAnswersTask.project_id == project_id),
    )
    looks = _double_checks(project_id).subquery()
    looked_at = _count_tasks(session, select(looks.c.rush_id, looks.c.task_id))
    differ = _count_tasks(session, select(looks.c.rush_id, looks.c.task_id).where(looks.c.answer != looks.c.fast))
    return [
        Told(
            fast.annotator, AnswerKind(fast.answer), fast.answers, fast.seconds / fast.answers, began, ended,
            again.get(fast.id, 0), looked_at.get(fast.id, 0), differ.get(fast.id, 0),
        )
        for fast, began, ended in rows
    ]  # fmt: skip


def _double_checks(project_id: int) -> Any:
    """What was said since of pairs out of rushes: rush_id, task_id, answer, rushed (the answer in the rush)."""
    columns = (FastAnswersTask.rush_id, FastAnswersTask.task_id)
    mine = FastAnswersTask.project_id == project_id
    of_others = (
        select(*columns, Answer.answer, FastAnswers.answer.label("fast"))
        .join(FastAnswers, FastAnswers.id == FastAnswersTask.rush_id)
        .join(Task, Task.id == FastAnswersTask.task_id)
        .join(Answer, and_(Answer.left_id == Task.left_id, Answer.right_id == Task.right_id))
        .where(mine, Answer.project_id == project_id, Answer.annotator != FastAnswers.annotator)
        .where(Answer.answer.in_(LABELS), Answer.id > FastAnswers.first_id)
    )
    their_own = (
        select(*columns, CheckAnswer.answer, FastAnswers.answer.label("fast"))
        .join(FastAnswers, FastAnswers.id == FastAnswersTask.rush_id)
        .join(Check, and_(Check.task_id == FastAnswersTask.task_id, Check.annotator == FastAnswers.annotator))
        .join(CheckAnswer, CheckAnswer.check_id == Check.id)
        .where(mine, CheckAnswer.answer.in_(LABELS))
    )
    return union(of_others, their_own)


def _count_tasks(session: Session, rows: Select[*tuple[Any, ...]]) -> dict[int, int]:
    """How many different tasks there are for each rush; rows: rush_id, task_id."""
    found = rows.subquery()
    counted = select(found.c.rush_id, func.count(func.distinct(found.c.task_id))).group_by(found.c.rush_id)
    return dict(session.execute(counted).all())
