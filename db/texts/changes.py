"""Changes of a project's texts: stored as one act each, listed, and undone from the newest one back."""

from collections.abc import Iterable, Sequence
from itertools import chain
from random import Random
from typing import Any

from sqlalchemy import ColumnElement, and_, case, delete, func, or_, select, update
from sqlalchemy.orm import Session

from allpairs.db.corpus.staging import Staging
from allpairs.db.domain import Kind, Settings, Side, Split
from allpairs.db.errors import InputError
from allpairs.db.groups.decisions import copy_decisions
from allpairs.db.projects.items import add_rows, chunks, present
from allpairs.db.projects.lists import change_list, end_rows, undo_list_change
from allpairs.db.schema.tables import Gold, Identifier, IdentifierChange, Item, Project, TextChange, now
from allpairs.db.texts.plan import Move, TextPlan
from allpairs.db.texts.versions import replace_list


def newest_text_change(session: Session, project_id: int) -> TextChange | None:
    """Return the newest change of the project's texts that stands: the one that can be undone."""
    query = select(TextChange).where(TextChange.project_id == project_id, TextChange.undone_at.is_(None))
    return session.scalar(query.order_by(TextChange.number.desc()).limit(1))


def version_of_texts(session: Session, project_id: int) -> int:
    """Return the number of the newest change that stands, 0 without one: it names the project's texts as they are."""
    newest = newest_text_change(session, project_id)
    return 0 if newest is None else newest.number


def changes_of(session: Session, project_id: int, limit: int = 100) -> list[TextChange]:
    """Return the last changes of the project's texts, the newest first."""
    query = select(TextChange).where(TextChange.project_id == project_id)
    return list(session.scalars(query.order_by(TextChange.number.desc()).limit(limit)))


def last_of_measuring(session: Session, project_id: int) -> int:
    """Return the number of the newest change that stands by which texts for evaluation came or went, 0 without one."""
    conditions = (TextChange.project_id == project_id, TextChange.undone_at.is_(None), TextChange.measuring > 0)
    return session.scalar(select(func.max(TextChange.number)).where(*conditions)) or 0


def measuring_changed(session: Session, project_id: int, version: int, since: Any) -> int:
    """Return how many texts for evaluation came or went since this version, at the most.

    since: when the texts had that version: changes from before it that have been undone later count, too.
    """
    after = and_(TextChange.number > version, TextChange.undone_at.is_(None))
    undone = and_(TextChange.number <= version, TextChange.undone_at > since)
    query = select(func.coalesce(func.sum(TextChange.measuring), 0)).where(TextChange.project_id == project_id)
    return int(session.scalar(query.where(or_(after, undone))) or 0)


def store_change(
    session: Session, project: Project, plan: TextPlan, person_name: str, source: str, file: Staging | None = None
) -> TextChange:
    """Store what the plan says, all of it in this transaction. Raises InputError if too few texts would be left.

    An item's row never moves: a changed text is a new item, which its identifier names from now on, and a text that
    nothing names any more is withdrawn. A known pair is of records, so a changed text keeps those of the one before.
    file: the staged rows, if it brings texts.
    """
    last = session.scalar(select(func.max(TextChange.number)).where(TextChange.project_id == project.id)) or 0
    counts = {name: sum(plan.counts[kind] for kind in kinds) for name, kinds in _COUNTED.items()}
    change = TextChange(
        project_id=project.id, number=last + 1, who=person_name, source=source[:500], measuring=0, **counts
    )
    session.add(change)
    session.flush()
    items = _add_items(session, project, plan, change)
    moves = [move if move.after is None or move.after >= 0 else _placed(move, items) for move in plan.moves]
    _point(session, project.id, plan.side, {move.name: move.after for move in moves})
    common = {"change_id": change.id, "project_id": project.id, "side": plan.side}
    rows = ({"external_id": move.name, "before_id": move.before, "after_id": move.after} for move in moves)
    add_rows(session, IdentifierChange, (common | row for row in rows))
    returned = _settle(session, {*_befores(moves), *_afters(moves)}, change.number)
    change.measuring = returned + _measuring(session, items)
    _copy_known_pairs(session, project, moves)
    _require_enough(session, project)
    if file is None:
        end_rows(session, change, plan.side, [move.name for move in moves])
    elif plan.whole:
        replace_list(session, change, plan, file)
    else:
        change_list(session, change, plan.side, file, plan.spelt)
    return change


