"""What people decided of pairs when they looked at groups: rows, and which of them count."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from allpairs.db.domain import DECIDED, Kind, Side, Split
from allpairs.db.groups.links import Pair, TextLinks, connecting_pairs, with_implied_decisions
from allpairs.db.projects.items import add_rows, chunks
from allpairs.db.projects.projects import project_of
from allpairs.db.projects.stable_groups import sides_of
from allpairs.db.schema.tables import Answer, Item, PairDecision, PairLabel, now

BEFORE_ALL = datetime(1970, 1, 1, tzinfo=UTC)
IMPORT = "import"  # begins the names of acts that came from a file


@dataclass(frozen=True)
class Decision:
    """The decision on a pair that counts. act: names all that were made by one click."""

    id: int
    left_id: int
    right_id: int
    same: bool
    act: str
    who: str
    at: datetime

    @property
    def pair(self) -> Pair:
        """Its items, left and right."""
        return self.left_id, self.right_id


def standing_decisions(
    session: Session, project_id: int, as_of: datetime | None = None, *conditions: ColumnElement[bool]
) -> list[Decision]:
    """Return the newest decision on each pair that is not undone, in the order in which they were made.

    A newer label of the same pair takes its place. as_of: as they stood then. conditions: of PairDecision.
    """
    columns = (
        PairDecision.id,
        PairDecision.left_id,
        PairDecision.right_id,
        PairDecision.same,
        PairDecision.act,
        PairDecision.who,
    )
    ids = standing_ids(project_id, as_of)
    query = select(*columns, PairDecision.at).where(PairDecision.id.in_(ids), *conditions)
    return [Decision(*row) for row in session.execute(query.order_by(PairDecision.id))]


def standing_ids(project_id: int, as_of: datetime | None = None) -> Select[int]:
    """Select the ids of the decisions that `standing_decisions` returns."""
    newest = select(func.max(PairDecision.id)).where(PairDecision.project_id == project_id, _stood(as_of))
    newest = newest.group_by(PairDecision.left_id, PairDecision.right_id)
    return select(PairDecision.id).where(PairDecision.id.in_(newest), ~_relabelled(as_of))


def _stood(as_of: datetime | None) -> ColumnElement[bool]:
    if as_of is None:
        return PairDecision.undone_at.is_(None)
    return and_(PairDecision.at <= as_of, or_(PairDecision.undone_at.is_(None), PairDecision.undone_at > as_of))


def _relabelled(as_of: datetime | None) -> ColumnElement[bool]:
    """Tell whether the decision's pair has a label that is newer."""
    later = select(Answer.id).join(PairLabel, PairLabel.answer_id == Answer.id)
    same_pair = PairLabel.left_id == PairDecision.left_id, PairLabel.right_id == PairDecision.right_id
    later = later.where(*same_pair, PairLabel.answer.in_(DECIDED), Answer.created_at > PairDecision.at)
    return (later if as_of is None else later.where(Answer.created_at <= as_of)).exists()


def decided_pairs(session: Session, project_id: int) -> dict[Pair, bool]:
    """Return whether the texts of each decided pair are the same, without the pairs that follow."""
    return {decision.pair: decision.same for decision in standing_decisions(session, project_id)}


def known_by_decisions(session: Session, project_id: int) -> dict[Pair, bool]:
    """Return whether the texts of each pair are the same that is decided or follows from decisions.

    Withdrawn texts still connect others, and are in pairs, too.
    """
    known = with_implied_decisions(decided_pairs(session, project_id))
    if project_of(session, project_id).kind == Kind.SYMMETRIC:
        return known
    sides = sides_of(session, {item for pair in known for item in pair})
    return {(a, b) if sides[a] == Side.LEFT else (b, a): same for (a, b), same in known.items() if sides[a] != sides[b]}


def training_decisions(session: Session, project_id: int, as_of: datetime | None = None) -> list[Decision]:
    """Return the decisions that train: of two texts that may train.

    Of an act on a group of n texts at most n − 1 pairs train, those that connect its texts, so that a large group does
    not outweigh all answers.
    """
    train = _may_train(PairDecision.left_id), _may_train(PairDecision.right_id)
    acts: dict[str, list[Decision]] = defaultdict(list)
    for decision in standing_decisions(session, project_id, as_of, *train):
        acts[decision.act].append(decision)
    chosen = {act: connecting_pairs(decision.pair for decision in decisions) for act, decisions in acts.items()}
    return [decision for act, decisions in acts.items() for decision in decisions if decision.pair in chosen[act]]


