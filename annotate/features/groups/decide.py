"""Acts of people on the project's groups: right, split, merge, undo. What they decide counts over all models."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations, product
from uuid import uuid4

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.db.domain import AnswerKind, Kind, Side
from allpairs.db.errors import InputError
from allpairs.db.groups.decisions import (
    add_decisions,
    decided_texts,
    last_decision_act,
    undo_decisions,
)
from allpairs.db.groups.links import Pair, TextLinks
from allpairs.db.groups.regroup import agree, numbers_before, store_parts, with_groups_of, with_pairs_only
from allpairs.db.labels.answers import labels_among, lock_answers
from allpairs.db.projects.projects import project_of
from allpairs.db.projects.stable_groups import sides_of
from allpairs.db.schema.engine import reading

MOST_PAIRS = 20_000  # that a split keeps apart
_ACTS = {
    "right": "a group is right",
    "split": "rows taken out of a group",
    "merge": "two groups made one",
    "apart": "two groups kept apart",
}
STALE = "somebody else has changed this group in the meantime: look at it again"


@dataclass(frozen=True)
class _Pairing:
    """Which texts make pairs: all of one list, or those of two sides."""

    sides: dict[int, str]
    is_one_list: bool

    def pair(self, first: int, second: int) -> Pair | None:
        """Return the pair as it is stored; None if both texts are on one side of two lists."""
        if self.is_one_list:
            return min(first, second), max(first, second)
        if self.sides[first] == self.sides[second]:
            return None
        return (first, second) if self.sides[first] == Side.LEFT else (second, first)

    def pairs(self, texts: Iterable[tuple[int, int]]) -> list[Pair]:
        return [pair for first, second in texts if (pair := self.pair(first, second)) is not None]

    def joining(self, items: Sequence[int]) -> list[Pair]:
        """Return pairs that connect all these texts, one less than there are texts: the first with each other one."""
        if self.is_one_list:
            return self.pairs(product(items[:1], items[1:]))
        left = [item for item in items if self.sides[item] == Side.LEFT]
        right = [item for item in items if self.sides[item] != Side.LEFT]
        return [*product(left[:1], right), *product(left[1:], right[:1])]


def confirm_group(engine: Engine, project_id: int, person_name: str, items: Sequence[int]) -> str:
    """Store that all these texts, a whole group, are the same; return the act. Raises InputError if it has changed."""
    with _act(engine, project_id, person_name) as session:
        _require_whole(session, project_id, items)
        act = _named("right")
        _join(session, project_id, person_name, act, items)
    return act


def split_group(
    engine: Engine,
    project_id: int,
    person_name: str,
    items: Sequence[int],
    ticked: Collection[int],
    each_alone: bool = False,
) -> str:
    """Store that the ticked texts do not belong to this whole group, and that its other texts are the same.

    The ticked texts become a group of their own, about which nothing is said, or are all different if each is alone.
    Returns the act. Raises InputError if the group has changed, and unless some, but not all texts are ticked.
    """
    ticked = set(ticked)
    rest = [item for item in items if item not in ticked]
    if not ticked or not rest:
        raise InputError("tick the rows that do not belong to the group, and leave at least one")
    with _act(engine, project_id, person_name) as session:
        numbers = _require_whole(session, project_id, items)
        pairing = _pairing(session, project_id, items)
        within = combinations(sorted(ticked), 2) if each_alone else ()
        apart = pairing.pairs([*product(rest, sorted(ticked)), *within])
        if len(apart) > MOST_PAIRS:
            raise InputError(f"this would keep {len(apart):,} pairs apart, more than {MOST_PAIRS:,}: tick fewer rows")
        act = _named("split")
        same = _same(session, project_id, rest)
        earlier = _must_links_across(session, project_id, ticked, each_alone)
        add_decisions(session, project_id, person_name, act, same | dict.fromkeys([*apart, *earlier], False))
        alone = [[item] for item in sorted(ticked)]
        parts = with_pairs_only(session, project_id, [rest, *(alone if each_alone else [sorted(ticked)])])
        store_parts(session, project_id, act, parts, numbers)
    return act


def merge_groups(engine: Engine, project_id: int, person_name: str, items: Sequence[int], others: Sequence[int]) -> str:
    """Store that the texts of two whole groups, or of a group and a text that is alone, are the same; return the act.

    Decisions that kept some of them apart do not count any more. Raises InputError if one of the groups has changed.
    """
    if set(items) & set(others):
        raise InputError("these rows are in one group already")
    with _act(engine, project_id, person_name) as session:
        for texts in (items, others):
            _require_whole(session, project_id, texts)
        both = [*items, *others]
        if not _pairing(session, project_id, both).joining(both):
            raise InputError("both are of the same list: choose one of the other list")
        act = _named("merge")
        _join(session, project_id, person_name, act, both)
        store_parts(session, project_id, act, [both])
    return act


def keep_apart(engine: Engine, project_id: int, person_name: str, items: Sequence[int], others: Sequence[int]) -> str:
    """Store that two whole groups, or texts that are alone, are not the same; return the act.

    Raises InputError if one of them has changed.
    """
    with _act(engine, project_id, person_name) as session:
        for texts in (items, others):
            _require_whole(session, project_id, texts)
        pairs = _pairing(session, project_id, [*items, *others]).pairs(product(items, others))
        act = _named("apart")
        add_decisions(session, project_id, person_name, act, dict.fromkeys(pairs, False))
    return act


def undo_last_act(engine: Engine, project_id: int, person_name: str) -> str | None:
    """Undo this person's newest act on groups; return its name, None without any.

    Its texts go back to the groups that they were in, unless these have changed since; later decisions still hold.
    """
    with _act(engine, project_id, person_name) as session:
        act = last_decision_act(session, project_id, person_name)
        if act is None:
            return None
        items = undo_decisions(session, project_id, act)
        agree(session, project_id, f"undo-{act}", numbers_before(session, project_id, act, items))
    return act


def last_act_of(engine: Engine, project_id: int, person_name: str) -> str | None:
    """Return the act that `undo_last_act` would undo; None without any."""
    with reading(engine) as session:
        return last_decision_act(session, project_id, person_name)


@contextmanager
def _act(engine: Engine, project_id: int, person_name: str) -> Iterator[Session]:
    """Open a transaction in which nobody else decides or answers in the project."""
    with acting(engine, Right.LABEL, project_id, person_name) as session:
        lock_answers(session, project_id)
        yield session


def _named(kind: str) -> str:
    return f"{kind}-{uuid4().hex}"


def _require_whole(session: Session, project_id: int, items: Sequence[int]) -> dict[int, int | None]:
    """Return the numbers of these texts' group. Raises InputError unless they are one whole group, or a lone text."""
    numbers = with_groups_of(session, project_id, items)
    if numbers.keys() != set(items) or len(set(numbers.values())) != 1 or (len(items) > 1 and None in numbers.values()):
        raise InputError(STALE)
    return numbers


