import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.db.corpus.graph import components
from allpairs.db.domain import AnswerKind, Clustering, DesignKind, Purpose, Side, Split
from allpairs.db.errors import InputError
from allpairs.db.labels.tasks import free_tasks
from allpairs.db.projects.jobs import ENTITIES, add_job
from allpairs.db.projects.matchers import GROUP_FIGURES
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Design, Gold, Item, Round, StoredModel, Task, now
from allpairs.learner.jobs.audit.draw_pairs import draw_audit_pairs
from allpairs.learner.jobs.data.project_data import read_project
from allpairs.learner.jobs.entities import job as steps
from allpairs.learner.jobs.entities.draw import corpus_of
from allpairs.learner.jobs.entities.groups import groups_of
from allpairs.learner.light.groups import measures
from tests.helpers.factories import make_audit_batch, make_design, make_project
from tests.helpers.figures.audits import (
    EVALUATION,
    TOPICS,
    add_model,
    evaluation_of,
    label,
    make_audited,
    pair_of,
    run_audit,
    tasks_of,
    texts,
)
from tests.helpers.projects import rounds
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
    assert re.match(rf"{len(tasks)} pairs .* 22 texts", told)
    assert {task.purpose for task in tasks} == {Purpose.AUDIT}
    drawn = [task.right_id if task.turned else task.left_id for task in tasks]
    assert len(set(drawn)) == 22
    assert [drawn.index(one) for one in dict.fromkeys(drawn)] == sorted(drawn.index(one) for one in set(drawn))
    assert sum(one != other for one, other in pairwise(drawn)) == 21  # each text's pairs in a row
    label(engine, tasks)
    assert "measured on 22 texts" in run(engine, project_id)
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
    assert "measured on 22 texts" in run(engine, project_id)
    label(engine, tasks_of(engine), AnswerKind.UNSURE)
    assert "measured on 27 texts" in run(engine, project_id)


