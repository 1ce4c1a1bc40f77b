"""Decisions on groups in the database: where they go when texts change, and with copies of a project."""

from sqlalchemy import Engine, select

from allpairs.annotate.features.groups.decide import confirm_group, split_group, undo_last_act
from allpairs.db.groups.decisions import decided_pairs, training_decisions_changed
from allpairs.db.maintenance.project_copy import copy_items
from allpairs.db.projects.items import identifiers_of
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Item, now
from tests.helpers.factories import make_groups, make_project


def by_names(engine: Engine, project_id: int) -> dict[tuple[str, str], bool]:
    """Return the decisions by the first ids of their texts."""
    with reading(engine) as session:
        decisions = decided_pairs(session, project_id)
        names = identifiers_of(session, {item for pair in decisions for item in pair})
    return {(names[a][0], names[b][0]): same for (a, b), same in decisions.items()}


def items_of(engine: Engine, project_id: int) -> list[int]:
    with reading(engine) as session:
        return list(session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)))


def test_a_copy_of_a_project_has_the_decisions_that_stand(engine: Engine) -> None:
    make_project(engine, ["x"], name="Other")
    source = make_project(engine, ["a", "b", "c", "d"])
    texts = items_of(engine, source)
    make_groups(engine, source, [texts])
    confirm_group(engine, source, "Ann", texts)
    undo_last_act(engine, source, "Ann")
    split_group(engine, source, "Ann", texts, texts[2:])
    target = make_project(engine, ["y", "z"], name="Copy")
    with writing(engine) as session:
        for item in session.scalars(select(Item).where(Item.project_id == target)):
            session.delete(item)
        session.flush()
        copy_items(session, source, target)
    assert by_names(engine, target) == by_names(engine, source) != {}


def test_a_training_sees_new_decisions_and_undone_ones(engine: Engine) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(6)], evaluation=3)
    texts = items_of(engine, project_id)
    make_groups(engine, project_id, [texts[:2], texts[3:6]])
    start = now()
    confirm_group(engine, project_id, "Ann", texts[3:6])  # texts for measuring never train
    with reading(engine) as session:
        assert not training_decisions_changed(session, project_id, start)
    confirm_group(engine, project_id, "Ann", texts[:2])
    between = now()
    with reading(engine) as session:
        assert training_decisions_changed(session, project_id, start)
        assert not training_decisions_changed(session, project_id, between)
    undo_last_act(engine, project_id, "Ann")
    with reading(engine) as session:
        assert training_decisions_changed(session, project_id, between)
