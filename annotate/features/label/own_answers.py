"""An annotator's own answers, to look through and correct; and the history of a pair."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import Engine

from allpairs.annotate.features.label.queue import ask_if_due
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting, require
from allpairs.db.domain import AnswerKind
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import (
    OwnAnswer,
    answer_by_id,
    count_own_answers,
    lasting_label,
    own_answers,
    store_answers,
)
from allpairs.db.labels.labels import LabelRow, answers_on_pair
from allpairs.db.maintenance.row_checks import stored_note
from allpairs.db.projects.records import Rows, records_of_items
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import now


@dataclass(frozen=True)
class Past:
    """An answer with the texts of its pair; rows: their columns side by side."""

    answer: OwnAnswer
    left: str
    right: str
    rows: Rows = ()


@dataclass(frozen=True)
class History:
    """Some of an annotator's answers, the newest first, and the total number of such answers."""

    answers: Sequence[Past]
    total: int


def history(
    engine: Engine,
    project_id: int,
    annotator: str,
    limit: int,
    offset: int = 0,
    answer: AnswerKind | None = None,
    words: str = "",
) -> History:
    """Return the annotator's answers from `offset` on; answer, words: only this answer, only pairs with these words."""
    with reading(engine) as session:
        rows = own_answers(session, project_id, annotator, limit, offset, answer=answer, words=words)
        total = count_own_answers(session, project_id, annotator, answer, words)
        records = records_of_items(session, project_id, [item for row in rows for item in (row.left_id, row.right_id)])
    texts = records.texts
    answers = [
        Past(row, texts[row.left_id], texts[row.right_id], records.rows(row.left_id, row.right_id)) for row in rows
    ]
    return History(answers, total)


def pair_history(
    engine: Engine, project_id: int, left_id: int, right_id: int, annotator: str | None = None
) -> list[LabelRow]:
    """Return all answers on the pair, or only this annotator's, the oldest first, with corrections, skips and undos."""
    with reading(engine) as session:
        return answers_on_pair(session, project_id, left_id, right_id, annotator)


def correct(
    engine: Engine, project_id: int, annotator: str, answer_id: int, answer: AnswerKind, note: str | None = None
) -> None:
    """Correct an old answer: store a new one of this annotator on the same pair.

    A retraction makes the pair unanswered again. note: replaces the old note; None keeps it. The correction takes
    effect at the next training. What this annotator settled stays settled. Raises InputError if the annotator has no
    such answer, or settled the pair and may no longer do so.
    """
    with acting(engine, Right.LABEL, project_id, annotator) as session:
        old = answer_by_id(session, answer_id)
        if old is None or (old.project_id, old.annotator) != (project_id, annotator):
            raise InputError(f"{annotator} has no answer {answer_id} in this project: reload the page")
        label = lasting_label(session, project_id, old.left_id, old.right_id)
        settled = label is not None and label.settles and label.annotator == annotator
        if settled:
            require(session, Right.ADJUDICATE, project_id)
        store_answers(
            session,
            [
                {
                    "project_id": project_id,
                    "task_id": old.task_id,
                    "left_id": old.left_id,
                    "right_id": old.right_id,
                    "annotator": annotator,
                    "answer": answer,
                    "key": f"history-{uuid4()}",
                    "seconds": None,
                    "note": old.note if note is None else stored_note(note),
                    "created_at": now(),
                    "settles": settled and answer != AnswerKind.RETRACT,
                }
            ],
        )
    ask_if_due(engine, project_id)