def training_decisions_changed(session: Session, project_id: int, since: datetime) -> bool:
    """Return whether decisions that train were made or undone since this moment."""
    later = or_(PairDecision.at > since, PairDecision.undone_at > since)
    train = _may_train(PairDecision.left_id), _may_train(PairDecision.right_id)
    query = select(PairDecision.id).where(PairDecision.project_id == project_id, later, *train)
    return session.scalar(query.limit(1)) is not None


def _may_train(item_id: Any) -> ColumnElement[bool]:
    item = aliased(Item)
    trains = item.split != Split.EVALUATION, item.withdrawn_at.is_(None)
    return select(item.id).where(item.id == item_id, *trains).exists()


def decisions_state(session: Session, project_id: int) -> tuple[int, int]:
    """Return two numbers that change with each decision and each undo."""
    undone = func.count(PairDecision.undone_at)
    query = select(func.coalesce(func.max(PairDecision.id), 0), undone).where(PairDecision.project_id == project_id)
    last, count = session.execute(query).one()
    return last, count


def newest_decision(session: Session, project_id: int) -> datetime:
    """Return when somebody decided of a group last, or undid it; a time before all decisions without any."""
    last = func.max(PairDecision.at), func.max(PairDecision.undone_at)
    times = session.execute(select(*last).where(PairDecision.project_id == project_id)).one()
    return max((time for time in times if time is not None), default=BEFORE_ALL)


def add_decisions(session: Session, project_id: int, who: str, act: str, decisions: Mapping[Pair, bool]) -> None:
    """Store the decisions as one act."""
    common = {"project_id": project_id, "act": act, "who": who, "at": now()}
    rows = ({"left_id": left, "right_id": right, "same": same} for (left, right), same in decisions.items())
    add_rows(session, PairDecision, (common | row for row in rows))


def last_decision_act(session: Session, project_id: int, who: str) -> str | None:
    """Return this person's newest act that is not undone; files do not count."""
    conditions = PairDecision.project_id == project_id, PairDecision.who == who, PairDecision.undone_at.is_(None)
    query = select(PairDecision.act).where(*conditions, ~PairDecision.act.startswith(IMPORT))
    return session.scalar(query.order_by(PairDecision.id.desc()).limit(1))


def undo_decisions(session: Session, project_id: int, act: str) -> set[int]:
    """Undo the act's decisions; return their texts, none if they were undone before.

    Older decisions on its pairs count again, unless they contradict newer ones: then they are undone, too.
    """
    conditions = PairDecision.project_id == project_id, PairDecision.act == act, PairDecision.undone_at.is_(None)
    pairs = session.execute(select(PairDecision.left_id, PairDecision.right_id).where(*conditions)).all()
    session.execute(update(PairDecision).where(*conditions).values(undone_at=now()))
    _drop_contradicted(session, project_id)
    return {item for pair in pairs for item in pair}


def _drop_contradicted(session: Session, project_id: int) -> None:
    links = TextLinks({})
    for decision in reversed(standing_decisions(session, project_id)):
        if not (links.join if decision.same else links.keep_apart)(*decision.pair):
            older = PairDecision.project_id == project_id, PairDecision.id <= decision.id
            pair = PairDecision.left_id == decision.left_id, PairDecision.right_id == decision.right_id
            values = {"undone_at": now()}
            session.execute(update(PairDecision).where(*older, *pair, PairDecision.undone_at.is_(None)).values(values))


def decided_texts(session: Session, project_id: int, items: Iterable[int]) -> dict[Pair, bool]:
    """Return the decisions that count and have one of these texts."""
    decisions: dict[Pair, bool] = {}
    for chunk in chunks(set(items)):
        either = or_(PairDecision.left_id.in_(chunk), PairDecision.right_id.in_(chunk))
        decisions |= {row.pair: row.same for row in standing_decisions(session, project_id, None, either)}
    return decisions


def copy_decisions(
    session: Session, project_id: int, items: Iterable[int], renewed: Callable[[int, int], Pair]
) -> None:
    """Store the decisions that have one of these texts again for other pairs: as made by the same person and act."""
    rows: dict[Pair, dict[str, Any]] = {}
    for chunk in chunks(set(items)):
        either = or_(PairDecision.left_id.in_(chunk), PairDecision.right_id.in_(chunk))
        for row in standing_decisions(session, project_id, None, either):
            left, right = renewed(row.left_id, row.right_id)
            if left != right:
                rows[left, right] = {"same": row.same, "act": row.act, "who": row.who, "at": row.at}
    common = {"project_id": project_id}
    add_rows(session, PairDecision, (common | {"left_id": a, "right_id": b} | row for (a, b), row in rows.items()))
