"""Review: pairs on which annotators disagree or are unsure, shown blind first, then settled."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sqlalchemy import Engine

from allpairs.annotate.features.label.queue import ask_if_due
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.db.domain import LABELS, AnswerKind
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import Label, lasting_label, store_answers
from allpairs.db.labels.reviews import Open, Vote, open_pairs, votes_on
from allpairs.db.maintenance.row_checks import stored_note
from allpairs.db.projects.records import Records, Rows, records_of_items
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import now


@dataclass(frozen=True)
class Case:
    """A pair to review. The votes of others are read separately, after the reviewer's own answer.

    answer_id, task_id: of the current answer. rows: the columns of both texts side by side.
    """

    left_id: int
    right_id: int
    answer_id: int
    task_id: int | None
    left: str
    right: str
    rows: Rows = ()


@dataclass(frozen=True)
class ReviewQueue:
    """The number of disagreements and of unsure pairs, and the next pair to review."""

    disagreements: int
    unsure: int
    next: Case | None


def queue(engine: Engine, project_id: int, later: Collection[tuple[int, int]] = ()) -> ReviewQueue:
    """Return what there is to review. later: pairs that the reviewer has postponed; they come last."""
    with reading(engine) as session:
        pairs = open_pairs(session, project_id)
        disagreements = sum(pair.disagreement for pair in pairs)
        pairs.sort(key=lambda pair: (pair.left_id, pair.right_id) in later)
        case = None
        if pairs:
            first = pairs[0]
            case = case_of(first, records_of_items(session, project_id, [first.left_id, first.right_id]))
    return ReviewQueue(disagreements, len(pairs) - disagreements, case)


def case_of(pair: Open | Label, records: Records) -> Case:
    """Return the case of a pair with its texts."""
    left = pair.left_id
    right = pair.right_id
    texts = records.texts
    rows = records.rows(left, right)
    return Case(left, right, pair.answer_id, pair.task_id, texts[left], texts[right], rows)


def opinions(engine: Engine, project_id: int, case: Case) -> list[Vote]:
    """Return the vote of each annotator on the pair, the first answer first."""
    with reading(engine) as session:
        return votes_on(session, project_id, case.left_id, case.right_id)


def settle(engine: Engine, project_id: int, annotator: str, case: Case, answer: AnswerKind, note: str = "") -> None:
    """Settle the pair with this answer; nobody is asked about it again.

    Raises InputError if the answer is not yes, no or unsure, or if the current answer is not the case's: an answer that
    the reviewer has not seen is not overruled.
    """
    if answer not in LABELS:
        raise InputError(f"a review needs yes, no or unsure, not {answer}")
    with acting(engine, Right.ADJUDICATE, project_id, annotator) as session:
        label = lasting_label(session, project_id, case.left_id, case.right_id)
        if label is None:
            raise InputError("this pair no longer has an answer: reload the page")
        if label.answer_id != case.answer_id:
            raise InputError(
                f"{label.annotator} has answered this pair in the meantime, so yours is not stored: review it again"
            )
        store_answers(session, [settling(project_id, annotator, label, answer, f"review-{uuid4()}", note)])
    ask_if_due(engine, project_id)


def settling(
    project_id: int, annotator: str, pair: Label, answer: AnswerKind, key: str, note: str = ""
) -> dict[str, Any]:
    """Return the row of an answer that settles the pair."""
    return {
        "project_id": project_id,
        "task_id": pair.task_id,
        "left_id": pair.left_id,
        "right_id": pair.right_id,
        "annotator": annotator,
        "answer": answer,
        "key": key,
        "seconds": None,
        "note": stored_note(note),
        "created_at": now(),
        "settles": True,
    }
