from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from allpairs.db.domain import AnswerKind, Clustering, DesignKind, Purpose
from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import ENTITIES, add_job
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Design, Round, Task
from allpairs.learner.jobs.entities import job as steps
from tests.helpers.figures.audit_projects import EVALUATION, add_model, label, tasks_of
from tests.helpers.services.webhooks import add_webhook, notices


def run(engine: Engine, project_id: int, draw: int = 0) -> str:
    """Run the job's steps in order and return its summary."""
    with writing(engine) as session:
        job_id = add_job(session, project_id, ENTITIES).id
    drawn = steps.draw_texts(job_id, project_id, draw) if draw else ""
    return drawn or steps.update_group_figures(job_id, project_id)


def designs(engine: Engine) -> list[Design]:
    with reading(engine) as session:
        return list(session.scalars(select(Design).where(Design.kind == DesignKind.ENTITIES).order_by(Design.id)))


@pytest.fixture
def project_id(engine: Engine, project: int, encoders: list[Path]) -> int:
    add_model(engine, project, 1, encoders[0])
    return project


def test_texts_are_drawn_labelled_and_measured(engine: Engine, project_id: int) -> None:
    told = run(engine, project_id, 22)
    tasks = tasks_of(engine)
    assert told == f"{len(tasks)} pairs to label, for 22 texts in all"
    assert {task.purpose for task in tasks} == {Purpose.AUDIT}
    drawn = [task.right_id if task.turned else task.left_id for task in tasks]
    assert len(set(drawn)) == 22
    assert [drawn.index(one) for one in dict.fromkeys(drawn)] == sorted(drawn.index(one) for one in set(drawn))
    assert sum(one != other for one, other in pairwise(drawn)) == 21  # each text's pairs in a row
    label(engine, tasks)
    assert run(engine, project_id) == "the groups are measured on 22 texts"
    found = designs(engine)[0].details["found"]
    assert found["labels"] >= len(tasks)  # a pair of two drawn texts counts for both
    assert list(found["rounds"]) == ["1"]  # round 0 has no probabilities, so no groups
    assert set(found["rounds"]["1"]) == {Clustering.CONNECTED, Clustering.AVERAGE, Clustering.CORRELATION}
    for figures in found["rounds"]["1"].values():
        assert all(0 <= one["low"] <= one["value"] <= one["high"] <= 1 for one in figures.values())


def test_every_pair_of_every_text_gives_the_whole_truth(engine: Engine, project_id: int) -> None:
    run(engine, project_id, EVALUATION)
    label(engine, tasks_of(engine))
    run(engine, project_id)
    found = designs(engine)[0].details["found"]
    assert found["complete"] == EVALUATION
    precision = found["rounds"]["1"]["connected"]["b_cubed_precision"]
    assert precision["high"] - precision["low"] < 0.05  # only pairs that nobody was asked are left to chance


def test_further_texts_are_added_and_nothing_is_asked_again(engine: Engine, project_id: int) -> None:
    run(engine, project_id, 22)
    label(engine, tasks_of(engine))
    before = {(task.left_id, task.right_id) for task in tasks_of(engine)}
    run(engine, project_id, 5)
    assert not before & {(task.left_id, task.right_id) for task in tasks_of(engine)}
    first, second = designs(engine)
    assert second.details["sample"][: len(first.details["sample"])] == first.details["sample"]
    assert run(engine, project_id) == "the groups are measured on 22 texts"
    label(engine, tasks_of(engine), AnswerKind.UNSURE)
    assert run(engine, project_id) == "the groups are measured on 27 texts"


def test_texts_that_are_not_complete_do_not_count(engine: Engine, project_id: int) -> None:
    run(engine, project_id, 22)
    tasks = tasks_of(engine)
    label(engine, tasks[: len(tasks) // 2])
    assert run(engine, project_id) == "too few texts are complete to measure the groups"
    assert designs(engine)[0].details["found"]["complete"] < 20


def test_a_step_that_runs_again_draws_nothing_more(engine: Engine, project_id: int) -> None:
    add_webhook(engine, project_id)
    with writing(engine) as session:
        job_id = add_job(session, project_id, ENTITIES).id
    assert steps.draw_texts(job_id, project_id, 5) == steps.draw_texts(job_id, project_id, 5)
    with reading(engine) as session:
        (batch,) = session.scalars(select(Round).where(Round.number.is_(None))).all()
    about = {"batch": None, "pairs": batch.size, "strategy": DesignKind.ENTITIES}
    assert notices(engine) == [("batch.ready", about)]
    assert len(designs(engine)) == 1


def test_while_a_batch_is_open_and_when_all_are_drawn_nothing_is_drawn(engine: Engine, project_id: int) -> None:
    run(engine, project_id, EVALUATION + 5)
    assert run(engine, project_id, 1) == "an audit batch is open: label it first"
    label(engine, tasks_of(engine))
    with pytest.raises(InputError, match="all 60 evaluation texts are drawn"):
        run(engine, project_id, 1)


def test_a_drawn_text_is_shown_first(engine: Engine, project_id: int) -> None:
    run(engine, project_id, 22)
    with reading(engine) as session:
        turned = session.scalars(select(Task).where(Task.turned)).all()
    texts = {row[0] for row in designs(engine)[0].details["sample"]}
    assert turned and {task.right_id for task in turned} <= texts
    assert all(task.left_id < task.right_id for task in turned)
