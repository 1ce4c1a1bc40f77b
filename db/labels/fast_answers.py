"""Fast answers as rows: runs of answers too fast to have read the texts, and which of their pairs are queued again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, and_, func, insert, select, union, update
from sqlalchemy.orm import Session, aliased

from allpairs.db.domain import LABELS, AnswerKind
from allpairs.db.labels.stable_random import chance
from allpairs.db.schema.tables import Answer, Check, CheckAnswer, FastAnswers, FastAnswersTask, Item, Task

LEFT = aliased(Item)
RIGHT = aliased(Item)
LEAST = 5  # pairs of a run that are queued again
SHARE = 10  # one pair in so many of a long run


@dataclass(frozen=True)
class FastAnswersRow:
    """A run of fast answers as administrators see it.

    queued_again: number of its pairs that are queued again; looked_at: number of these that have been answered since;
    otherwise: number of those that got another answer.
    """

    annotator: str
    answer: AnswerKind
    answers: int
    seconds: float  # of one answer, on average
    began: datetime
    ended: datetime
    queued_again: int
    looked_at: int
    otherwise: int


def newest_acts(session: Session, project_id: int, annotator: str, n: int) -> list[Row[*tuple[Any, ...]]]:
    """Return the annotator's last n acts, the newest last: id, answer, seconds, task, both items, both text lengths."""
    ids = select(Answer.id).where(Answer.project_id == project_id, Answer.annotator == annotator)
    lengths = (func.length(LEFT.text), func.length(RIGHT.text))
    columns = (Answer.id, Answer.answer, Answer.seconds, Answer.task_id, Answer.left_id, Answer.right_id, *lengths)
    acts = select(*columns).join(LEFT, LEFT.id == Answer.left_id).join(RIGHT, RIGHT.id == Answer.right_id)
    newest = ids.order_by(Answer.id.desc()).limit(n)
    return list(session.execute(acts.where(Answer.id.in_(newest)).order_by(Answer.id)))


def newest_fast_answers(session: Session, project_id: int, annotator: str) -> FastAnswers | None:
    """Return the annotator's last run of fast answers in the project."""
    query = select(FastAnswers).where(FastAnswers.project_id == project_id, FastAnswers.annotator == annotator)
    return session.scalar(query.order_by(FastAnswers.id.desc()).limit(1))


def put_up_again(session: Session, fast: FastAnswers, task_ids: Sequence[int], seed: int, votes: int) -> None:
    """Queue as many of these tasks for another annotator as are missing from the run's share.

    Leaves out tasks that are for several annotators anyway: they represent all pairs when agreement is measured.
    votes: number of annotators for such a pair.
    """
    repeated_tasks = select(FastAnswersTask.task_id).where(FastAnswersTask.rush_id == fast.id)
    missing = max(LEAST, fast.answers // SHARE) - len(session.scalars(repeated_tasks).all())
    free = select(Task.id).where(Task.id.in_(task_ids), Task.votes == 1)
    chosen = sorted(session.scalars(free), key=lambda task_id: chance(seed, "rush", task_id))[: max(missing, 0)]
    if chosen:
        rows = [{"task_id": task_id, "rush_id": fast.id, "project_id": fast.project_id} for task_id in chosen]
        session.execute(insert(FastAnswersTask), rows)
        session.execute(update(Task).where(Task.id.in_(chosen)).values(votes=votes))


def fast_answers_of(session: Session, project_id: int, limit: int) -> list[FastAnswersRow]:
    """Return the project's last runs of fast answers, the newest first."""
    first = aliased(Answer)
    last = aliased(Answer)
    query = select(FastAnswers, first.created_at, last.created_at).where(FastAnswers.project_id == project_id)
    query = query.join(first, first.id == FastAnswers.first_id).join(last, last.id == FastAnswers.last_id)
    rows = session.execute(query.order_by(FastAnswers.last_id.desc()).limit(limit)).all()
    repeated_tasks = _count_tasks(
        session,
        select(FastAnswersTask.rush_id, FastAnswersTask.task_id).where(FastAnswersTask.project_id == project_id),
    )
    looks = _double_checks(project_id).subquery()
    looked_at = _count_tasks(session, select(looks.c.rush_id, looks.c.task_id))
    differ = _count_tasks(session, select(looks.c.rush_id, looks.c.task_id).where(looks.c.answer != looks.c.fast))
    return [
        FastAnswersRow(
            fast.annotator,
            AnswerKind(fast.answer),
            fast.answers,
            fast.seconds / fast.answers,
            began,
            ended,
            repeated_tasks.get(fast.id, 0),
            looked_at.get(fast.id, 0),
            differ.get(fast.id, 0),
        )
        for fast, began, ended in rows
    ]


def _double_checks(project_id: int) -> Any:
    """Select the later answers on pairs of such runs: rush_id, task_id, answer, fast (the answer in the run)."""
    columns = (FastAnswersTask.rush_id, FastAnswersTask.task_id)
    in_project = FastAnswersTask.project_id == project_id
    of_others = (
        select(*columns, Answer.answer, FastAnswers.answer.label("fast"))
        .join(FastAnswers, FastAnswers.id == FastAnswersTask.rush_id)
        .join(Task, Task.id == FastAnswersTask.task_id)
        .join(Answer, and_(Answer.left_id == Task.left_id, Answer.right_id == Task.right_id))
        .where(in_project, Answer.project_id == project_id, Answer.annotator != FastAnswers.annotator)
        .where(Answer.answer.in_(LABELS), Answer.id > FastAnswers.first_id)
    )
    their_own = (
        select(*columns, CheckAnswer.answer, FastAnswers.answer.label("fast"))
        .join(FastAnswers, FastAnswers.id == FastAnswersTask.rush_id)
        .join(Check, and_(Check.task_id == FastAnswersTask.task_id, Check.annotator == FastAnswers.annotator))
        .join(CheckAnswer, CheckAnswer.check_id == Check.id)
        .where(in_project, CheckAnswer.answer.in_(LABELS))
    )
    return union(of_others, their_own)


def _count_tasks(session: Session, rows: Select[*tuple[Any, ...]]) -> dict[int, int]:
    """Return the number of distinct tasks of each run; rows: rush_id, task_id."""
    matching_rows = rows.subquery()
    counted = select(matching_rows.c.rush_id, func.count(func.distinct(matching_rows.c.task_id))).group_by(
        matching_rows.c.rush_id
    )
    return dict(session.execute(counted).all())
