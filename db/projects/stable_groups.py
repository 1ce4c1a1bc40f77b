"""The groups of a project with their ids: what they are now, and the record of what became of each."""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from allpairs.db.corpus.text_columns import usual_clustering
from allpairs.db.domain import Clustering, Kind, NoticeKind, Representative, Settings, Side
from allpairs.db.projects.items import CHUNK, chunks, known_identifiers
from allpairs.db.projects.matchers import newest_matcher
from allpairs.db.projects.notices import add_notice
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.tables import GroupChange, GroupedItem, GroupUpdate, Item, Project, StoredModel

PREFIX = "g"
Named = tuple[str, str]  # side and id
HALF = 0.5  # the probability from which pairs match where nobody has asked for groups yet
SURE = 1e-9  # probabilities closer to 0 or 1 have no score that could be told from theirs
MatchesArguments = tuple[int, float | None, None, str, str, str]  # arguments of the job `matches` after the project


def group_id(number: int) -> str:
    """Return the id under which people and programs know the group."""
    return f"{PREFIX}{number}"


def group_ids_of(session: Session, project_id: int, item_ids: Iterable[int]) -> dict[int, str]:
    """Return the id of each text's group; texts that are alone, or of another project, have none."""
    return {
        item: group_id(number)
        for chunk in chunks(item_ids)
        for item, number in session.execute(
            select(GroupedItem.item_id, GroupedItem.number).where(
                GroupedItem.project_id == project_id, GroupedItem.item_id.in_(chunk)
            )
        )
    }


def newest_update(session: Session, project_id: int) -> GroupUpdate | None:
    """Return the act that made the project's groups what they are; None if none has."""
    query = select(GroupUpdate).where(GroupUpdate.project_id == project_id)
    return session.scalar(query.order_by(GroupUpdate.id.desc()).limit(1))


def asked_as_before(session: Session, project_id: int) -> MatchesArguments | None:
    """Return the search that keeps a project's groups up to date, if the project asks for that.

    Before the first training one list gets its first groups. Returns None, too, if a later matcher has no
    probabilities: scores of two models do not compare, but their probabilities do.
    """
    project = project_of(session, project_id)
    matcher = newest_matcher(session, project_id)
    if matcher is None or not Settings.model_validate(project.settings).keep_groups:
        return None
    search = usual_search(session, project, matcher)
    is_first = matcher.number == 0 and project.kind == Kind.SYMMETRIC
    return search if search[1] is not None or is_first else None


def usual_search(session: Session, project: Project, matcher: StoredModel) -> MatchesArguments:
    """Return the search for matches with the project's newest matcher that makes groups as the last update did.

    Without probabilities it takes the careful score of texts without labels.
    """
    last = newest_update(session, project.id)
    representative = Representative.CENTRAL if last is None else Representative(last.representative)
    newest_by = "" if last is None else last.newest_by
    if not matcher.w or matcher.b is None:
        return 0, None, None, Clustering.CONNECTED, representative, newest_by
    p = HALF
    clustering = usual_clustering(Kind(project.kind), bool(project.text_columns))
    if last is not None and last.p is not None and last.by_labels:
        p = min(max(last.p, SURE), 1 - SURE)
        clustering = Clustering(last.clustering)
    return matcher.number, (log(p / (1 - p)) - matcher.b) / matcher.w, None, clustering, representative, newest_by


def grouped_items(session: Session, project_id: int) -> "tuple[array[int], array[int]]":
    """Return all texts of the project in groups, ascending, and the numbers of their groups."""
    table = GroupedItem.__table__.c  # of the table, not of its class, whose rows take twice the time
    query = select(table.item_id, table.number).where(table.project_id == project_id).order_by(table.item_id)
    rows = session.execute(query.execution_options(yield_per=CHUNK))
    items = array("q")
    numbers = array("q")
    for part in rows.partitions():
        for column, values in zip((items, numbers), zip(*part, strict=True), strict=True):
            column.extend(values)
    return items, numbers


def highest_number(session: Session, project_id: int) -> int:
    """Return the highest number that any group of the project has had, 0 for none."""
    return session.scalar(select(func.max(GroupChange.number)).where(GroupChange.project_id == project_id)) or 0


def page_of_groups(session: Session, project_id: int, after: int, limit: int) -> dict[int, list[int]]:
    """Return the texts of the first groups whose numbers are above `after`, ascending."""
    query = (
        select(GroupedItem.number).where(GroupedItem.project_id == project_id, GroupedItem.number > after).distinct()
    )
    numbers = session.scalars(query.order_by(GroupedItem.number).limit(limit)).all()
    return texts_in_groups(session, project_id, numbers)


