"""Which hidden checks an annotator gets, and where: pseudo-random by seed, annotator and task."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, func, or_, select
from sqlalchemy.orm import Session, aliased

from allpairs.db.domain import DECIDED, AnswerKind, CheckKind
from allpairs.db.labels.answers import changed
from allpairs.db.labels.hidden_checks import answered_checks, checks_before
from allpairs.db.labels.pipeline_seeds import training_gold_rows
from allpairs.db.labels.stable_random import chance
from allpairs.db.labels.votes import labelled, looks_of, wants_vote_of
from allpairs.db.labels.withdrawn import texts_present, withdrawn_items
from allpairs.db.projects.projects import project_settings
from allpairs.db.schema.tables import (
    Answer,
    Check,
    CheckAnswer,
    FastAnswers,
    FastAnswersTask,
    Gold,
    PairLabel,
    Task,
)

BETWEEN = 100  # the annotator's answers between an answer and its repetition
AGO = timedelta(hours=1)  # and the least time: a pair just read would be remembered
REPEATS = 0.2  # repeats for each pair while fast answers wait for theirs

Roll = Callable[[str], float]  # a pseudo-random number for each named decision
Draw = tuple[int, int, AnswerKind, int | None]  # left_id, right_id, expected answer, task of the pair


@dataclass(frozen=True)
class _Checks:
    """The sources of one annotator's checks."""

    session: Session
    project_id: int
    annotator: str
    time: datetime
    looks: int  # as in `double_check`

    def known(self, roll: Roll) -> Draw | None:
        """Return an unseen pair whose answer is known: a match or a non-match, with equal probability."""
        first = roll("match") < 0.5
        sources = (self._gold, self._settled) if roll("source") < 0.5 else (self._settled, self._gold)
        draws = (source(positive, roll("which")) for positive in (first, not first) for source in sources)
        return next((drawn for drawn in draws if drawn is not None), None)

    def _gold(self, positive: bool, roll: float) -> Draw | None:
        conditions = and_(Gold.project_id == self.project_id, Gold.positive.is_(positive))
        open_task = select(Task.id).where(
            Task.project_id == self.project_id,
            Task.left_id == Gold.left_id,
            Task.right_id == Gold.right_id,
            or_(~labelled(), wants_vote_of(self.annotator, self.looks)),
        )
        pairs = training_gold_rows(self.project_id).where(
            conditions, ~Gold.closure, ~open_task.exists(), *self._unseen(Gold)
        )
        drawn = _from(self.session, pairs, Gold.left_id, *self._ends(Gold.left_id, conditions), roll)
        return None if drawn is None else (drawn[0], drawn[1], DECIDED[not positive], None)

    def _settled(self, positive: bool, roll: float) -> Draw | None:
        conditions = (Answer.project_id == self.project_id, Answer.settles, Answer.answer == DECIDED[not positive])
        pairs = select(Answer.left_id, Answer.right_id, Answer.answer, Answer.task_id)
        pairs = pairs.join(PairLabel, PairLabel.answer_id == Answer.id).where(*conditions, *self._unseen(PairLabel))
        pairs = pairs.where(texts_present(Answer, self.project_id))
        rows = self.session.execute(pairs.order_by(Answer.id)).all()
        return _draw(rows[int(roll * len(rows))]) if rows else None

    def repeat(self, roll: Roll) -> Draw | None:
        """Return a pair that the annotator answered a good while ago."""
        conditions = and_(Answer.project_id == self.project_id, Answer.annotator == self.annotator)
        ids = select(Answer.id).where(conditions).order_by(Answer.id.desc())
        last = self.session.scalar(ids.offset(BETWEEN).limit(1))
        if last is None:
            return None
        pairs = self._own_answers().where(Answer.id <= last).order_by(Answer.id)
        drawn = _from(self.session, pairs, Answer.id, self._ends(Answer.id, conditions)[0], last, roll("which"))
        return None if drawn is None else _draw(drawn)

    def fast(self) -> list[Draw]:
        """Return the annotator's pairs from fast answers, if nobody else labels the project who could check them."""
        conditions = (FastAnswers.project_id == self.project_id, FastAnswers.annotator == self.annotator)
        check_of_task = (Check.annotator == self.annotator, Check.task_id == FastAnswersTask.task_id)
        checked = select(Check.id).where(*check_of_task, self._is_used())
        waiting = (
            select(FastAnswersTask.task_id)
            .join(FastAnswers, FastAnswers.id == FastAnswersTask.rush_id)
            .where(*conditions, ~checked.exists())
        )
        tasks = list(self.session.scalars(waiting))
        if not tasks or not self._is_alone():
            return []
        pairs = self._own_answers().where(Answer.task_id.in_(tasks)).order_by(Answer.id)
        return [_draw(row) for row in self.session.execute(pairs)]

    def _is_alone(self) -> bool:
        other_answers = (
            select(Answer.id).where(Answer.project_id == self.project_id, Answer.task_id.is_not(None)).limit(1)
        )
        sides = (Answer.annotator < self.annotator, Answer.annotator > self.annotator)  # as an index finds them
        return all(self.session.scalar(other_answers.where(side)) is None for side in sides)

    def _own_answers(self) -> Select[*tuple[Any, ...]]:
        """Select the annotator's current yes and no answers that are old enough and have had no check."""
        query = select(Answer.left_id, Answer.right_id, Answer.answer, Answer.task_id)
        return query.where(
            Answer.project_id == self.project_id,
            Answer.annotator == self.annotator,
            Answer.answer.in_(DECIDED),
            Answer.task_id.is_not(None),
            ~Answer.settles,
            Answer.created_at <= self.time - AGO,
            ~changed(),
            ~self._checks_of(Answer),
            texts_present(Answer, self.project_id),
        )

    def _unseen(self, table: Any) -> list[ColumnElement[bool]]:
        own_answer = aliased(Answer)
        answered = select(own_answer.id).where(
            own_answer.project_id == self.project_id,
            own_answer.left_id == table.left_id,
            own_answer.right_id == table.right_id,
            own_answer.annotator == self.annotator,
        )
        return [~answered.exists(), ~self._checks_of(table)]

    def _checks_of(self, table: Any) -> ColumnElement[bool]:
        conditions = (Check.project_id == self.project_id, Check.annotator == self.annotator, self._is_used())
        return (
            select(Check.id)
            .where(*conditions, Check.left_id == table.left_id, Check.right_id == table.right_id)
            .exists()
        )

    def _is_used(self) -> ColumnElement[bool]:
        """Tell whether the check was answered or may still be shown: before a pair that others labelled it never is."""
        answered = select(CheckAnswer.id).where(CheckAnswer.check_id == Check.id)
        ahead = select(Task.id).where(Task.id == Check.before_id, ~labelled())
        return or_(Check.created_at > self.time - AGO, answered.exists(), ahead.exists())

    def _ends(self, column: Any, condition: ColumnElement[bool]) -> tuple[int, int]:
        """Return the least and the greatest value of the column, each from an index."""
        least, greatest = (self.session.scalar(select(end(column)).where(condition)) for end in (func.min, func.max))
        return least or 0, greatest or 0


