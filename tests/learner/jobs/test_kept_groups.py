"""The groups of a project in the database: their ids, the record of changes, and updates that meet."""

import numpy as np
import pytest
from sqlalchemy import Engine, delete, func, select
from sqlalchemy.orm import Session

from allpairs.db.groups.plan import MOST_NAMED, planned
from allpairs.db.maintenance.integrity import problems
from allpairs.db.projects.stable_groups import (
    changes_after,
    group_ids_of,
    grouped_items,
    newest_update,
    page_of_groups,
    store_groups,
    wrong_groups,
)
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import GroupChange, GroupedItem, GroupUpdate, Item
from allpairs.learner.jobs.kept_groups import keep_groups
from tests.helpers.factories import make_groups, make_project
from tests.helpers.services.webhooks import add_webhook, notices


@pytest.fixture
def items(engine: Engine) -> list[int]:
    """Return the texts of a project, after another project that has groups of its own."""
    other = make_project(engine, ["a", "b"], name="Other")
    make_groups(engine, other, [items_of(engine, other)])
    return items_of(engine, make_project(engine, [f"text {i}" for i in range(30)]))


def items_of(engine: Engine, project_id: int) -> list[int]:
    with reading(engine) as session:
        return list(session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)))


def project_of(items: list[int], engine: Engine) -> int:
    with reading(engine) as session:
        return session.get_one(Item, items[0]).project_id


def test_ids_stay_and_are_never_given_again(engine: Engine, items: list[int]) -> None:
    project_id, first = project_of(items, engine), items[0]
    make_groups(engine, project_id, [items[:3], items[3:5]])
    make_groups(engine, project_id, [items[3:6]])  # the first one ends
    make_groups(engine, project_id, [items[:3], items[3:6]])
    with reading(engine) as session:
        found = group_ids_of(session, project_id, [*items, first - 1, 10**6])
        assert found == {**dict.fromkeys(items[:3], "g3"), **dict.fromkeys(items[3:6], "g2")}
        assert page_of_groups(session, project_id, 0, 1) == {2: items[3:6]}
        assert page_of_groups(session, project_id, 2, 5) == {3: items[:3]}
        told = [(change.number, change.event, change.size) for change, _ in changes_after(session, project_id, 0, 9)]
    assert told == [(1, "made", 3), (2, "made", 2), (1, "ended", 0), (2, "grown", 3), (3, "made", 3)]


def test_the_record_read_from_any_cursor_gives_the_groups(engine: Engine, items: list[int]) -> None:
    project_id, rng = project_of(items, engine), np.random.default_rng(0)
    for _ in range(5):
        number = rng.integers(0, 8, len(items))
        make_groups(engine, project_id, [[i for i, n in zip(items, number, strict=True) if n == g] for g in range(8)])
    with reading(engine) as session:
        every = changes_after(session, project_id, 0, 1000)
        numbers, count = np.unique(grouped_items(session, project_id)[1], return_counts=True)
        now = dict(zip(numbers.tolist(), count.tolist(), strict=True))
        for at in (0, 3, len(every) // 2, len(every)):
            state = {change.number: change.size for change, _ in every[:at]}
            for change, _ in changes_after(session, project_id, every[at - 1][0].id if at else 0, 1000):
                state[change.number] = change.size
            assert {number: size for number, size in state.items() if size} == now
        assert not wrong_groups(session, project_id)


def test_an_update_that_another_has_overtaken_is_not_stored(engine: Engine, items: list[int]) -> None:
    project_id = project_of(items, engine)
    with reading(engine) as session:
        plan = planned(session, project_id, np.array(items[:2]), np.array([0, 0])).plan
    make_groups(engine, project_id, [items[4:6]])
    before = rows(engine)
    about = {"threshold": 0.5, "clustering": "connected", "representative": "central", "newest_by": ""}
    late = GroupUpdate(project_id=project_id, matcher=0, groups=1, texts=2, **about)
    with writing(engine) as session:
        assert not store_groups(session, plan, late)
    assert rows(engine) == before
    assert keep_groups(engine, np.array(items[:2]), np.array([0, 0]), late, (0, 0)) is not None
    with reading(engine) as session:
        told = [(change.number, change.event) for change, _ in changes_after(session, project_id, 0, 9)]
    assert told == [(1, "made"), (1, "ended"), (2, "made")]


def test_the_same_groups_again_leave_no_row(engine: Engine, items: list[int]) -> None:
    project_id = project_of(items, engine)
    make_groups(engine, project_id, [items[:2]])
    add_webhook(engine, project_id)
    before = rows(engine)
    make_groups(engine, project_id, [items[:2]])
    assert rows(engine) == before
    make_groups(engine, project_id, [items[:2]], matcher=1)  # the same groups by another model
    with reading(engine) as session:
        last = newest_update(session, project_id)
    assert last is not None and last.matcher == 1 and rows(engine)[1:] == before[1:]
    assert notices(engine) == []


def test_webhooks_are_told_where_the_changes_of_an_update_begin(engine: Engine, items: list[int]) -> None:
    project_id = project_of(items, engine)
    make_groups(engine, project_id, [items[:2]])
    add_webhook(engine, project_id)
    make_groups(engine, project_id, [items[:2], items[4:6], items[6:8]])
    ((kind, told),) = notices(engine)
    assert kind == "group.changed" and told["changes"] == {"made": 2}
    with reading(engine) as session:
        found = changes_after(session, project_id, told["cursor"], 9)
    assert [change.number for change, _ in found] == [2, 3]


def rows(engine: Engine) -> tuple[int, ...]:
    with reading(engine) as session:
        tables = (GroupUpdate, GroupChange, GroupedItem)
        return tuple(session.scalar(select(func.count()).select_from(table)) or 0 for table in tables)


def test_an_update_that_fails_on_the_way_leaves_nothing(
    engine: Engine, items: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    project_id = project_of(items, engine)
    make_groups(engine, project_id, [items[:2]])
    before = rows(engine)

    def fails(*given: object) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr("allpairs.db.projects.stable_groups.delete", fails)
    with pytest.raises(RuntimeError):
        make_groups(engine, project_id, [items[1:4]])
    assert rows(engine) == before
    with reading(engine) as session:
        assert not wrong_groups(session, project_id)


def test_a_change_names_the_first_texts_and_counts_all(engine: Engine, items: list[int]) -> None:
    project_id = project_of(items, engine)
    make_groups(engine, project_id, [items])
    with reading(engine) as session:
        ((change, _),) = changes_after(session, project_id, 0, 9)
    assert (change.size, change.added, change.removed) == (30, 30, 0)
    named = [["left", f"left-{at}"] for at in range(MOST_NAMED)]
    assert sorted(change.details["items_added"]) == sorted(named)


def test_groups_that_are_not_as_recorded_are_a_problem(engine: Engine, items: list[int]) -> None:
    project_id = project_of(items, engine)
    make_groups(engine, project_id, [items[:3], items[5:7]])
    assert not list(problems(engine))
    with writing(engine) as session:
        _lose(session, items[0])
    (found,) = problems(engine)
    assert "1 groups" in found and "g1" in found


def _lose(session: Session, item: int) -> None:
    session.execute(delete(GroupedItem).where(GroupedItem.item_id == item))
