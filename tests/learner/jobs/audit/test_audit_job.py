"""The job `audit` and the audit tasks of batches, step by step: sampling, measuring, and what never trains."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.db.domain import AnswerKind, DesignKind, Purpose, Split
from allpairs.db.errors import Cancelled, InputError
from allpairs.db.projects.jobs import add_job
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Design, Evaluation, Gold, Item, Job, Round, StoredModel, Task
from allpairs.learner.jobs import next_round
from allpairs.learner.jobs.audit import job as steps
from allpairs.learner.jobs.audit.designs import read_designs
from allpairs.learner.jobs.data.project_data import known_keys, read_labels, read_project
from allpairs.learner.jobs.make_batch import audits_in
from tests.helpers.factories import make_project
from tests.helpers.figures.audits import (
    HIGHEST,
    NEGATIVE,
    PAIRS,
    POSITIVE,
    UNSURE,
    add_model,
    designs_of,
    draw_and_label,
    evaluation_of,
    exact,
    figures,
    label,
    make_audited,
    pair_of,
    run_audit,
    scores_of,
    tasks_of,
    texts,
    truth,
)
from tests.helpers.projects.rounds import answer, count, newest, run, start
from tests.helpers.services.webhooks import add_webhook, notices

pytestmark = pytest.mark.usefixtures("small")


def audits(tasks: list[Task]) -> list[Task]:
    return [task for task in tasks if task.purpose == Purpose.AUDIT]


# Batches


def test_the_first_batch_has_audit_tasks_of_a_new_design(engine: Engine, encoders: list[Path]) -> None:
    project_id = make_audited(engine, encoders[0])
    run(engine, project_id)
    batch, tasks = newest(engine, project_id)
    (design,) = designs_of(engine)
    drawn = audits(tasks)
    assert (batch.size, len(drawn), len(tasks)) == (12, 2, 22)  # one in six; ten training tasks in reserve
    assert [task.position for task in tasks] == list(range(22))
    assert [task.id for task in tasks] == sorted(task.id for task in tasks)  # ids do not tell them apart
    assert all(task.position < batch.size for task in drawn)
    for task in drawn:
        assert (task.design_id, task.p, task.strategy) == (design.id, None, DesignKind.AUDIT)
        assert task.inclusion == pytest.approx(1 / design.strata[task.stratum]["size"])
    with reading(engine) as session:
        measuring = set(session.scalars(select(Item.id).where(Item.split == Split.EVALUATION)))
    for task in tasks:
        assert ({*pair_of(task)} <= measuring) == (task.purpose == Purpose.AUDIT)
    assert design.pairs == PAIRS == sum(stratum["size"] for stratum in design.strata)
    assert [stratum["top"] for stratum in design.strata] == [True] * 5 + [False] * 2
    assert HIGHEST <= sum(stratum["size"] for stratum in design.strata[:5]) < HIGHEST + 20


@pytest.mark.parametrize(("size", "every", "audits"), [(30, 6, 6), (40, 2, 40), (10, 0, 0), (4, 6, 0), (90, 10, 10)])
def test_one_task_in_so_many_is_an_audit_task(size: int, every: int, audits: int) -> None:
    assert audits_in(size, every) == audits
    if audits:
        assert (size + audits) / audits == every


def test_where_no_audit_tasks_are_wanted_none_are_mixed_in(engine: Engine, encoders: list[Path]) -> None:
    project_id = make_audited(engine, encoders[0], audit_every=0)
    run(engine, project_id)
    batch, tasks = newest(engine, project_id)
    assert (batch.size, audits(tasks)) == (10, [])
    assert run_audit(engine, project_id, 5) == "5 pairs to audit"


def test_audit_tasks_lie_at_random_places(engine: Engine, encoders: list[Path]) -> None:
    places = []
    for seed in range(6):
        project_id = make_audited(engine, encoders[0], name=f"Seed {seed}", seed=seed, first=20)
        run(engine, project_id)
        places.append(tuple(task.position for task in audits(newest(engine, project_id)[1])))
    assert len(set(places)) == 6
    every = np.concatenate(places)
    assert every.min() < 6 and every.max() > 17  # of 24
    assert 7 < every.mean() < 16


def test_audit_answers_never_train(engine: Engine, encoders: list[Path]) -> None:
    project_id = make_audited(engine, encoders[0])
    run(engine, project_id)
    batch, tasks = newest(engine, project_id)
    for task in tasks[: batch.size]:
        answer(engine, task, POSITIVE if task.purpose == Purpose.AUDIT or task.position % 2 else NEGATIVE)
    with reading(engine) as session:
        data = read_project(session, project_id)
        labelled = read_labels(session, project_id, data, 10**9)
        assert len(known_keys(session, project_id, data)) == 12
    trained = set(zip(data.item_ids[labelled.left].tolist(), data.item_ids[labelled.right].tolist(), strict=True))
    assert trained == {pair_of(task) for task in tasks[: batch.size] if task.purpose == Purpose.TRAIN}
    run(engine, project_id)
    with reading(engine) as session:
        assert session.scalars(select(StoredModel.labels).order_by(StoredModel.number)).all() == [0, 10]
    _, later = newest(engine, project_id)
    assert not {pair_of(task) for task in later} & {pair_of(task) for task in tasks[: batch.size]}
    assert {evaluation_of(engine, number).audit["labels"] for number in range(2)} == {2}


def test_designs_and_views_of_models_outlive_their_jobs(engine: Engine, encoders: list[Path]) -> None:
    project_id = make_audited(engine, encoders[0])
    run(engine, project_id)
    batch, tasks = newest(engine, project_id)
    for task in tasks[: batch.size]:
        answer(engine, task, POSITIVE if task.position % 2 else NEGATIVE)
    job_id = run(engine, project_id)
    folder = artifacts() / f"project-{project_id}"
    assert (folder / "design-1" / "decks.npz").is_file()
    assert sorted(path.parent.name.split("-")[0] for path in folder.glob("*/evaluation.npz")) == sorted(
        ["base", job_id.split("-")[0]]
    )
    assert not list(artifacts().rglob("*.tmp"))


def test_batches_of_a_project_with_known_positives_have_no_audit(engine: Engine, encoders: list[Path]) -> None:
    project = make_audited(engine, encoders[0])
    with writing(engine) as session:
        items = session.scalars(select(Item.id).where(Item.split == Split.EVALUATION).order_by(Item.id)).all()
        session.add(Gold(project_id=project, left_id=items[0], right_id=items[6], positive=True))
    run(engine, project)
    assert audits(newest(engine, project)[1]) == []
    assert count(engine, Design) == 0
    assert evaluation_of(engine, 0).audit == {}


@pytest.mark.parametrize("evaluation", [0, 1])
def test_without_evaluation_pairs_there_is_nothing_to_audit(
    engine: Engine, encoders: list[Path], evaluation: int
) -> None:
    project_id = make_project(engine, texts()[:20], evaluation=evaluation, encoder=str(encoders[0]), first=6)
    run(engine, project_id)
    assert audits(newest(engine, project_id)[1]) == []
    assert count(engine, Design) == 0
    with pytest.raises(InputError, match="no evaluation items"):
        run_audit(engine, project_id, 10)


def test_before_the_first_model_there_is_nothing_to_audit(engine: Engine, encoders: list[Path]) -> None:
    with pytest.raises(InputError, match="no model yet"):
        run_audit(engine, make_audited(engine, encoders[0]), 10)


def test_a_project_of_two_lists_is_audited_from_left_to_right(engine: Engine, encoders: list[Path]) -> None:
    project_id = make_project(
        engine, texts()[:30], right=texts()[30:60], evaluation=20, encoder=str(encoders[0]), first=20, neighbours=10
    )
    run(engine, project_id)
    with reading(engine) as session:
        sides = {item.id: (item.side, item.split) for item in session.scalars(select(Item))}
    drawn = audits(newest(engine, project_id)[1])
    assert len(drawn) == 4
    for task in drawn:
        assert (sides[task.left_id], sides[task.right_id]) == (("left", "evaluation"), ("right", "both"))
    assert designs_of(engine)[0].pairs == 20 * 30


# Audit batches


def test_an_audit_batch_draws_equally_from_all_sampling_orders(engine: Engine, project: int) -> None:
    add_webhook(engine, project)
    assert run_audit(engine, project, 35) == "35 pairs to audit"
    assert notices(engine) == [("batch.ready", {"batch": None, "pairs": 35, "strategy": DesignKind.AUDIT})]
    tasks = tasks_of(engine)
    with reading(engine) as session:
        audit_batch = session.get_one(Round, tasks[0].round_id)
        (design,) = read_designs(session, project, read_project(session, project))
    assert (audit_batch.number, audit_batch.strategy, audit_batch.size) == (None, DesignKind.AUDIT, 35)
    assert [task.position for task in tasks] == list(range(35))
    strata = [task.stratum for task in tasks]
    assert np.bincount(strata).tolist() == [5] * 7
    assert strata != sorted(strata)  # in a random order
    sizes = design.strata.sizes.tolist()
    for stratum in range(len(sizes)):
        here = np.nonzero(design.order.stratum == stratum)[0][:5]
        expected = set(zip(design.order.left[here].tolist(), design.order.right[here].tolist(), strict=True))
        assert {pair_of(task) for task in tasks if task.stratum == stratum} == expected
    for task in tasks:
        assert task.inclusion == pytest.approx(5 / sizes[task.stratum])
        assert (task.purpose, task.p) == (Purpose.AUDIT, None)
    scores = scores_of(engine, project, 0)
    assert [task.score for task in tasks] == pytest.approx([scores[pair_of(task)] for task in tasks], abs=1e-5)


def test_the_next_audit_batch_goes_on_below_what_is_answered(engine: Engine, project: int) -> None:
    first = draw_and_label(engine, project, 35)
    run_audit(engine, project, 35)
    second = tasks_of(engine)
    assert len(second) == 35
    assert not {pair_of(task) for task in first} & {pair_of(task) for task in second}
    sizes = [stratum["size"] for stratum in designs_of(engine)[0].strata]
    assert np.bincount([task.stratum for task in second]).tolist() == [5] * 7
    for task in second:
        assert task.inclusion == pytest.approx(10 / sizes[task.stratum])


def test_one_audit_batch_at_a_time(engine: Engine, project: int) -> None:
    run_audit(engine, project, 12)
    assert "audit batch is open" in steps.draw_audit_batch(project, 12)
    assert count(engine, Round) == 1
    assert count(engine, Task) == 12


def test_an_audit_batch_that_takes_the_newest_number_is_no_batch(engine: Engine, encoders: list[Path]) -> None:
    project_id = make_audited(engine, encoders[0])
    run(engine, project_id)
    run_audit(engine, project_id, 12)
    assert newest(engine, project_id)[0].number == 1
    batch, tasks = newest(engine, project_id)
    for task in tasks[: batch.size]:
        answer(engine, task, POSITIVE if task.position % 2 else NEGATIVE)
    run(engine, project_id)
    assert newest(engine, project_id)[0].number == 2


def test_when_every_pair_is_labelled_there_is_nothing_left(engine: Engine, project: int) -> None:
    tasks = draw_and_label(engine, project, 10_000)
    assert len(tasks) == PAIRS
    with pytest.raises(InputError, match="nothing left to draw"):
        run_audit(engine, project, 10)
    assert count(engine, Round) == 1


# Figures


def test_figures_come_with_five_labels_of_each_stratum(engine: Engine, project: int) -> None:
    run_audit(engine, project, 28)
    before = evaluation_of(engine, 0)
    assert (before.estimates, before.curve, before.positives, before.pairs) == ({}, {}, None, PAIRS)
    assert (before.audit["labels"], before.audit["needed"]) == (0, 35)
    label(engine, tasks_of(engine))
    run_audit(engine, project)
    few = evaluation_of(engine, 0)
    assert (few.estimates, few.audit["labels"], few.audit["needed"]) == ({}, 28, 7)
    draw_and_label(engine, project, 7)
    found = evaluation_of(engine, 0)
    assert (found.audit["labels"], found.audit["needed"]) == (35, 0)
    assert found.estimates.keys() == {"average_precision", "precision_at_recall_20", "positives"}  # no threshold
    for estimate in found.estimates.values():
        assert estimate["low"] < estimate["value"] < estimate["high"]
        assert (estimate["method"], estimate["labels"]) == ("audit", 35)
    assert len(found.curve["recall"]) == len(found.curve["low"]) == 100
    assert sum(found.histogram["pairs"]) + found.histogram["below"] == PAIRS
    rows = found.audit["strata"]
    assert [row["sampled"] for row in rows] == [5] * 7
    assert [row["far"] for row in rows] == [False] * 5 + [True] * 2
    known = truth(engine)
    positives = sum(known[pair_of(task)] for task in tasks_of(engine, 1) + tasks_of(engine, 2))
    assert found.audit["positives"] == sum(row["positives"] for row in rows) == positives
    assert found.audit["top"]["pairs"] == sum(row["size"] for row in rows[:5])
    assert found.audit["top"]["estimates"].keys() == found.estimates.keys()
    highest = found.audit["top"]["estimates"]["positives"]
    assert highest["low"] < highest["value"] <= found.estimates["positives"]["value"]


def test_every_model_is_measured_on_the_same_labels(engine: Engine, project: int, encoders: list[Path]) -> None:
    draw_and_label(engine, project, 90)
    alone = evaluation_of(engine, 0)
    assert alone.audit["changes"] == {}
    bare = {"bare": {"score": "cosine", "w": 9.0, "b": -8.0, "threshold": 8 / 9}}  # its whole score is its cosine
    model = add_model(engine, project, 1, encoders[1], bare)
    run_audit(engine, project)
    first, second = evaluation_of(engine, 0), evaluation_of(engine, 1)
    for name, before in figures(alone).items():  # one more model says a little more about where positives lie
        assert figures(first)[name] == pytest.approx(before, abs=0.02)
    assert first.audit["labels"] == second.audit["labels"] == 90
    assert second.estimates.keys() - first.estimates.keys() == {"precision", "recall", "f1"}
    assert second.audit["reached"].keys() == {"target", "precision_low", "reached"}
    change = second.audit["changes"]["average_precision"]
    assert change["since"] == 0
    difference = second.estimates["average_precision"]["value"] - first.estimates["average_precision"]["value"]
    assert change["value"] == pytest.approx(difference, abs=0.05)
    assert change["low"] <= change["value"] <= change["high"]
    with reading(engine) as session:
        measured = session.get_one(StoredModel, model).details["bare"]["average_precision"]
    assert measured["method"] == "audit"
    assert measured["value"] == pytest.approx(second.estimates["average_precision"]["value"], abs=0.05)


LEXICAL = {"ngrams": 0.4, "words": 0.3, "numbers": 0.1, "length": 0.1}


@pytest.mark.parametrize(
    "blends", [({}, {}), ({"hubness": 0.25}, {"hubness": 0.25, "lexical": LEXICAL})], ids=["cosine", "blended"]
)
def test_with_every_pair_labelled_the_figures_are_those_of_gold(
    engine: Engine, encoders: list[Path], blends: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    project = make_audited(engine, encoders[0], hubness=blends[0].get("hubness", 0.0))
    add_model(engine, project, 0, encoders[0], blends[0])
    draw_and_label(engine, project, 10_000)
    add_model(engine, project, 1, encoders[1], blends[1])
    run_audit(engine, project)
    known = truth(engine)
    assert sum(known.values()) > 40
    for number in range(2):
        gold = exact(engine, project, number, known).estimates
        for name, (value, low, high) in figures(evaluation_of(engine, number)).items():
            if name in gold:
                # half precision puts pairs of nearly equal score in another order
                assert value == pytest.approx(gold[name].value, abs=0.04), (number, name)
                assert high - low < 0.02, (number, name)


def test_with_many_labels_the_figures_come_near_those_of_gold(engine: Engine, project: int) -> None:
    draw_and_label(engine, project, 240)
    gold = exact(engine, project, 0, truth(engine)).estimates
    for name, (value, low, high) in figures(evaluation_of(engine, 0)).items():
        assert low - 0.02 <= gold[name].value <= high + 0.02, name
        assert value == pytest.approx(gold[name].value, rel=0.35), name


def test_pairs_that_nobody_could_decide_are_left_out(engine: Engine, project: int) -> None:
    draw_and_label(engine, project, 40)
    run_audit(engine, project, 6)
    unsure = tasks_of(engine)
    label(engine, unsure, UNSURE)
    before = figures(evaluation_of(engine, 0))
    run_audit(engine, project)
    found = evaluation_of(engine, 0)
    assert (found.audit["labels"], found.audit["unsure"]) == (40, 6)
    assert figures(found) == before
    run_audit(engine, project, 6)
    assert not {pair_of(task) for task in tasks_of(engine)} & {pair_of(task) for task in unsure}


def test_a_label_that_is_taken_back_measures_no_longer(engine: Engine, project: int) -> None:
    tasks = draw_and_label(engine, project, 40)
    before = figures(evaluation_of(engine, 0))
    label(engine, tasks[:1], AnswerKind.RETRACT)
    run_audit(engine, project)
    assert evaluation_of(engine, 0).audit["labels"] == 39
    assert evaluation_of(engine, 0).estimates == {}
    label(engine, tasks[:1])
    run_audit(engine, project)
    assert figures(evaluation_of(engine, 0)) == before


def test_every_step_may_run_twice(engine: Engine, project: int, encoders: list[Path]) -> None:
    draw_and_label(engine, project, 60)
    add_model(engine, project, 1, encoders[1])
    run_audit(engine, project)
    rows = [evaluation_of(engine, number) for number in range(2)]
    run_audit(engine, project)
    for number, before in enumerate(rows):
        after = evaluation_of(engine, number)
        assert (after.estimates, after.curve, after.histogram, after.audit) == (
            before.estimates, before.curve, before.histogram, before.audit,
        )  # fmt: skip
    assert count(engine, Evaluation) == 2
    assert count(engine, Design) == 1


def test_the_steps_of_a_round_may_run_twice(engine: Engine, encoders: list[Path]) -> None:
    project_id = make_audited(engine, encoders[0])
    job_id = start(engine, project_id)
    plan = next_round.make_plan(project_id)
    plan |= next_round.encode_items(job_id, project_id, plan)
    matcher_id = next_round.evaluate_matcher(job_id, project_id, plan)
    for _ in range(2):
        next_round.audit_models(job_id, project_id, plan, matcher_id)
    told = {next_round.make_batch(job_id, project_id, plan, matcher_id) for _ in range(2)}
    assert len(told) == 1
    assert (count(engine, Design), count(engine, Round), count(engine, Task)) == (1, 1, 22)


def test_vectors_that_are_gone_are_made_again(engine: Engine, project: int, encoders: list[Path]) -> None:
    draw_and_label(engine, project, 60)
    add_model(engine, project, 1, encoders[1])
    run_audit(engine, project)
    before = [figures(evaluation_of(engine, number)) for number in range(2)]
    stored = list(artifacts().rglob("evaluation.npz"))
    assert len(stored) == 2
    for path in stored:
        path.unlink()
    run_audit(engine, project)
    assert sorted(artifacts().rglob("evaluation.npz")) == sorted(stored)
    assert [figures(evaluation_of(engine, number)) for number in range(2)] == before


def test_a_cancelled_job_stops(engine: Engine, project: int) -> None:
    with writing(engine) as session:
        job_id = add_job(session, project, steps.NAME).id
        session.flush()
        session.get_one(Job, job_id).cancel = True
    with pytest.raises(Cancelled):
        steps.update_figures(job_id, project, False)
    assert count(engine, Evaluation) == count(engine, Design) == 0
