"""Checks: pairs slipped in before an annotator's tasks. Acts on them are no votes: no label or count has them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from db.domain import LABELS, AnswerKind, CheckKind
from db.labels.answers import store_once
from db.schema.tables import Check, CheckAnswer, Task


@dataclass(frozen=True)
class Checked:
    """What an annotator says on a check, as it stands."""

    annotator: str
    kind: CheckKind
    expected: AnswerKind
    answer: AnswerKind


@dataclass(frozen=True)
class OwnCheck:
    """A check and what its annotator last said on it."""

    check: Check
    answer: AnswerKind
    note: str
    at: datetime


def checks_before(session: Session, annotator: str, task_ids: Collection[int]) -> dict[int, Check]:
    """The annotator's checks by the task that they are shown before, answered or not."""
    wanted = select(Check).where(Check.before_id.in_(task_ids), Check.annotator == annotator)
    return {check.before_id: check for check in session.scalars(wanted) if check.before_id is not None}


def answered_checks(session: Session, check_ids: Collection[int]) -> set[int]:
    """Those of the checks whose last act is no retraction: they are not shown again."""
    last = select(func.max(CheckAnswer.id)).where(CheckAnswer.check_id.in_(check_ids)).group_by(CheckAnswer.check_id)
    done = select(CheckAnswer.check_id).where(CheckAnswer.id.in_(last), CheckAnswer.answer != AnswerKind.RETRACT)
    return set(session.scalars(done))


def own_checks(session: Session, project_id: int, annotator: str, check_ids: Collection[int]) -> dict[int, Check]:
    """Those of the checks that this annotator has in this project, by their id."""
    mine = select(Check).where(Check.project_id == project_id, Check.annotator == annotator, Check.id.in_(check_ids))
    return {check.id: check for check in session.scalars(mine)}


def store_check_answers(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Nothing; each row is stored unless its key already is."""
    if rows:
        store_once(session, CheckAnswer, rows)


def own_check_answers(session: Session, annotator: str, round_id: int, limit: int) -> list[OwnCheck]:
    """What the annotator says on checks among the tasks of this round, as it stands, the newest first."""
    mine = select(Check.id).join(Task, Task.id == Check.before_id)
    mine = mine.where(Task.round_id == round_id, Check.annotator == annotator)
    wanted = _standing(mine).order_by(CheckAnswer.id.desc()).limit(limit)
    return [
        OwnCheck(check, AnswerKind(answer), note or "", at)
        for check, answer, note, at in session.execute(
            wanted.with_only_columns(Check, CheckAnswer.answer, CheckAnswer.note, CheckAnswer.created_at)
        )
    ]


def check_results(session: Session, project_id: int) -> list[Checked]:
    """What annotators say on the project's checks, as it stands."""
    wanted = _standing(select(Check.id).where(Check.project_id == project_id))
    rows = session.execute(wanted.with_only_columns(Check.annotator, Check.kind, Check.expected, CheckAnswer.answer))
    return [
        Checked(who, CheckKind(kind), AnswerKind(expected), AnswerKind(answer)) for who, kind, expected, answer in rows
    ]


def _standing(checks: Select[int]) -> Select[*tuple[Any, ...]]:
    """The last act on each of these checks that is a yes, a no or an unsure."""
    last = select(func.max(CheckAnswer.id)).where(CheckAnswer.check_id.in_(checks)).group_by(CheckAnswer.check_id)
    wanted = select(CheckAnswer).join(Check, Check.id == CheckAnswer.check_id)
    return wanted.where(CheckAnswer.id.in_(last), CheckAnswer.answer.in_(LABELS))
