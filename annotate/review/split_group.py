"""Groups that matches make in one list, and the act that divides one: its answers settle the labels across the cut."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import uuid4

import numpy as np
from sqlalchemy import Engine

from annotate.access.roles import Right
from annotate.access.transactions import acting
from annotate.labelling.queue import ask_if_due
from annotate.review.disagreements import settling
from db.corpus import graph
from db.domain import AnswerKind, Kind
from db.errors import InputError
from db.labels.answers import Label, answered_at_once, last_key, matches, own_before, store_answers
from db.labels.pairs import Pair
from db.projects.projects import project_of
from db.schema.engine import reading
from db.schema.tables import now

ACT, UNDO = "split-", "undo-split-"  # begin the keys of such answers, and of those that take them back


@dataclass(frozen=True)
class Group:
    """Texts that matches connect, ascending, and the labels that say so."""

    items: list[int]
    matches: list[Label]


def groups(engine: Engine, project_id: int) -> list[Group]:
    """The groups that the project's matches make, the largest first; none for two lists."""
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
    """The matches that connect one of these texts with another text."""
    return [label for label in labels if (label.left_id in apart) != (label.right_id in apart)]


def split(engine: Engine, project_id: int, who: str, pairs: Collection[Pair]) -> int:
    """How many of these pairs are none now by this reviewer's answer: those that were matches still.

    Nobody is asked about them again. Raises InputError where none of them is a match any more.
    """
    act = f"{ACT}{uuid4().hex}"
    with acting(engine, Right.ADJUDICATE, project_id, who) as session:
        cut = [label for label in matches(session, project_id) if (label.left_id, label.right_id) in pairs]
        if not cut:
            raise InputError("these labels were changed meanwhile: look at the group again")
        store_answers(session, [
            settling(project_id, who, label, AnswerKind.NEGATIVE, f"{act}-{place}") for place, label in enumerate(cut)
        ])  # fmt: skip
    ask_if_due(engine, project_id)
    return len(cut)


def last_split(engine: Engine, project_id: int, who: str) -> tuple[str, int] | None:
    """The newest split of this reviewer that is not taken back, and of how many pairs it is still their answer."""
    with reading(engine) as session:
        newest = last_key(session, project_id, who, (ACT, UNDO))
        if newest is None or not newest.startswith(ACT):
            return None
        act = newest.rsplit("-", 1)[0]
        count = len(answered_at_once(session, project_id, who, act))
    return (act, count) if count else None


def undo(engine: Engine, project_id: int, who: str, act: str) -> None:
    """Nothing; the pairs of the split have the labels that they would have without it.

    An earlier answer of this reviewer stands again where nobody else has answered since; else they have none.
    """
    taken = act.replace(ACT, UNDO, 1)
    with acting(engine, Right.ADJUDICATE, project_id, who) as session:
        before = own_before(session, project_id, who, act)
        store_answers(session, [
            {"project_id": project_id, "left_id": pair[0], "right_id": pair[1], "annotator": who,
             "task_id": said.task_id if said else None, "answer": said.answer if said else AnswerKind.RETRACT,
             "note": said.note if said else None, "settles": said.settles if said else False,
             "key": f"{taken}-{place}", "created_at": now()}
            for place, pair in enumerate(answered_at_once(session, project_id, who, act))
            for said in [before.get(pair)]
        ])  # fmt: skip
