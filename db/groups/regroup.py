"""Acts of people on the project's groups: which texts are in which group from now on, and back again."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import Kind
from allpairs.db.groups.decisions import decided_texts
from allpairs.db.groups.links import TextLinks, agreeing_parts
from allpairs.db.groups.numbering import Numbered, renumbered
from allpairs.db.groups.plan import plan_between
from allpairs.db.projects.items import add_rows, chunks, present
from allpairs.db.projects.projects import project_of
from allpairs.db.projects.stable_groups import (
    highest_number,
    newest_update,
    sides_of,
    store_groups,
    texts_in_groups,
)
from allpairs.db.schema.tables import GroupedItem, GroupMove, GroupUpdate, Identifier, Item


def group_numbers(session: Session, project_id: int, items: Iterable[int]) -> dict[int, int | None]:
    """Return the number of each text's group, None for a text that is alone."""
    numbers: dict[int, int | None] = dict.fromkeys(items)
    for chunk in chunks(list(numbers)):
        query = select(GroupedItem.item_id, GroupedItem.number)
        in_project = GroupedItem.project_id == project_id
        numbers |= dict(session.execute(query.where(in_project, GroupedItem.item_id.in_(chunk))).tuples().all())
    return numbers


def present_texts(session: Session, project_id: int, items: Iterable[int]) -> set[int]:
    """Return those of these texts that are in the project and not withdrawn."""
    return {
        item
        for chunk in chunks(set(items))
        for item in session.scalars(select(Item.id).where(*present(project_id), Item.id.in_(chunk)))
    }


def with_groups_of(session: Session, project_id: int, items: Iterable[int]) -> dict[int, int | None]:
    """Return these texts and all others of their groups with the numbers of these; without withdrawn ones."""
    numbers = group_numbers(session, project_id, items)
    groups = texts_in_groups(session, project_id, sorted({number for number in numbers.values() if number}))
    numbers |= {item: number for number, texts in groups.items() for item in texts}
    remaining = present_texts(session, project_id, numbers)
    return {item: number for item, number in numbers.items() if item in remaining}


def store_parts(
    session: Session,
    project_id: int,
    act: str,
    parts: Sequence[Collection[int]],
    numbers: Mapping[int, int | None] | None = None,
) -> None:
    """Let each of these parts be a group from now on; the parts hold all texts of the groups that they touch.

    numbers: those that the parts take over, as if the texts were in these groups now. A project without groups gets
    none: its first search for matches makes them.
    """
    last = newest_update(session, project_id)
    if last is None:
        return
    before = _whole_groups(session, project_id, {item for part in parts for item in part})
    earlier = before if numbers is None else _numbered(numbers)
    large = [part for part in parts if _is_group(session, project_id, part)]
    items = np.array([item for part in large for item in part], dtype=np.int64)
    group = np.repeat(np.arange(len(large)), [len(part) for part in large])
    after = renumbered(earlier, items, group, highest_number(session, project_id) + 1)
    same = ("project_id", "matcher", "threshold", "p", "clustering", "representative", "newest_by")
    update = GroupUpdate(
        **{name: getattr(last, name) for name in same},
        groups=last.groups + len(np.unique(after.number)) - len(np.unique(before.number)),
        texts=last.texts + len(after.items) - len(before.items),
    )
    assert store_groups(session, plan_between(session, project_id, before, after).plan, update), "lock the project"
    _add_moves(session, project_id, act, before, after)


def _whole_groups(session: Session, project_id: int, items: Collection[int]) -> Numbered:
    """Return the groups of these texts as they are stored, with withdrawn texts."""
    numbers = {number for number in group_numbers(session, project_id, items).values() if number}
    groups = texts_in_groups(session, project_id, sorted(numbers))
    return _numbered({item: number for number, texts in groups.items() for item in texts})


def _numbered(numbers: Mapping[int, int | None]) -> Numbered:
    rows = sorted((item, number) for item, number in numbers.items() if number is not None)
    items, numbers_of_items = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    return Numbered(items, numbers_of_items)


def _is_group(session: Session, project_id: int, part: Collection[int]) -> bool:
    """Return whether the texts make a group: a pair of the project's, or a text with several ids."""
    if len(part) == 1:
        (item,) = part
        return (session.scalar(select(func.count()).where(Identifier.item_id == item)) or 0) > 1
    return True


def _add_moves(session: Session, project_id: int, act: str, before: Numbered, after: Numbered) -> None:
    old, new = (dict(zip(part.items.tolist(), part.number.tolist(), strict=True)) for part in (before, after))
    moved = [item for item in sorted(old | new) if old.get(item) != new.get(item)]
    common = {"project_id": project_id, "act": act}
    rows = ({"item_id": item, "before": old.get(item), "after": new.get(item)} for item in moved)
    add_rows(session, GroupMove, (common | row for row in rows))


def with_pairs_only(session: Session, project_id: int, parts: Iterable[Collection[int]]) -> list[Collection[int]]:
    """Return the parts; of two lists those of one side alone are no groups, so each of their texts is a part."""
    if project_of(session, project_id).kind == Kind.SYMMETRIC:
        return list(parts)
    whole: list[Collection[int]] = []
    for part in parts:
        sides = set(sides_of(session, part).values())
        whole.extend([part] if len(sides) > 1 else [[item] for item in part])
    return whole


def agree(session: Session, project_id: int, act: str, numbers: Mapping[int, int | None]) -> None:
    """Store the groups of these texts and numbers as far as the decisions allow; they hold whole groups."""
    links = TextLinks(decided_texts(session, project_id, numbers))
    parts = with_pairs_only(session, project_id, _among(agreeing_parts(numbers, links), numbers))
    store_parts(session, project_id, act, parts, numbers)


def _among(parts: Iterable[Sequence[int]], items: Collection[int]) -> Iterable[Sequence[int]]:
    return ([item for item in part if item in items] for part in parts)


def numbers_before(session: Session, project_id: int, act: str, items: Iterable[int]) -> dict[int, int | None]:
    """Return the groups of these texts with whatever the act moved in its earlier group, if it is where it was put."""
    moves = session.execute(
        select(GroupMove.item_id, GroupMove.before, GroupMove.after).where(
            GroupMove.project_id == project_id, GroupMove.act == act
        )
    ).all()
    earlier = {item: before for item, before, _ in moves}
    numbers = with_groups_of(session, project_id, {*items, *earlier, *_in_groups(session, project_id, earlier)})
    is_untouched = all(numbers.get(item) == after for item, _, after in moves if item in numbers)
    return numbers | {item: earlier[item] for item in earlier if item in numbers} if is_untouched else numbers


def _in_groups(session: Session, project_id: int, numbers: Mapping[int, int | None]) -> set[int]:
    """Return the texts that are in one of these groups now."""
    groups = texts_in_groups(session, project_id, sorted({number for number in numbers.values() if number}))
    return {item for texts in groups.values() for item in texts}