def _draw(row: Row[*tuple[Any, ...]]) -> Draw:
    left, right, answer, task_id = row
    return left, right, AnswerKind(answer), task_id


def _from(session: Session, pairs: Select[*tuple[Any, ...]], column: Any, low: int, high: int, roll: float) -> Any:
    """Return the first pair from a random value of the column on, wrapping around; avoids counting the pairs."""
    start = low + int(roll * (high - low + 1))
    sides = (session.execute(pairs.where(side).limit(1)).first() for side in (column >= start, column < start))
    return next((drawn for drawn in sides if drawn is not None), None)


def plan_checks(
    session: Session, project_id: int, annotator: str, task_ids: Sequence[int], time: datetime
) -> dict[int, Check]:
    """Return the check for this annotator before each of these tasks, by task id; store new ones."""
    settings = project_settings(session, project_id)
    order = _Checks(session, project_id, annotator, time, looks_of(settings))
    planned = checks_before(session, annotator, task_ids)
    fast = order.fast()
    withdrawn = withdrawn_items(session, project_id)
    planned = {task_id: check for task_id, check in planned.items() if not withdrawn & {check.left_id, check.right_id}}
    shares = {CheckKind.GOLD: settings.gold_share, CheckKind.REPEAT: settings.repeat_share}
    if fast:
        shares[CheckKind.REPEAT] = max(REPEATS, settings.repeat_share)
    for task_id in task_ids:
        roll = partial(_roll, settings.seed, annotator, task_id)
        kind = next((kind for kind, share in shares.items() if roll(kind) < share), None)
        if kind is None or task_id in planned:
            continue
        drawn = order.known(roll) if kind is CheckKind.GOLD else fast.pop() if fast else order.repeat(roll)
        if drawn is None:
            shares[kind] = 0.0  # there would be none before the next task either
        else:
            planned[task_id] = _store(order, task_id, kind, drawn)
    answered_ids = answered_checks(session, [check.id for check in planned.values()]) if planned else set()
    return {task_id: check for task_id, check in planned.items() if check.id not in answered_ids}


def _roll(seed: int, annotator: str, task_id: int, decision: str) -> float:
    return chance(seed, decision, annotator, task_id)


def _store(order: _Checks, task_id: int, kind: CheckKind, drawn: Draw) -> Check:
    left, right, expected, task_of_pair = drawn
    check = Check(
        project_id=order.project_id,
        annotator=order.annotator,
        kind=kind,
        left_id=left,
        right_id=right,
        expected=expected,
        task_id=task_of_pair,
        before_id=task_id,
        created_at=order.time,
    )
    order.session.add(check)
    order.session.flush()
    return check