_COUNTED = {"added": ("new", "equal"), "changed": ("changed", "updated"), "withdrawn": ("withdrawn",)}


def undo_change(session: Session, project: Project) -> TextChange:
    """Take the newest change back: each identifier names what it named before; return the change.

    Raises InputError if no change stands.
    """
    change = newest_text_change(session, project.id)
    if change is None:
        raise InputError("no change of this project's texts is left to undo")
    columns = (IdentifierChange.side, IdentifierChange.external_id, IdentifierChange.before_id)
    rows = session.execute(select(*columns, IdentifierChange.after_id).where(IdentifierChange.change_id == change.id))
    moves = rows.all()
    for side in {side for side, *_ in moves}:
        _point(session, project.id, side, {name: before for move_side, name, before, _ in moves if move_side == side})
    undo_list_change(session, change)
    touched = {item for *_, before, after in moves for item in (before, after) if item is not None}
    _settle(session, touched, _brought_before(change))
    change.undone_at = now()
    return change


def _add_items(session: Session, project: Project, plan: TextPlan, change: TextChange) -> list[int]:
    """Store the new texts and return their ids, which are larger than those of all others."""
    if not plan.new:
        return []
    splits = _splits(session, project, plan, change.number)
    common = {"project_id": project.id, "side": plan.side, "added_in": change.number}
    add_rows(
        session,
        Item,
        (
            common | {"split": split, "text": item.text, "field_lengths": list(item.lengths) or None}
            for item, split in zip(plan.new, splits, strict=True)
        ),
    )
    query = select(Item.id).where(Item.project_id == project.id, Item.added_in == change.number)
    return list(session.scalars(query.order_by(Item.id)))


def _splits(session: Session, project: Project, plan: TextPlan, number: int) -> list[Split]:
    """Return the split of each new text: that of the text which it replaces, else drawn with the project's share.

    A text that replaces several is for training if one of them was: it may say what a model has learned. The draw hangs
    on the project's seed and the change's number alone, so that a preview shows what happens.
    """
    replaced = _replaced(session, plan)
    settings = Settings.model_validate(project.settings)
    rng = Random(f"split of new texts {settings.seed} {number}")
    free = [place for place in range(len(plan.new)) if place not in replaced]
    # The share of few texts is no whole number: it is met on average, over many changes.
    chosen = rng.sample(free, int(settings.evaluation_share * len(free) + rng.random()))
    drawn = dict.fromkeys(free, Split.TRAIN) | dict.fromkeys(chosen, Split.EVALUATION)
    if plan.side == Side.RIGHT and _is_shared(session, project.id):
        drawn = dict.fromkeys(free, Split.SHARED)
    return [(drawn | replaced)[place] for place in range(len(plan.new))]


def _replaced(session: Session, plan: TextPlan) -> dict[int, Split]:
    """Return the split of the texts that new texts replace, by the place of the new one."""
    moves = [
        (-1 - move.after, move.before)
        for move in plan.moves
        if move.before is not None and move.after is not None and move.after < 0
    ]
    before = _splits_of(session, (item for _, item in moves))
    splits: dict[int, Split] = {}
    for place, item in moves:
        splits[place] = Split.TRAIN if Split.TRAIN in (splits.get(place), before[item]) else before[item]
    return splits


def _splits_of(session: Session, items: Iterable[int]) -> dict[int, Split]:
    return {
        id_: Split(split)
        for chunk in chunks(items)
        for id_, split in session.execute(select(Item.id, Item.split).where(Item.id.in_(chunk)))
    }


def _is_shared(session: Session, project_id: int) -> bool:
    """Return whether the texts of the right list are in training and evaluation pairs."""
    query = select(Item.id).where(Item.project_id == project_id, Item.side == Side.RIGHT, Item.split == Split.SHARED)
    return session.scalar(query.limit(1)) is not None


def _placed(move: Move, items: Sequence[int]) -> Move:
    assert move.after is not None
    return Move(move.name, move.before, items[-1 - move.after])


def _befores(moves: Iterable[Move]) -> Iterable[int]:
    return (move.before for move in moves if move.before is not None)


def _afters(moves: Iterable[Move]) -> Iterable[int]:
    return (move.after for move in moves if move.after is not None)


