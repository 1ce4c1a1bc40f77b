"""Review: pairs on which annotators disagree or are unsure, seen blind first, and settled."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sqlalchemy import Engine

from annotate.access.roles import Right
from annotate.access.transactions import acting
from annotate.labelling.queue import ask_if_due
from db.domain import LABELS, LONGEST_NOTE, AnswerKind
from db.errors import InputError
from db.labels.answers import Label, lasting_label, store_answers
from db.labels.reviews import Vote, open_pairs, votes_on
from db.labels.tasks import texts_of
from db.schema.engine import reading
from db.schema.tables import now


@dataclass(frozen=True)
class Case:
    """A pair to review. What others said is asked for apart, after the reviewer's own answer.

    answer_id, task_id: of the answer that counts.
    """

    left_id: int
    right_id: int
    answer_id: int
    task_id: int | None
    left: str
    right: str


@dataclass(frozen=True)
class Queue:
    """How many pairs annotators disagree on, how many are unsure, and the next one to review."""

    disagreements: int
    unsure: int
    next: Case | None


def queue(engine: Engine, project_id: int, later: Collection[tuple[int, int]] = ()) -> Queue:
    """What there is to review. later: pairs that the reviewer has put off; they come last."""
    with reading(engine) as session:
        found = open_pairs(session, project_id)
        disagreements = sum(pair.disagreement for pair in found)
        found.sort(key=lambda pair: (pair.left_id, pair.right_id) in later)
        case = None
        if found:
            first = found[0]
            left, right = first.left_id, first.right_id
            texts = texts_of(session, [left, right])
            case = Case(left, right, first.answer_id, first.task_id, texts[left], texts[right])
    return Queue(disagreements, len(found) - disagreements, case)


def opinions(engine: Engine, project_id: int, case: Case) -> list[Vote]:
    """What each annotator said about the pair, who answered first first."""
    with reading(engine) as session:
        return votes_on(session, project_id, case.left_id, case.right_id)


def settle(engine: Engine, project_id: int, who: str, case: Case, answer: AnswerKind, note: str = "") -> None:
    """Nothing; the answer is the pair's label, and the pair is reviewed: nobody is asked about it again.

    Raises InputError where the answer is none of yes, no and unsure, or another one counts now than the case has: what
    the reviewer has not seen is not overruled.
    """
    if answer not in LABELS:
        raise InputError(f"a review ends with yes, no or unsure, not with {answer}")
    with acting(engine, Right.ADJUDICATE, project_id, who) as session:
        label = lasting_label(session, project_id, case.left_id, case.right_id)
        if label is None:
            raise InputError("nobody has an answer on this pair any more: reload the page")
        if label.answer_id != case.answer_id:
            raise InputError(f"{label.annotator} has answered this pair meanwhile, so yours is not stored: look again")
        store_answers(session, [settling(project_id, who, case, answer, f"review-{uuid4()}", note)])
    ask_if_due(engine, project_id)


def settling(
    project_id: int, who: str, pair: Case | Label, answer: AnswerKind, key: str, note: str = ""
) -> dict[str, Any]:
    """The row of an answer that settles the pair."""
    return {
        "project_id": project_id, "task_id": pair.task_id, "left_id": pair.left_id, "right_id": pair.right_id,
        "annotator": who, "answer": answer, "key": key, "seconds": None,
        "note": note.strip()[:LONGEST_NOTE] or None, "created_at": now(), "settles": True,
    }  # fmt: skip
