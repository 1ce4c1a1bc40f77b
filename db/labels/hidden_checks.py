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
class Checked:
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
    at: datetime


def checks_before(session: Session, annotator: str, task_ids: Collection[int]) -> dict[int, Check]:
    """Return the annotator's checks by the task that they precede, answered or not."""
    wanted = select(Check).where(Check.before_id.in_(task_ids), Check.annotator == annotator)
    return {check.before_id: check for check in session.scalars(wanted) if check.before_id is not None}


def answered_checks(session: Session, check_ids: Collection[int]) -> set[int]:
    """Return which of the checks have a last act other than a retraction: they are not shown again."""
    last = select(func.max(CheckAnswer.id)).where(CheckAnswer.check_id.in_(check_ids)).group_by(CheckAnswer.check_id)
    done = select(CheckAnswer.check_id).where(CheckAnswer.id.in_(last), CheckAnswer.answer != AnswerKind.RETRACT)
    return set(session.scalars(done))


def own_checks(session: Session, project_id: int, annotator: str, check_ids: Collection[int]) -> dict[int, Check]:
    """Return which of the checks this annotator has in this project, by id."""
    mine = select(Check).where(Check.project_id == project_id, Check.annotator == annotator, Check.id.in_(check_ids))
    return {check.id: check for check in session.scalars(mine)}


def store_check_answers(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Store each row unless its key is already stored."""
    if rows:
        store_once(session, CheckAnswer, rows)


def own_check_answers(session: Session, annotator: str, round_id: int, limit: int) -> list[OwnCheck]:
    """Return the annotator's current answers to checks among the tasks of this round, the newest first."""
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
    """Return the annotators' current answers to the project's checks."""
    wanted = _standing(select(Check.id).where(Check.project_id == project_id))
    rows = session.execute(wanted.with_only_columns(Check.annotator, Check.kind, Check.expected, CheckAnswer.answer))
    return [
        Checked(who, CheckKind(kind), AnswerKind(expected), AnswerKind(answer)) for who, kind, expected, answer in rows
    ]


def _standing(checks: Select[int]) -> Select[*tuple[Any, ...]]:
    """Select the last act on each of these checks, if it is yes, no or unsure."""
    last = select(func.max(CheckAnswer.id)).where(CheckAnswer.check_id.in_(checks)).group_by(CheckAnswer.check_id)
    wanted = select(CheckAnswer).join(Check, Check.id == CheckAnswer.check_id)
    return wanted.where(CheckAnswer.id.in_(last), CheckAnswer.answer.in_(LABELS))
