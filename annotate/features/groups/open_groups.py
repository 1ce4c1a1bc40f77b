"""The project's groups as people look at them: which nobody has confirmed yet, least sure first, and their rows."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from allpairs.annotate.features.groups.confirmed import (
    confirmed_groups,
    group_sizes,
    matches_table,
    weakest_links,
)
from allpairs.annotate.features.groups.group_table import GroupRow, kept_first
from allpairs.db.corpus.fields import Aligned, aligned, joined_values
from allpairs.db.domain import Side
from allpairs.db.groups.decisions import decided_pairs, decisions_state, known_by_decisions
from allpairs.db.groups.links import Pair, TextLinks
from allpairs.db.groups.regroup import group_numbers, present_texts, with_groups_of
from allpairs.db.projects.items import chunks, identifiers_of, items_by_identifier, items_with
from allpairs.db.projects.lists import current_list
from allpairs.db.projects.records import aligned_columns
from allpairs.db.projects.stable_groups import group_id, newest_change, newest_update, texts_in_groups
from allpairs.db.results.matches import GROUPS, NEAR, read_matches
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Item, ListRow
from allpairs.db.texts.versions import new_texts

SECONDS = 4  # that a look at a group takes, about
MOST_NEAR = 20  # near misses that are asked at a time
MOST_HITS = 10  # of a search


@dataclass(frozen=True)
class OpenGroup:
    """A group that nobody has confirmed, or a near miss: two texts of which one may belong to the other's group.

    number: of the group, None for a near miss; p: the probability of its weakest link, None where it is not known.
    """

    number: int | None
    items: tuple[int, ...]
    p: float | None


@dataclass(frozen=True)
class GroupWork:
    """What there is to look at. total: groups of several texts; precision: of their pairs, once all were looked at."""

    open: list[OpenGroup]
    total: int
    precision: float | None


def groups_state(engine: Engine, project_id: int) -> tuple[object, ...]:
    """Return what `read_group_work` depends on."""
    with reading(engine) as session:
        matches = read_matches(project_id)
        state = newest_change(session, project_id), decisions_state(session, project_id)
    return (project_id, *state, matches and matches.job_id)


def read_group_work(engine: Engine, project_id: int) -> GroupWork | None:
    """Return what there is to look at, least sure first, but first of all what the newest version of a list brought.

    None until somebody has found matches.
    """
    with reading(engine) as session:
        if newest_update(session, project_id) is None:
            return None
        links = TextLinks(decided_pairs(session, project_id))
        sizes = group_sizes(session, project_id)
        confirmed = confirmed_groups(session, project_id)
        p = weakest_links(session, project_id)
        new_items = new_texts(session, project_id)
        new_groups = set(group_numbers(session, project_id, new_items).values())
        numbers = sorted(
            sizes.keys() - confirmed, key=lambda number: (number not in new_groups, p.get(number, 0.0), number)
        )
        open_groups = [OpenGroup(number, (), p.get(number)) for number in numbers]
        misses = sorted(open_near_misses(session, project_id), key=lambda miss: new_items.isdisjoint(miss[0]))
        near = [OpenGroup(None, pair, chance) for pair, chance in misses[:MOST_NEAR]]
        precision = None if numbers else _precision(session, project_id, links)
    return GroupWork([*open_groups, *near], len(sizes), precision)


def open_near_misses(session: Session, project_id: int) -> list[tuple[Pair, float]]:
    """Return pairs just below the threshold of which nobody has decided, and their probabilities, highest first."""
    table = matches_table(project_id, NEAR, ["left_id", "right_id", "p"])
    if table is None:
        return []
    pairs = list(zip(table["left_id"].to_pylist(), table["right_id"].to_pylist(), strict=True))
    known = known_by_decisions(session, project_id)
    items = present_texts(session, project_id, {item for pair in pairs for item in pair})
    numbers = group_numbers(session, project_id, items)
    return [
        (pair, p)
        for pair, p in zip(pairs, table["p"].to_pylist(), strict=True)
        if items.issuperset(pair)
        and pair not in known
        and (numbers[pair[0]] is None or numbers[pair[0]] != numbers[pair[1]])
    ]


def _precision(session: Session, project_id: int, links: TextLinks) -> float | None:
    """Return the share of the last search's pairs in groups that people say are the same; all were looked at."""
    table = matches_table(project_id, GROUPS, ["group_id", "side", "id"])
    if table is None:
        return None
    named = {side: items_by_identifier(session, project_id, side) for side in Side}
    groups: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for group, side, name in zip(*(table[column].to_pylist() for column in table.column_names), strict=True):
        if name in named[Side(side)]:
            groups[group].add((side, named[Side(side)][name]))
    two_lists = bool(named[Side.RIGHT])
    joined = sum(_pairs(group, two_lists) for group in groups.values())
    same = 0
    for group in groups.values():
        parts: dict[int, set[tuple[str, int]]] = defaultdict(set)
        for side, item in group:
            parts[links.root(item)].add((side, item))
        same += sum(_pairs(part, two_lists) for part in parts.values())
    return same / joined if joined else None