def texts_in_groups(session: Session, project_id: int, numbers: Sequence[int]) -> dict[int, list[int]]:
    """Return the texts of these groups, as far as they exist, ascending."""
    texts: dict[int, list[int]] = {}
    for chunk in chunks(numbers):
        query = select(GroupedItem.number, GroupedItem.item_id).where(GroupedItem.project_id == project_id)
        query = query.where(GroupedItem.number.in_(chunk)).order_by(GroupedItem.number, GroupedItem.item_id)
        for number, item in session.execute(query):
            texts.setdefault(number, []).append(item)
    return texts


def changes_after(session: Session, project_id: int, cursor: int, limit: int) -> list[tuple[GroupChange, GroupUpdate]]:
    """Return the first changes after the one with the id `cursor`, each with its update."""
    query = _changes(project_id).where(GroupChange.id > cursor).order_by(GroupChange.id).limit(limit)
    return [(change, update) for change, update in session.execute(query)]


def newest_changes(session: Session, project_id: int, limit: int) -> list[tuple[GroupChange, GroupUpdate]]:
    """Return the last changes, the newest first, each with its update."""
    query = _changes(project_id).order_by(GroupChange.id.desc()).limit(limit)
    return [(change, update) for change, update in session.execute(query)]


def newest_change(session: Session, project_id: int) -> int:
    """Return the id of the last change, 0 if there is none."""
    return session.scalar(select(func.max(GroupChange.id)).where(GroupChange.project_id == project_id)) or 0


def _changes(project_id: int) -> Any:
    changes = select(GroupChange, GroupUpdate).join(GroupUpdate, GroupUpdate.id == GroupChange.update_id)
    return changes.where(GroupChange.project_id == project_id)


def wrong_groups(session: Session, project_id: int) -> list[int]:
    """Return the numbers of groups whose size is not that of their last change, ascending: there should be none."""
    counted = select(GroupedItem.number, func.count()).where(GroupedItem.project_id == project_id)
    sizes = dict(session.execute(counted.group_by(GroupedItem.number)).tuples().all())
    newest = select(func.max(GroupChange.id)).where(GroupChange.project_id == project_id).group_by(GroupChange.number)
    last = select(GroupChange.number, GroupChange.size).where(GroupChange.id.in_(newest))
    last_answers = dict(session.execute(last).tuples().all())
    return sorted(number for number in sizes | last_answers if sizes.get(number, 0) != last_answers.get(number, 0))


def names_of(session: Session, items: set[int]) -> dict[int, list[Named]]:
    """Return side and imported id of each of these texts, all of its ids; of a withdrawn text: those that it had."""
    ids = known_identifiers(session, items)
    sides = sides_of(session, ids)
    return {item: [(sides[item], name) for name in names] for item, names in ids.items()}


def sides_of(session: Session, items: Iterable[int]) -> dict[int, str]:
    """Return the side of each of these texts."""
    return {
        item: Side(side).value
        for chunk in chunks(items)
        for item, side in session.execute(select(Item.id, Item.side).where(Item.id.in_(chunk)))
    }


@dataclass(frozen=True)
class Planned:
    """What an update is to store.

    last: id of the update that it follows, 0 for none. changes: columns of the rows. left: texts that are in no group
    now, or in another one; joined: the texts that are in another group now, and its number.
    """

    last: int
    changes: list[dict[str, Any]]
    left: list[int]
    joined: list[tuple[int, int]]


def store_groups(session: Session, plan: Planned, update: GroupUpdate) -> bool:
    """Store the plan as this update, unless another one has been stored since it was made; return whether it was.

    An update that changes nothing, not even how groups are made, leaves no row.
    """
    # Others wait, so that changes become visible in the order of their ids.
    session.execute(select(Project.id).where(Project.id == update.project_id).with_for_update(key_share=True))
    last = newest_update(session, update.project_id)
    if (last.id if last else 0) != plan.last:
        return False
    if not plan.changes and last is not None and _made(last) == _made(update):
        return True
    cursor = newest_change(session, update.project_id)
    session.add(update)
    session.flush()
    common = {"project_id": update.project_id}
    _insert(session, GroupChange, [row | common | {"update_id": update.id} for row in plan.changes])
    for chunk in chunks(plan.left):
        session.execute(delete(GroupedItem).where(GroupedItem.item_id.in_(chunk)))
    _insert(session, GroupedItem, [common | {"item_id": item, "number": number} for item, number in plan.joined])
    if plan.changes:
        kinds = Counter(str(row["event"]) for row in plan.changes)
        add_notice(session, update.project_id, NoticeKind.GROUP_CHANGED, {"cursor": cursor, "changes": dict(kinds)})
    return True


def _made(update: GroupUpdate) -> tuple[object, ...]:
    """Return how the update made the groups."""
    return (update.matcher, update.threshold, update.clustering, update.representative, update.newest_by)


def _insert(session: Session, table: type[GroupChange | GroupedItem], rows: list[dict[str, Any]]) -> None:
    for start in range(0, len(rows), CHUNK):
        session.execute(insert(table.__table__), rows[start : start + CHUNK])  # type: ignore[arg-type]
