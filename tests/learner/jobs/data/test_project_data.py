"""What the learner reads of a project: gold positives, and the pairs that gold itself contains."""

from sqlalchemy import Engine, select

from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Gold, Item
from allpairs.learner.jobs.data.project_data import read_project
from tests.helpers.factories import make_project


def test_known_pairs_are_read_with_what_follows_by_closure(engine: Engine) -> None:
    project = make_project(engine, ["a", "b", "c", "d"], evaluation=3)
    with writing(engine) as session:
        ids = list(session.scalars(select(Item.id).where(Item.project_id == project).order_by(Item.id)))
        known = [(1, 2, True, False), (2, 3, True, False), (1, 3, True, True), (0, 1, False, False)]
        session.add_all(
            Gold(project_id=project, left_id=ids[left], right_id=ids[right], positive=positive, closure=closure)
            for left, right, positive, closure in known
        )
    with reading(engine) as session:
        dataset = read_project(session, project).dataset
    assert sorted(dataset.positives.tolist()) == [[1, 2], [1, 3], [2, 3]]
    assert sorted(dataset.known_pairs.tolist()) == [[0, 1, 0], [1, 2, 1], [1, 3, 1], [2, 3, 1]]
    assert sorted(dataset.evaluation_given.tolist()) == [[1, 2, 1], [1, 3, 1], [2, 3, 1]]  # the first item trains


def test_a_project_without_gold_states_nothing(engine: Engine) -> None:
    project = make_project(engine, ["a", "b"])
    with reading(engine) as session:
        dataset = read_project(session, project).dataset
    assert (dataset.positives.shape, dataset.known_pairs.shape) == ((0, 2), (0, 3))
