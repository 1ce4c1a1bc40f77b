"""Groups that matches form in one list, and splitting one: this settles the labels across the cut as negative."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import uuid4

import numpy as np
from sqlalchemy import Engine

from allpairs.annotate.features.label.queue import ask_if_due
from allpairs.annotate.features.review.disagreements import settling
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.db.corpus import graph
from allpairs.db.domain import AnswerKind, Kind
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import (
    Label,
    answered_at_once,
    matches,
    newest_act,
    own_before,
    store_answers,
)
from allpairs.db.labels.pairs import Pair
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import now

ACT = "split-"  # prefix of the keys of such answers
UNDO = "undo-split-"  # prefix of the keys that undo them


@dataclass(frozen=True)
class LabelGroup:
    """Texts connected by matches, ascending, and the labels that connect them."""

    items: list[int]
    matches: list[Label]


def groups_of_labels(engine: Engine, project_id: int) -> list[LabelGroup]:
    """Return the groups that the project's matches form, the largest first; none for two lists."""
    with reading(engine) as session:
        if project_of(session, project_id).kind != Kind.SYMMETRIC:
            return []
        labels = matches(session, project_id)
    if not labels:
        return []
    items, flat = np.unique([(label.left_id, label.right_id) for label in labels], return_inverse=True)
    ends = [(left, right) for left, right in flat.reshape(-1, 2).tolist()]
    component = graph.components(len(items), ends)
    joined: dict[int, list[Label]] = {}
    for label, (place, _) in zip(labels, ends, strict=True):
        joined.setdefault(int(component[place]), []).append(label)
    label_groups = [
        LabelGroup(items[group].tolist(), joined[int(component[group[0]])]) for group in graph.joined_groups(component)
    ]
    return sorted(label_groups, key=lambda group: (-len(group.items), group.items))


def across(labels: Sequence[Label], ticked: Collection[int]) -> list[Label]:
    """Return the matches that connect one of these texts with another text."""
    return [label for label in labels if (label.left_id in ticked) != (label.right_id in ticked)]


def split(engine: Engine, project_id: int, annotator: str, pairs: Collection[Pair]) -> int:
    """Settle those of these pairs as negative that are still matches; return how many.

    Nobody is asked about them again. Raises InputError if none of them is a match any more.
    """
    act = f"{ACT}{uuid4().hex}"
    with acting(engine, Right.ADJUDICATE, project_id, annotator) as session:
        cut = [label for label in matches(session, project_id) if (label.left_id, label.right_id) in pairs]
        if not cut:
            raise InputError("these labels have changed in the meantime: review the group again")
        store_answers(
            session,
            [
                settling(project_id, annotator, label, AnswerKind.NEGATIVE, f"{act}-{place}")
                for place, label in enumerate(cut)
            ],
        )
    ask_if_due(engine, project_id)
    return len(cut)


def last_split(engine: Engine, project_id: int, annotator: str) -> tuple[str, int] | None:
    """Return the reviewer's newest split that is not undone, and how many pairs it still labels."""
    with reading(engine) as session:
        return newest_act(session, project_id, annotator, ACT, UNDO)


def undo_split(engine: Engine, project_id: int, annotator: str, act: str) -> None:
    """Undo a split: its pairs get back the labels that they would have without it.

    An earlier answer of this reviewer counts again if nobody else has answered since; otherwise it is retracted.
    """
    undo_act = act.replace(ACT, UNDO, 1)
    with acting(engine, Right.ADJUDICATE, project_id, annotator) as session:
        before = own_before(session, project_id, annotator, act)
        store_answers(
            session,
            [
                {
                    "project_id": project_id,
                    "left_id": pair[0],
                    "right_id": pair[1],
                    "annotator": annotator,
                    "task_id": previous.task_id if previous else None,
                    "answer": previous.answer if previous else AnswerKind.RETRACT,
                    "note": previous.note if previous else None,
                    "settles": previous.settles if previous else False,
                    "key": f"{undo_act}-{place}",
                    "created_at": now(),
                }
                for place, pair in enumerate(answered_at_once(session, project_id, annotator, act))
                for previous in [before.get(pair)]
            ],
        )