def _pairing(session: Session, project_id: int, items: Collection[int]) -> _Pairing:
    is_one_list = project_of(session, project_id).kind == Kind.SYMMETRIC
    return _Pairing({} if is_one_list else sides_of(session, items), is_one_list)


def _same(session: Session, project_id: int, items: Sequence[int]) -> dict[Pair, bool]:
    """Return pairs that join all these texts, and those of them that somebody has answered with no."""
    refused = [
        (label.left_id, label.right_id)
        for label in labels_among(session, project_id, items)
        if label.answer == AnswerKind.NEGATIVE
    ]
    return dict.fromkeys([*_pairing(session, project_id, items).joining(items), *refused], True)


def _join(session: Session, project_id: int, person_name: str, act: str, items: Sequence[int]) -> None:
    """Store that all these texts are the same, also of pairs that were kept apart."""
    same = _same(session, project_id, items)
    earlier = decided_texts(session, project_id, items)
    links = TextLinks({pair: is_same for pair, is_same in earlier.items() if is_same} | same)
    apart = links.contradicted(earlier)
    add_decisions(session, project_id, person_name, act, same | dict.fromkeys(apart, True))


def _must_links_across(session: Session, project_id: int, ticked: set[int], each_alone: bool) -> list[Pair]:
    """Return the must-links that would still join ticked texts with others, such as withdrawn ones."""
    decisions = decided_texts(session, project_id, ticked)
    return [pair for pair, same in decisions.items() if same and (each_alone or len(ticked.intersection(pair)) == 1)]


def act_in_words(act: str) -> str:
    """Return what the act was, after “Your last decision: ”."""
    return _ACTS.get(act.split("-")[0], "a decision")