def _pairs(texts: Iterable[tuple[str, int]], two_lists: bool) -> int:
    sides = Counter(side for side, _ in texts)
    return sides[Side.LEFT] * sides[Side.RIGHT] if two_lists else comb(sides.total(), 2)


@dataclass(frozen=True)
class ShownGroup:
    """A group with its rows, the row that stays first. name: its id, empty for a text that is alone."""

    name: str
    columns: list[str]
    rows: list[GroupRow]

    @property
    def items(self) -> list[int]:
        """Its texts, that of the first row first."""
        return list(dict.fromkeys(row.item for row in self.rows))


def read_open_group(engine: Engine, project_id: int, group: OpenGroup) -> list[ShownGroup]:
    """Return the group with its rows; of a near miss both groups. Empty if it is not there any more."""
    with reading(engine) as session:
        if group.number is None:
            return [_shown(session, project_id, with_groups_of(session, project_id, [item])) for item in group.items]
        texts = texts_in_groups(session, project_id, [group.number]).get(group.number, [])
        present_items = present_texts(session, project_id, texts)
        return [_shown(session, project_id, dict.fromkeys(present_items, group.number))] if present_items else []


def search_groups(engine: Engine, project_id: int, words: str, without: Sequence[int]) -> list[ShownGroup]:
    """Return the groups, and texts that are alone, of the first texts with these words, but those of some texts."""
    if not words.strip():
        return []
    with reading(engine) as session:
        hits = [item.id for item in items_with(session, project_id, words.split(), MOST_HITS)]
        groups: dict[int, ShownGroup] = {}
        for item in hits:
            texts = with_groups_of(session, project_id, [item])
            if not texts.keys() & set(without):
                groups.setdefault(min(texts), _shown(session, project_id, texts))
    return list(groups.values())


def _shown(session: Session, project_id: int, texts: dict[int, int | None]) -> ShownGroup:
    number = next(iter(texts.values()))
    columns, rows = _rows(session, project_id, sorted(texts))
    return ShownGroup("" if number is None else group_id(number), columns, kept_first(rows))


def _rows(session: Session, project_id: int, items: Sequence[int]) -> tuple[list[str], list[GroupRow]]:
    """Return the columns and all rows of these texts: as they were written, or else of the columns compared."""
    lists = {side: current_list(session, project_id, side) for side in Side}
    kept = {side: version for side, version in lists.items() if version is not None}
    left = kept[Side.LEFT].columns if Side.LEFT in kept else []
    columns = aligned(left, kept[Side.RIGHT].columns) if Side.RIGHT in kept else _alone(left)
    if not columns:
        return _text_rows(session, project_id, items)
    rows = list[GroupRow]()
    sides = dict(session.execute(select(Item.id, Item.side).where(Item.id.in_(items))).tuples().all())
    names = {(Side(sides[item]), name): item for item, ids in identifiers_of(session, items).items() for name in ids}
    for side in kept:
        own_names = [name for row_side, name in names if row_side == side]
        for chunk in chunks(own_names):
            query = select(ListRow.external_id, ListRow.cells).order_by(ListRow.place)
            standing = ListRow.project_id == project_id, ListRow.side == side, ListRow.ended_id.is_(None)
            for name, cells in session.execute(query.where(*standing, ListRow.external_id.in_(chunk))):
                rows.append(GroupRow(names[side, name], name, _placed(columns, side, cells)))
    return [column.name for column in columns], rows


def _alone(names: Sequence[str]) -> list[Aligned]:
    return [Aligned(name, place, None) for place, name in enumerate(names)]


def _placed(columns: Sequence[Aligned], side: Side, cells: Sequence[str]) -> tuple[str, ...]:
    places = (column.left if side == Side.LEFT else column.right for column in columns)
    return tuple("" if place is None or place >= len(cells) else cells[place] for place in places)


def _text_rows(session: Session, project_id: int, items: Sequence[int]) -> tuple[list[str], list[GroupRow]]:
    columns = aligned_columns(session, project_id) or [Aligned("text", 0, 0)]
    ids = identifiers_of(session, items)
    query = select(Item.id, Item.side, Item.text, Item.field_lengths).where(Item.id.in_(items))
    rows = [
        GroupRow(item, ", ".join(ids.get(item, [])), _placed(columns, Side(side), joined_values(text, lengths)))
        for item, side, text, lengths in session.execute(query.order_by(Item.id))
    ]
    return [column.name for column in columns], rows