def _point(session: Session, project_id: int, side: Side, names: dict[str, int | None]) -> None:
    """Let each identifier name this item, or none."""
    conditions = (Identifier.project_id == project_id, Identifier.side == side)
    for chunk in chunks(names):
        session.execute(delete(Identifier).where(*conditions, Identifier.external_id.in_(chunk)))
    common = {"project_id": project_id, "side": side}
    rows = ({"external_id": name, "item_id": item} for name, item in names.items() if item is not None)
    add_rows(session, Identifier, (common | row for row in rows))


def _brought_before(change: TextChange) -> ColumnElement[int | None]:
    """Return which change had brought an item before this one: changes since then may have brought it again."""
    named = select(func.max(TextChange.number)).join(IdentifierChange, IdentifierChange.change_id == TextChange.id)
    earlier = named.where(
        TextChange.number < change.number, TextChange.undone_at.is_(None), IdentifierChange.after_id == Item.id
    )
    return case((Item.added_in > change.number, earlier.scalar_subquery()), else_=Item.added_in)


def _settle(session: Session, items: Iterable[int], added_in: int | ColumnElement[int | None]) -> int:
    """Withdraw the items that nothing names, and let the others be there; return how many of them measure.

    added_in: number of the change that brought those that come back.
    """
    named = select(Identifier.item_id).where(Identifier.item_id == Item.id).exists()
    counted = 0
    time = now()
    for chunk in chunks(items):
        in_chunk = Item.id.in_(chunk)
        goes = and_(in_chunk, ~named, Item.withdrawn_at.is_(None))
        comes = and_(in_chunk, named, Item.withdrawn_at.is_not(None))
        measures = Item.split != Split.TRAIN
        counted += session.scalar(select(func.count()).select_from(Item).where(or_(goes, comes), measures)) or 0
        for condition, values in (
            (goes, {"withdrawn_at": time}),
            (comes, {"withdrawn_at": None, "added_in": added_in}),
        ):
            session.execute(update(Item).where(condition).values(values).execution_options(synchronize_session=False))
    return counted


def _measuring(session: Session, items: Iterable[int]) -> int:
    return sum(split != Split.TRAIN for split in _splits_of(session, items).values())


def _copy_known_pairs(session: Session, project: Project, moves: Sequence[Move]) -> None:
    """Give a new text the known pairs, and people's decisions, of the one whose identifier it took over."""
    newest: dict[int, int] = {}
    for move in moves:
        if move.before is not None and move.after is not None and move.after > move.before:
            newest.setdefault(move.before, move.after)
    columns = (Gold.left_id, Gold.right_id, Gold.positive, Gold.closure)
    rows: dict[tuple[int, int], dict[str, Any]] = {}

    def renewed(left: int, right: int) -> tuple[int, int]:
        pair = newest.get(left, left), newest.get(right, right)
        return (min(pair), max(pair)) if project.kind == Kind.SYMMETRIC else pair

    for chunk in chunks(newest):
        of_old = select(*columns).where(or_(Gold.left_id.in_(chunk), Gold.right_id.in_(chunk)))
        for left, right, positive, closure in session.execute(of_old):
            left, right = renewed(left, right)
            if left != right:
                rows[left, right] = {"left_id": left, "right_id": right, "positive": positive, "closure": closure}
    copy_decisions(session, project.id, newest, renewed)
    known = _known(session, chain.from_iterable(rows))
    add_rows(session, Gold, ({"project_id": project.id} | row for pair, row in rows.items() if pair not in known))


def _known(session: Session, items: Iterable[int]) -> set[tuple[int, int]]:
    return {
        (left, right)
        for chunk in chunks(items)
        for left, right in session.execute(select(Gold.left_id, Gold.right_id).where(Gold.left_id.in_(chunk)))
    }


def _require_enough(session: Session, project: Project) -> None:
    query = select(Item.side, func.count()).where(*present(project.id), Item.split != Split.EVALUATION)
    counts = dict(session.execute(query.group_by(Item.side)).tuples().all())
    left = counts.get(Side.LEFT, 0)
    right = counts.get(Side.RIGHT, 0)
    if left < 2 if project.kind == Kind.SYMMETRIC else not (left and right):
        raise InputError(f"{left + right} texts would be left for training, too few for a pair: keep more of them")
