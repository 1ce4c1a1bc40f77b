"""Hidden checks: pairs shown before an annotator's tasks. Their answers are not votes and change no label or count."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import LABELS, AnswerKind, CheckKind
from allpairs.db.labels.answers import store_once
from allpairs.db.schema.tables import Check, CheckAnswer, Task


@dataclass(frozen=True)
class CheckResult:
    """An annotator's current answer to a check."""

    annotator: str
    kind: CheckKind
    expected: AnswerKind
    answer: AnswerKind


@dataclass(frozen=True)
class OwnCheck:
    """A check and its annotator's last answer."""

    check: Check
    answer: AnswerKind
    note: str
    time: datetime


def checks_before(session: Session, annotator: str, task_ids: Collection[int]) -> dict[int, Check]:
    """Return the annotator's checks by the task that they precede, answered or not."""
    query = select(Check).where(Check.before_id.in_(task_ids), Check.annotator == annotator)
    return {check.before_id: check for check in session.scalars(query) if check.before_id is not None}


def answered_checks(session: Session, check_ids: Collection[int]) -> set[int]:
    """Return which of the checks have a last act other than a retraction: they are not shown again."""
    last = select(func.max(CheckAnswer.id)).where(CheckAnswer.check_id.in_(check_ids)).group_by(CheckAnswer.check_id)
    answered = select(CheckAnswer.check_id).where(CheckAnswer.id.in_(last), CheckAnswer.answer != AnswerKind.RETRACT)
    return set(session.scalars(answered))


def own_checks(session: Session, project_id: int, annotator: str, check_ids: Collection[int]) -> dict[int, Check]:
    """Return which of the checks this annotator has in this project, by id."""
    query = select(Check).where(Check.project_id == project_id, Check.annotator == annotator, Check.id.in_(check_ids))
    return {check.id: check for check in session.scalars(query)}


def store_check_answers(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Store each row unless its key is already stored."""
    if rows:
        store_once(session, CheckAnswer, rows)


def own_check_answers(session: Session, annotator: str, round_id: int, limit: int) -> list[OwnCheck]:
    """Return the annotator's current answers to checks among the tasks of this round, the newest first."""
    query = select(Check.id).join(Task, Task.id == Check.before_id)
    query = query.where(Task.round_id == round_id, Check.annotator == annotator)
    query = _standing(query).order_by(CheckAnswer.id.desc()).limit(limit)
    return [
        OwnCheck(check, AnswerKind(answer), note or "", time)
        for check, answer, note, time in session.execute(
            query.with_only_columns(Check, CheckAnswer.answer, CheckAnswer.note, CheckAnswer.created_at)
        )
    ]


def check_results(session: Session, project_id: int) -> list[CheckResult]:
    """Return the annotators' current answers to the project's checks."""
    query = _standing(select(Check.id).where(Check.project_id == project_id))
    rows = session.execute(query.with_only_columns(Check.annotator, Check.kind, Check.expected, CheckAnswer.answer))
    return [
        CheckResult(annotator, CheckKind(kind), AnswerKind(expected), AnswerKind(answer))
        for annotator, kind, expected, answer in rows
    ]


def _standing(checks: Select[int]) -> Select[*tuple[Any, ...]]:
    """Select the last act on each of these checks, if it is yes, no or unsure."""
    last = select(func.max(CheckAnswer.id)).where(CheckAnswer.check_id.in_(checks)).group_by(CheckAnswer.check_id)
    query = select(CheckAnswer).join(Check, Check.id == CheckAnswer.check_id)
    return query.where(CheckAnswer.id.in_(last), CheckAnswer.answer.in_(LABELS))
