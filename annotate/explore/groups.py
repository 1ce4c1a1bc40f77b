"""Groups: the connected components of the matches above a threshold, and the answer that all pairs of one match."""

from dataclasses import dataclass
from itertools import combinations, product
from uuid import uuid4

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from annotate.access.roles import Right
from annotate.access.transactions import acting
from annotate.explore.prepared import Scored
from annotate.labelling.pick_pair import why_not
from annotate.labelling.queue import ask_if_due
from db.domain import AnswerKind, Kind
from db.errors import InputError
from db.labels.answers import answer_at_once, answered_at_once, last_key
from db.labels.pairs import Pair, items_of, labels_of, left_items
from db.schema.engine import reading
from db.schema.tables import Project

MOST_PAIRS = 1_000  # that one act answers
ACT, UNDO = "group-", "undo-group-"  # begin the keys of such answers, and of those that take them back


@dataclass(frozen=True)
class Groups:
    """Groups of items; arrays with one entry for each group, in the same order.

    of: (items,) the group of each of `ids` (int64, ascending). size: its items; pairs: how many pairs they make;
    matches: how many of these are matches themselves; score: the mean score of the matches.
    """

    ids: np.ndarray
    of: np.ndarray
    size: np.ndarray
    pairs: np.ndarray
    matches: np.ndarray
    score: np.ndarray

    @property
    def coherence(self) -> np.ndarray:
        """The share of each group's pairs that are matches: 1 where each pair is one, low in a chain."""
        return self.matches / self.pairs

    def items(self, group: int) -> list[int]:
        """The items of the group, ascending."""
        found: list[int] = self.ids[self.of == group].tolist()
        return found

    def largest_first(self) -> np.ndarray:
        """The groups by falling size, the less coherent of the same size first."""
        return np.lexsort((self.coherence, -self.size))

    def least_coherent_first(self) -> np.ndarray:
        """The groups by rising coherence, the larger ones of the same coherence first."""
        return np.lexsort((-self.size, self.coherence))


def groups_of(matches: Scored, kind: Kind) -> Groups:
    """The groups that the matches connect."""
    ids, places = np.unique(np.concatenate([matches.left, matches.right]), return_inverse=True)
    left, right = places[: len(matches)], places[len(matches) :]
    edges = coo_array((np.ones(len(left), dtype=bool), (left, right)), shape=(len(ids), len(ids)))
    _, of = connected_components(edges, directed=False)
    size = np.bincount(of)
    if kind == Kind.SYMMETRIC:
        pairs = size * (size - 1) // 2
    else:
        lefts = np.bincount(of[np.unique(left)], minlength=len(size))
        pairs = lefts * (size - lefts)
    count = np.bincount(of[left], minlength=len(size))
    score = np.bincount(of[left], weights=matches.score.astype(np.float64), minlength=len(size)) / np.maximum(count, 1)
    return Groups(ids, of, size, pairs, count, score)


def open_pairs(engine: Engine, project_id: int, items: list[int]) -> list[Pair]:
    """The pairs of these items that may train and that nobody has labelled. Raises InputError for too many."""
    with reading(engine) as session:
        return _open_pairs(session, project_id, items)


def _open_pairs(session: Session, project_id: int, items: list[int]) -> list[Pair]:
    pairs = _pairs_of(session, project_id, items)
    splits = {id_: split for id_, (_, split) in items_of(session, items).items()}
    trainable = [(left, right) for left, right in pairs if not why_not(splits[left], splits[right])]
    labelled = labels_of(session, project_id, trainable)
    return [pair for pair in trainable if pair not in labelled]


def _pairs_of(session: Session, project_id: int, items: list[int]) -> list[Pair]:
    """All pairs of these items. Raises InputError for too many."""
    if len(items) > MOST_PAIRS:  # which are connected, so that they make as many pairs at least
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
        f"the group has {what}, and one act answers {MOST_PAIRS:,} pairs at most: raise the threshold until it falls "
        "into smaller groups"
    )


def answer_group(engine: Engine, project_id: int, annotator: str, items: list[int]) -> int:
    """How many pairs of these items are positive now: all that may train and that nobody had labelled.

    Raises InputError for too many and for none. Asks for the next batch where this completes the one at hand.
    """
    act = f"{ACT}{uuid4().hex}"
    with acting(engine, Right.LABEL, project_id, annotator) as session:
        pairs = _open_pairs(session, project_id, items)
        if not pairs:
            raise InputError("its pairs are labelled already, or kept for measuring")
        answer_at_once(session, project_id, annotator, pairs, AnswerKind.POSITIVE, act)
    ask_if_due(engine, project_id, news=True)
    return len(pairs)


def last_act(engine: Engine, project_id: int, annotator: str) -> tuple[str, int] | None:
    """The newest such act of this annotator that is not taken back, and of how many pairs it is still the answer."""
    with reading(engine) as session:
        newest = last_key(session, project_id, annotator, (ACT, UNDO))
        if newest is None or not newest.startswith(ACT):
            return None
        act = newest.rsplit("-", 1)[0]
        count = len(answered_at_once(session, project_id, annotator, act))
    return (act, count) if count else None


def undo(engine: Engine, project_id: int, annotator: str, act: str) -> None:
    """Nothing; the answers of the act that this annotator has not changed since are taken back."""
    with acting(engine, Right.LABEL, project_id, annotator) as session:
        pairs = answered_at_once(session, project_id, annotator, act)
        answer_at_once(session, project_id, annotator, pairs, AnswerKind.RETRACT, act.replace(ACT, UNDO, 1))