def test_texts_that_are_not_complete_do_not_count(engine: Engine, project_id: int) -> None:
    run(engine, project_id, 22)
    tasks = tasks_of(engine)
    label(engine, tasks[: len(tasks) // 2])
    assert "too few texts are complete" in run(engine, project_id)
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


def test_nothing_is_drawn_during_a_batch_or_when_all_are_drawn(engine: Engine, project_id: int) -> None:
    run(engine, project_id, EVALUATION + 5)
    assert "audit batch is open" in run(engine, project_id, 1)
    label(engine, tasks_of(engine))
    with pytest.raises(InputError, match=r"all 60 .* are drawn"):
        run(engine, project_id, 1)


def test_a_batch_opened_during_the_draw_stays_the_only_one(
    engine: Engine, project_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(*drawn: Any) -> list[dict[str, Any]]:
        make_design(engine, project_id)
        make_audit_batch(engine, project_id, 2)
        return tasks_of_draw(*drawn)

    tasks_of_draw = steps.entity_tasks
    monkeypatch.setattr(steps, "entity_tasks", meanwhile)
    assert "audit batch is open" in run(engine, project_id, 1)
    assert (designs(engine), len(tasks_of(engine))) == ([], 2)


def test_a_drawn_text_is_shown_first(engine: Engine, project_id: int) -> None:
    run(engine, project_id, 22)
    with reading(engine) as session:
        turned = session.scalars(select(Task).where(Task.turned)).all()
    texts = {row[0] for row in designs(engine)[0].details["sample"]}
    assert turned and {task.right_id for task in turned} <= texts
    assert all(task.left_id < task.right_id for task in turned)


def add_chains(engine: Engine, project_id: int, two_lists: bool) -> np.ndarray:
    """Make each evaluation text, but every fifth, a known positive of the next one on its topic.

    Return the entity of each text of the corpus: of one list a chain's ends belong together, too.
    """
    with writing(engine) as session:
        every = select(Item.id).where(Item.project_id == project_id, Item.split != Split.TRAIN).order_by(Item.id)
        items = session.scalars(every).all()
        lefts = len(session.scalars(every.where(Item.side == Side.LEFT)).all())
        step = lefts if two_lists else TOPICS
        pairs = [(at, at + step) for at in range(len(items) - step) if at % 5]
        session.add_all(
            Gold(project_id=project_id, left_id=items[left], right_id=items[right], positive=True)
            for left, right in pairs
        )
    return components(len(items), pairs)


@pytest.mark.parametrize("two_lists", [False, True])
def test_known_pairs_give_exact_figures_without_a_draw(engine: Engine, encoders: list[Path], two_lists: bool) -> None:
    right = texts()[60:] if two_lists else ()
    project_id = make_project(engine, texts()[:60], right, evaluation=40, encoder=str(encoders[0]))
    for number in range(3):
        add_model(engine, project_id, number, encoders[0])
    entity = add_chains(engine, project_id, two_lists)
    assert run(engine, project_id).endswith("measured exactly")
    with reading(engine) as session:
        data = read_project(session, project_id)
        matchers = session.scalars(select(StoredModel).order_by(StoredModel.number)).all()
    assert [set(one.details[GROUP_FIGURES]) for one in matchers[:1]] == [set()]  # no probabilities, so no groups
    for matcher in matchers[1:]:
        corpus = corpus_of(data, matcher, lambda stage, done: None)
        groups = groups_of(matcher, corpus, "", lambda stage, done: None)
        stored = matcher.details[GROUP_FIGURES]
        assert set(stored) == {how.value for how in groups}
        for how, group in groups.items():
            wanted = {
                "b_cubed": measures.b_cubed(group, entity, corpus.second),
                "pairwise": measures.pairwise(group, entity, corpus.second),
            } | ({} if two_lists else {"cluster": measures.clusters(group, entity)})
            assert {name.rsplit("_", 1)[0] for name in stored[how]} == set(wanted)
            for name, quality in wanted.items():
                for part in ("precision", "recall", "f1"):
                    one = stored[how][f"{name}_{part}"]
                    assert one["low"] == one["value"] == one["high"] == getattr(quality, part)
                    assert one["method"] == "exact"


def test_known_pairs_and_an_audit_measure_beside_each_other(engine: Engine, project_id: int) -> None:
    add_chains(engine, project_id, two_lists=False)
    run(engine, project_id, 22)
    label(engine, tasks_of(engine))
    assert "exactly and on 22 texts" in run(engine, project_id)
    assert designs(engine)[0].details["found"]["rounds"]


@pytest.mark.usefixtures("small")
def test_an_audit_of_pairs_does_not_repeat_an_entity_audit(engine: Engine, project_id: int) -> None:
    run_audit(engine, project_id)
    wanted = drawn_pairs(engine, project_id)
    run(engine, project_id, 22)
    label(engine, tasks_of(engine))
    answered = {pair_of(task) for task in tasks_of(engine)}
    assert drawn_pairs(engine, project_id) == wanted  # the draw does not depend on what was answered
    both = len(wanted & answered)
    assert 0 < both < len(wanted)
    assert re.match(rf"35 pairs .*, {both} of them", run_audit(engine, project_id, 35))
    tasks = tasks_of(engine)
    open_ = [task for task in tasks if pair_of(task) not in answered]
    with reading(engine) as session:
        free = free_tasks(session, project_id, "ann", 99, now(), audit_batch=True)
        assert {task.id for task in free} == {task.id for task in open_}
    label(engine, open_)
    run_audit(engine, project_id)
    assert evaluation_of(engine, 1).audit["labels"] == 35


def drawn_pairs(engine: Engine, project_id: int) -> set[tuple[int, int]]:
    """Return the pairs that an audit batch of 35 would have now."""
    with reading(engine) as session:
        pairs = draw_audit_pairs(session, project_id, read_project(session, project_id), 35)[1]
    return {(one.left_id, one.right_id) for one in pairs}


def test_each_training_measures_groups_once_known_pairs_have(engine: Engine, encoders: list[Path]) -> None:
    project_id = make_audited(engine, encoders[0])
    add_chains(engine, project_id, two_lists=False)
    rounds.run(engine, project_id)

    def measured() -> list[bool]:
        with reading(engine) as session:
            return [
                GROUP_FIGURES in one.details
                for one in session.scalars(select(StoredModel).order_by(StoredModel.number))
            ]

    assert measured() == [False]  # nobody has asked for them
    run(engine, project_id)
    rounds.answer_batch(engine, project_id, lambda place: AnswerKind.POSITIVE if place % 2 else AnswerKind.NEGATIVE)
    rounds.run(engine, project_id, stop_before="make_batch")
    assert measured() == [True, True]
