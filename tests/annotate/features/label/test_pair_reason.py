"""Why a pair was chosen, and how its score developed."""

import math

import numpy as np
import pytest
from sqlalchemy import Engine, select, update
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.label.pair_reason import Alike, last_answered, read_score, reasons
from allpairs.annotate.features.label.pick_pair import PICKED
from allpairs.annotate.features.label.queue import record
from allpairs.db.domain import AnswerKind, Purpose, Role
from allpairs.db.errors import InputError
from allpairs.db.projects.matchers import SCORES
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Round, StoredModel, Task
from tests.helpers.factories import make_design, make_project, make_round
from tests.helpers.pages import said
from tests.helpers.people import make_member

TEXTS = ["red car", "blue car", "old house", "new house"]


@pytest.fixture
def project(engine: Engine, home: object) -> int:
    """Return a project of four texts; the pre-trained encoder chose a batch of three pairs, and one in reserve."""
    project_id = make_project(engine, TEXTS, auto_train=False)
    make_matcher(engine, project_id, 0)
    make_round(engine, project_id, 3, reserve=1)
    with writing(engine) as session:
        session.execute(update(Round).values(matcher_id=select(StoredModel.id).scalar_subquery()))
    return project_id


def make_matcher(engine: Engine, project_id: int, number: int) -> StoredModel:
    """Make a matcher, trained from number 1 on."""
    folder = f"project-{project_id}/job-{number}/model" if number else None
    with writing(engine) as session:
        matcher = StoredModel(project_id=project_id, number=number, folder=folder, encoder="tiny",
                          w=10.0 if number else None, b=-5.0 if number else None)  # fmt: skip
        session.add(matcher)
        session.flush()
        return matcher


def tasks(engine: Engine) -> list[Task]:
    with reading(engine) as session:
        return list(session.scalars(select(Task).order_by(Task.position)))


def keep(engine: Engine, matcher: StoredModel, scores: dict[tuple[int, int], float]) -> None:
    folder = (artifacts() / str(matcher.folder)).parent
    folder.mkdir(parents=True)
    left, right = np.array(sorted(scores)).T
    score = np.array([scores[pair] for pair in sorted(scores)], dtype=np.float32)
    np.savez(folder / SCORES, left=left, right=right, score=score)


def test_where_a_pair_comes_from(engine: Engine, project: int) -> None:
    *_, third, spare = tasks(engine)
    found = reasons(engine, project, third.id)
    assert (found.batch, found.rank, found.batch_size, found.strategy) == (1, 3, 3, "uncertainty")
    assert (found.chosen_by, found.purpose) == (0, Purpose.TRAIN)
    assert [(each.number, each.score) for each in found.scores] == [(0, third.score)]
    assert reasons(engine, project, spare.id).rank == 4


def test_a_pair_that_a_person_queued_names_no_strategy(engine: Engine, project: int) -> None:
    def explained(found: object) -> None:
        from allpairs.annotate.features.label.ui.why import why

        why(found)  # type: ignore[arg-type]

    first, second, *_ = tasks(engine)
    with writing(engine) as session:
        session.execute(update(Task).where(Task.id == second.id).values(strategy=PICKED))
    chosen, queued = (said(AppTest.from_function(explained, args=(reasons(engine, project, task.id),)).run())
                      for task in (first, second))  # fmt: skip
    assert "Chosen by **Uncertainty sampling**" in chosen
    assert "Queued by a person" in queued and "Chosen by" not in queued


def test_the_score_since_the_label(engine: Engine, project: int) -> None:
    first, second, *_ = tasks(engine)
    pair, other = (first.left_id, first.right_id), (second.left_id, second.right_id)
    make_matcher(engine, project, 1)  # made before this file was: the page shows what there is
    keep(engine, make_matcher(engine, project, 2), {other: 0.2, pair: 0.7})
    keep(engine, make_matcher(engine, project, 3), {pair: 0.9})
    found = reasons(engine, project, first.id)
    assert [each.number for each in found.scores] == [0, 2, 3]
    assert [each.score for each in found.scores] == pytest.approx([first.score, 0.7, 0.9])
    assert found.scores[-1].p == pytest.approx(1 / (1 + math.exp(-4)))


@pytest.mark.parametrize("pair", [(1, 2), (1, 5), (3, 4), (7, 9), (0, 0), (99, 1)])
def test_scores_are_found_again(engine: Engine, home: object, pair: tuple[int, int]) -> None:
    scores = {(3, 4): 0.5, (1, 5): 0.25, (1, 2): -0.5, (7, 9): 1.0}
    matcher = make_matcher(engine, make_project(engine, TEXTS), 1)
    keep(engine, matcher, scores)
    assert read_score(matcher, *pair) == scores.get(pair)


def test_labelled_pairs_like_it_have_their_label_of_now(engine: Engine, project: int) -> None:
    first, second, third, _ = tasks(engine)
    near = [[first.left_id, first.right_id, 0.9], [second.left_id, second.right_id, 0.8]]
    with writing(engine) as session:
        session.execute(update(Task).where(Task.id == third.id).values(alike=near))
    record(engine, project, "ann", [{"key": "k", "task_id": first.id, "answer": "negative"}])
    assert last_answered(engine, project, "ann") == first.id
    assert reasons(engine, project, third.id).alike == [
        Alike("red car", "blue car", AnswerKind.NEGATIVE, 0.9),
        Alike("red car", "old house", None, 0.8),
    ]
    _, annotator = make_member(engine, project, Role.ANNOTATOR)
    assert reasons(annotator, project, third.id).alike == ()  # they may be asked about these pairs, too


def test_an_audit_pair_has_no_reason_but_chance(engine: Engine) -> None:
    project = make_project(engine, [f"text {i}" for i in range(12)], evaluation=6)
    make_design(engine, project)
    make_round(engine, project, 2, audits=(1,))
    found = reasons(engine, project, tasks(engine)[1].id)
    assert (found.purpose, found.alike, found.scores) == (Purpose.AUDIT, (), ())


def test_tasks_of_other_projects_are_not_explained(engine: Engine, project: int) -> None:
    other = make_project(engine, TEXTS, name="Other")
    with pytest.raises(InputError, match="no task 1: reload"):
        reasons(engine, other, tasks(engine)[0].id)
    assert last_answered(engine, other, "ann") is None
