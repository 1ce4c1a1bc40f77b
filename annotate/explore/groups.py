"""Groups: the connected components of the matches above a threshold, and one answer for all pairs of a group."""

from dataclasses import dataclass
from itertools import combinations, product
from uuid import uuid4

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.access.roles import Right
from allpairs.annotate.access.transactions import acting
from allpairs.annotate.explore.prepared import Scored
from allpairs.annotate.labelling.pick_pair import why_not
from allpairs.annotate.labelling.queue import ask_if_due
from allpairs.db.corpus.graph import components
from allpairs.db.domain import AnswerKind, Kind
from allpairs.db.errors import InputError
from allpairs.db.groups.description import Groups, described
from allpairs.db.groups.links import Links
from allpairs.db.labels.answers import answer_at_once, answered_at_once, last_key
from allpairs.db.labels.pairs import Pair, labels_of, left_items, splits_of
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Project

MOST_PAIRS = 1_000  # that can be answered at once
ACT, UNDO = "group-", "undo-group-"  # prefixes of the keys of such answers and of their undoing


@dataclass(frozen=True)
class ItemGroups:
    """Groups of the texts with these ids, (n,) int64, ascending: a project's items."""

    ids: np.ndarray
    groups: Groups

    def items(self, group: int) -> list[int]:
        """Return the items of the group, ascending."""
        found: list[int] = self.ids[self.groups.texts(group)].tolist()
        return found


def groups_of(matches: Scored, kind: Kind) -> ItemGroups:
    """Return the groups that the matches connect."""
    ids, places = np.unique(np.concatenate([matches.left, matches.right]), return_inverse=True)
    left, right = places[: len(matches)], places[len(matches) :]
    second = np.isin(np.arange(len(ids)), right) if kind == Kind.BIPARTITE else None
    links = Links(len(ids), left, right, matches.score.astype(np.float64), second=second)
    return ItemGroups(ids, described(links, links.p, components(len(ids), np.column_stack([left, right]))))


def open_pairs(engine: Engine, project_id: int, items: list[int]) -> list[Pair]:
    """Return the unlabelled pairs of these items that may be used for training.

    Raises InputError for too many items, and for items of another project.
    """
    with reading(engine) as session:
        return _open_pairs(session, project_id, items)


def _open_pairs(session: Session, project_id: int, items: list[int]) -> list[Pair]:
    pairs = _pairs_of(session, project_id, items)
    splits = splits_of(session, project_id, items)
    if not splits.keys() >= set(items):
        raise InputError("some of these texts are not in the project: reload the page")
    trainable = [(left, right) for left, right in pairs if not why_not(splits[left], splits[right])]
    labelled = labels_of(session, project_id, trainable)
    return [pair for pair in trainable if pair not in labelled]


def _pairs_of(session: Session, project_id: int, items: list[int]) -> list[Pair]:
    """Return all pairs of these items. Raises InputError for too many."""
    if len(items) > MOST_PAIRS:  # a connected group of n items has at least n - 1 pairs
        raise InputError(_too_many(f"{len(items):,} texts"))
    if session.get_one(Project, project_id).kind == Kind.SYMMETRIC:
        pairs = list(combinations(sorted(items), 2))
    else:
        left = left_items(session, items)
        pairs = list(product(left, sorted(set(items) - set(left))))
    if len(pairs) > MOST_PAIRS:
        raise InputError(_too_many(f"{len(pairs):,} pairs"))
    return pairs


def _too_many(what: str) -> str:
    return (
        f"the group has {what}, but at most {MOST_PAIRS:,} pairs can be answered at once: raise the threshold until "
        "the group splits into smaller ones"
    )


def answer_group(engine: Engine, project_id: int, annotator: str, items: list[int]) -> int:
    """Label the unlabelled training pairs of these items as positive; return how many.

    Raises InputError for too many and for none. Requests the next batch if this completes the current one.
    """
    act = f"{ACT}{uuid4().hex}"
    with acting(engine, Right.LABEL, project_id, annotator) as session:
        pairs = _open_pairs(session, project_id, items)
        if not pairs:
            raise InputError("all pairs of this group are labelled already or belong to the evaluation set")
        answer_at_once(session, project_id, annotator, pairs, AnswerKind.POSITIVE, act)
    ask_if_due(engine, project_id, news=True)
    return len(pairs)


def last_act(engine: Engine, project_id: int, annotator: str) -> tuple[str, int] | None:
    """Return the annotator's newest group answer that is not undone, and how many pairs it still labels."""
    with reading(engine) as session:
        newest = last_key(session, project_id, annotator, (ACT, UNDO))
        if newest is None or not newest.startswith(ACT):
            return None
        act = newest.rsplit("-", 1)[0]
        count = len(answered_at_once(session, project_id, annotator, act))
    return (act, count) if count else None


def undo(engine: Engine, project_id: int, annotator: str, act: str) -> None:
    """Undo the group answer on all pairs that this annotator has not changed since."""
    with acting(engine, Right.LABEL, project_id, annotator) as session:
        pairs = answered_at_once(session, project_id, annotator, act)
        answer_at_once(session, project_id, annotator, pairs, AnswerKind.RETRACT, act.replace(ACT, UNDO, 1))
