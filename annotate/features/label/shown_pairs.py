"""Pairs as annotators see them: tasks, and hidden test pairs among them, which look the same."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind
from allpairs.db.labels.answers import own_answers
from allpairs.db.labels.hidden_check_plan import plan_checks
from allpairs.db.labels.hidden_checks import own_check_answers
from allpairs.db.labels.tasks import round_to_label, tasks_by_id
from allpairs.db.projects.records import Records, Rows, records_of_items
from allpairs.db.schema.tables import Check, Task


@dataclass(frozen=True)
class Pair:
    """A pair to label. The reason for its choice is shown after the answer: before, it would bias it and reveal audits.

    repeated: the pair is answered already, so this answer does not count as progress; true of every check. rows: the
    text columns side by side, empty if the files had none.
    """

    task_id: int  # below 0: the check of that number
    in_batch: bool
    left: str
    right: str
    likely: tuple[int, int] | None = None  # characters of the right text: the sentence that probably answers
    repeated: bool = False
    rows: Rows = ()


@dataclass(frozen=True)
class AnsweredPair:
    """A pair and its annotator's answer."""

    pair: Pair
    answer: AnswerKind
    note: str


def task_pairs(
    session: Session, project_id: int, tasks: Sequence[Task], audit_batch: bool, labelled_ids: Collection[int] = ()
) -> list[Pair]:
    """Return the pairs of these tasks. labelled_ids: tasks with a labelled pair; they do not count as progress."""
    batch = round_to_label(session, project_id, audit_batch)
    records = _records(session, project_id, tasks)
    batch_id, size = (batch.id, batch.size) if batch is not None else (0, 0)
    counts = {task.id for task in tasks if task.round_id == batch_id and task.position < size}.difference(labelled_ids)
    return [_pair(records, task, task.id, task.id in counts, task, task.id in labelled_ids) for task in tasks]


def slip_in_checks(
    session: Session, project_id: int, annotator: str, pairs: Sequence[Pair], time: datetime
) -> list[Pair]:
    """Return the pairs with the annotator's checks inserted before their tasks."""
    checks = plan_checks(session, project_id, annotator, [pair.task_id for pair in pairs], time)
    check_pairs = _check_pairs(session, project_id, checks.values())
    before = {task_id: [check_pairs[check.id]] for task_id, check in checks.items()}
    return [shown_pair for pair in pairs for shown_pair in (*before.get(pair.task_id, ()), pair)]


def _check_pairs(session: Session, project_id: int, checks: Collection[Check]) -> dict[int, Pair]:
    """Return the pair of each check, by its id."""
    records = _records(session, project_id, checks)
    tasks = tasks_by_id(session, project_id, {check.task_id for check in checks if check.task_id is not None})
    return {
        check.id: _pair(records, check, -check.id, False, tasks.get(check.task_id or 0), repeated=True)
        for check in checks
    }


def _records(session: Session, project_id: int, pairs: Collection[Task | Check]) -> Records:
    return records_of_items(session, project_id, [item for pair in pairs for item in (pair.left_id, pair.right_id)])


def _pair(
    records: Records, source: Task | Check, number: int, in_batch: bool, task: Task | None, repeated: bool
) -> Pair:
    left = source.left_id
    right = source.right_id
    texts = records.texts
    rows = records.rows(left, right)
    if task is not None and task.turned:
        rows = tuple((name, second, first) for name, first, second in rows)
        left, right = right, left
    return Pair(number, in_batch, texts[left], texts[right], _likely(task), repeated, rows)


def _likely(task: Task | None) -> tuple[int, int] | None:
    if task is None or task.likely_start is None or task.likely_end is None:
        return None
    return task.likely_start, task.likely_end


def last_answered_pairs(
    session: Session, project_id: int, annotator: str, limit: int, audit_batch: bool
) -> list[AnsweredPair]:
    """Return the annotator's last answers in the batch (or the audit batch), checks included, the newest last."""
    batch = round_to_label(session, project_id, audit_batch)
    if batch is None:
        return []
    answers = own_answers(session, project_id, annotator, limit, round_id=batch.id)
    tasks = tasks_by_id(session, project_id, {answer.task_id for answer in answers if answer.task_id is not None})
    pairs = {pair.task_id: pair for pair in task_pairs(session, project_id, list(tasks.values()), audit_batch)}
    answered = [(row.time, AnsweredPair(pairs[row.task_id], row.answer, row.note)) for row in answers if row.task_id]
    on_checks = own_check_answers(session, annotator, batch.id, limit)
    check_pairs = _check_pairs(session, project_id, [row.check for row in on_checks])
    answered += [(row.time, AnsweredPair(check_pairs[row.check.id], row.answer, row.note)) for row in on_checks]
    return [pair for _, pair in sorted(answered, key=lambda timed: timed[0])][-limit:]
