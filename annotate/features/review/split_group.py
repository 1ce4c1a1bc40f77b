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

# prefixes of the keys of such answers and of their undoing
ACT = "split-"
UNDO = "undo-split-"


@dataclass(frozen=True)
class Group:
    """Texts connected by matches, ascending, and the labels that connect them."""

    items: list[int]
    matches: list[Label]


def groups(engine: Engine, project_id: int) -> list[Group]:
    """Return the groups that the project's matches form, the largest first; none for two lists."""
    with reading(engine) as session:
        if project_of(session, project_id).kind != Kind.SYMMETRIC:
            return []
        found = matches(session, project_id)
    if not found:
        return []
    items, flat = np.unique([(label.left_id, label.right_id) for label in found], return_inverse=True)
    ends = [(left, right) for left, right in flat.reshape(-1, 2).tolist()]
    component = graph.components(len(items), ends)
    joined: dict[int, list[Label]] = {}
    for label, (place, _) in zip(found, ends, strict=True):
        joined.setdefault(int(component[place]), []).append(label)
    made = [Group(items[group].tolist(), joined[int(component[group[0]])]) for group in graph.groups(component)]
    return sorted(made, key=lambda group: (-len(group.items), group.items))


def across(labels: Sequence[Label], apart: Collection[int]) -> list[Label]:
    """Return the matches that connect one of these texts with another text."""
    return [label for label in labels if (label.left_id in apart) != (label.right_id in apart)]


def split(engine: Engine, project_id: int, who: str, pairs: Collection[Pair]) -> int:
    """Settle those of these pairs as negative that are still matches; return how many.

    Nobody is asked about them again. Raises InputError if none of them is a match any more.
    """
    act = f"{ACT}{uuid4().hex}"
    with acting(engine, Right.ADJUDICATE, project_id, who) as session:
        cut = [label for label in matches(session, project_id) if (label.left_id, label.right_id) in pairs]
        if not cut:
            raise InputError("these labels have changed in the meantime: review the group again")
        store_answers(
            session,
            [
                settling(project_id, who, label, AnswerKind.NEGATIVE, f"{act}-{place}")
                for place, label in enumerate(cut)
            ],
        )
    ask_if_due(engine, project_id)
    return len(cut)


def last_split(engine: Engine, project_id: int, who: str) -> tuple[str, int] | None:
    """Return the reviewer's newest split that is not undone, and how many pairs it still labels."""
    with reading(engine) as session:
        return newest_act(session, project_id, who, ACT, UNDO)


def undo(engine: Engine, project_id: int, who: str, act: str) -> None:
    """Undo a split: its pairs get back the labels that they would have without it.

    An earlier answer of this reviewer counts again if nobody else has answered since; otherwise it is retracted.
    """
    taken = act.replace(ACT, UNDO, 1)
    with acting(engine, Right.ADJUDICATE, project_id, who) as session:
        before = own_before(session, project_id, who, act)
        store_answers(
            session,
            [
                {
                    "project_id": project_id,
                    "left_id": pair[0],
                    "right_id": pair[1],
                    "annotator": who,
                    "task_id": said.task_id if said else None,
                    "answer": said.answer if said else AnswerKind.RETRACT,
                    "note": said.note if said else None,
                    "settles": said.settles if said else False,
                    "key": f"{taken}-{place}",
                    "created_at": now(),
                }
                for place, pair in enumerate(answered_at_once(session, project_id, who, act))
                for said in [before.get(pair)]
            ],
        )
