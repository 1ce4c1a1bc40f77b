"""The job `next_round`, step by step on a temporary database: what each step stores, once, and what never trains."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.label.pair_reason import read_score
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.db.domain import (
    HALF_SPREAD_STRATEGY,
    SPREAD_STRATEGY,
    AnswerKind,
    DesignKind,
    PublicationKind,
    Purpose,
    Split,
)
from allpairs.db.errors import Cancelled, InputError
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Answer, Design, Evaluation, Item, Job, Publication, Round, StoredModel, Task
from allpairs.learner.jobs import next_round as steps
from allpairs.learner.jobs.data.project_data import known_keys, read_labels, read_project
from allpairs.learner.jobs.data.round_files import vectors_path
from allpairs.learner.jobs.data.stored_vectors import load_vectors
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.scoring.matcher import load_matcher
from allpairs.learner.search.inner_product import BLENDED, scores
from tests.helpers.factories import make_project
from tests.helpers.projects.rounds import (
    NEGATIVE,
    POSITIVE,
    SKIP,
    UNSURE,
    answer,
    answer_batch,
    count,
    half,
    keys,
    matcher_of,
    newest,
    pairs,
    run,
    start,
    texts,
    topics_project,
)
from tests.helpers.services.webhooks import add_webhook, notices


@pytest.fixture
def project(engine: Engine, encoder: Path) -> int:
    return topics_project(engine, encoder)


def test_every_second_first_pair_is_the_next_most_similar(engine: Engine, project: int, encoder: Path) -> None:
    run(engine, project)
    batch, tasks = newest(engine, project)
    assert (batch.number, batch.size, batch.strategy, batch.note) == (1, 6, HALF_SPREAD_STRATEGY, "")
    assert [task.position for task in tasks] == list(range(12))
    with reading(engine) as session:
        items = session.scalars(select(Item).where(Item.split == Split.TRAIN).order_by(Item.id)).all()
    vectors = load_encoder(str(encoder)).encode([item.text for item in items])
    score_of = {
        (items[i].id, items[j].id): float(vectors[i] @ vectors[j]) for i, j in itertools.combinations(range(20), 2)
    }
    best = sorted(score_of, key=lambda pair: -score_of[pair])
    ranks = [best.index((task.left_id, task.right_id)) for task in tasks]
    assert (set(ranks) >= set(range(3)), max(ranks) > 30, len(set(ranks))) == (True, True, 12)
    assert [task.score for task in tasks] == pytest.approx([score_of[best[rank]] for rank in ranks], abs=1e-5)
    assert {(task.p, task.purpose) for task in tasks} == {(None, Purpose.TRAIN)}


def test_the_base_encoder_is_measured_as_matcher_zero(engine: Engine, project: int) -> None:
    run(engine, project)
    base = matcher_of(engine, 0)
    assert (base.folder, base.w, base.b, base.labels, base.cutoff) == (None, None, None, 0, 0)
    with reading(engine) as session:
        evaluation = session.scalars(select(Evaluation)).one()
    assert (evaluation.matcher_id, evaluation.pairs) == (base.id, 45)
    assert evaluation.positives == sum(i % 6 == j % 6 for i, j in itertools.combinations(range(20, 30), 2))
    assert evaluation.estimates["average_precision"]["method"] == "exact"
    assert newest(engine, project)[0].matcher_id == base.id


def test_the_second_round_trains(engine: Engine, project: int) -> None:
    run(engine, project)
    answered = answer_batch(engine, project, half)
    job_id = run(engine, project)
    batch, tasks = newest(engine, project)
    assert (batch.number, batch.size, batch.strategy, batch.note) == (2, 9, "uncertainty", "")
    assert not pairs(tasks) & pairs(answered)
    matcher = matcher_of(engine, 1)
    assert (matcher.labels, matcher.positives, matcher.cutoff) == (6, 3, count(engine, Answer))
    assert batch.matcher_id == matcher.id
    assert matcher.folder == f"project-{project}/{job_id}/model"
    loaded = load_matcher(str(artifacts() / matcher.folder)).layer
    assert loaded is not None and (loaded.w, loaded.b) == (matcher.w, matcher.b)
    expected = loaded.probability(np.array([task.score for task in tasks]))
    assert [task.p for task in tasks] == pytest.approx(expected, abs=1e-4)
    uncertain = [abs(task.p - 0.5) for task in tasks if task.p is not None]
    assert uncertain == sorted(uncertain)
    stored = json.loads((artifacts() / matcher.folder / "matcher.json").read_text(encoding="utf-8"))
    assert "curve" in stored
    assert stored["bare"] == matcher.details["bare"]
    assert stored["bare"]["average_precision"]["method"] == "exact"
    assert set(matcher.details["seconds"]) == {"train", "encode", "evaluate"}
    assert count(engine, Evaluation) == 2


@pytest.mark.parametrize(("given", "chooser"), [(POSITIVE, SPREAD_STRATEGY), (NEGATIVE, HALF_SPREAD_STRATEGY)])
def test_answers_of_one_class_train_nothing(engine: Engine, project: int, given: AnswerKind, chooser: str) -> None:
    """After negatives more pairs like the first follow, after positives pairs from the whole ranking."""
    run(engine, project)
    _, first = newest(engine, project)
    answer_batch(engine, project, lambda position: given)
    run(engine, project)
    batch, tasks = newest(engine, project)
    assert (batch.number, batch.strategy, batch.note) == (2, chooser, "")
    assert not pairs(tasks) & pairs(first[:6])
    assert count(engine, StoredModel) == 1
    assert batch.matcher_id == matcher_of(engine, 0).id
    answer(engine, tasks[0], NEGATIVE if given == POSITIVE else POSITIVE)
    run(engine, project)
    assert newest(engine, project)[0].note == ""
    assert matcher_of(engine, 2).labels == 7


def test_a_later_batch_knows_similar_labelled_pairs_and_scores(engine: Engine, project: int) -> None:
    run(engine, project)
    assert {str(task.alike) for task in newest(engine, project)[1]} == {"[]"}
    labelled = answer_batch(engine, project, half)
    run(engine, project)
    for task in newest(engine, project)[1]:
        assert task.alike is not None
        assert {(left, right) for left, right, _ in task.alike} <= pairs(labelled)
        similarity = [how for *_, how in task.alike]
        assert len(similarity) == 3
        assert similarity == sorted(similarity, reverse=True)
    trained = matcher_of(engine, 1)
    assert all(read_score(trained, task.left_id, task.right_id) is not None for task in labelled)


def test_only_unsure_answers(engine: Engine, project: int) -> None:
    run(engine, project)
    unsure = answer_batch(engine, project, lambda position: UNSURE)
    run(engine, project)
    batch, tasks = newest(engine, project)
    assert (batch.number, batch.note) == (2, "")
    assert not pairs(tasks) & pairs(unsure)


def test_unsure_never_trains_and_is_not_asked_again(engine: Engine, project: int) -> None:
    run(engine, project)
    kinds = [POSITIVE, NEGATIVE, UNSURE, UNSURE, NEGATIVE, POSITIVE]
    answered = answer_batch(engine, project, lambda position: kinds[position])
    run(engine, project)
    assert (matcher_of(engine, 1).labels, matcher_of(engine, 1).positives) == (4, 2)
    assert not pairs(newest(engine, project)[1]) & pairs(answered)


def test_a_retracted_answer_is_none(engine: Engine, project: int) -> None:
    run(engine, project)
    answered = answer_batch(engine, project, half)
    answer(engine, answered[0], AnswerKind.RETRACT)
    with reading(engine) as session:
        data = read_project(session, project)
        assert len(read_labels(session, project, data, 10**9)) == 5
        assert len(known_keys(session, project, data)) == 5


def test_audit_labels_and_evaluation_items_never_train(engine: Engine, project: int) -> None:
    run(engine, project)
    answer_batch(engine, project, half)
    _, tasks = newest(engine, project)
    with writing(engine) as session:
        items = session.scalars(select(Item.id).where(Item.split == Split.EVALUATION).order_by(Item.id)).all()
        session.get_one(Task, tasks[0].id).purpose = Purpose.AUDIT
        for left, right in ((items[0], items[1]), (tasks[8].left_id, items[2])):
            session.add(Answer(project_id=project, left_id=left, right_id=right, annotator="ann", answer=POSITIVE,
                               key=f"key-{next(keys)}"))  # fmt: skip
    with reading(engine) as session:
        data = read_project(session, project)
        labelled = read_labels(session, project, data, 10**9)
    assert len(labelled) == 5
    trained = set(zip(data.item_ids[labelled.left].tolist(), data.item_ids[labelled.right].tolist(), strict=True))
    assert trained == pairs(tasks[1:6])
    run(engine, project)
    assert matcher_of(engine, 1).labels == 5


def test_answers_after_the_plan_wait_for_the_next_round(engine: Engine, project: int) -> None:
    run(engine, project)
    answer_batch(engine, project, half)
    job_id = start(engine, project)
    plan = steps.make_plan(project)
    reserve = newest(engine, project)[1][6:]
    for task in reserve:
        answer(engine, task, POSITIVE)
    plan["training"] = steps.train_matcher(job_id, project, plan)
    plan |= steps.encode_items(job_id, project, plan)
    matcher_id = steps.evaluate_matcher(job_id, project, plan)
    assert matcher_of(engine, 1).labels == 6
    steps.make_batch(job_id, project, plan, matcher_id)
    assert not pairs(newest(engine, project)[1]) & pairs(reserve)


def test_every_step_may_run_twice(engine: Engine, project: int) -> None:
    run(engine, project)
    answer_batch(engine, project, half)
    job_id = start(engine, project)
    plan = steps.make_plan(project)
    assert steps.make_plan(project) == plan
    once, again = (steps.train_matcher(job_id, project, plan) for _ in range(2))
    assert {**once, "seconds": 0} == {**again, "seconds": 0}
    plan["training"] = again
    seen, same = (steps.encode_items(job_id, project, plan) for _ in range(2))
    assert seen["layer"] == same["layer"]
    plan |= same
    first, second = (steps.evaluate_matcher(job_id, project, plan) for _ in range(2))
    assert first == second
    assert count(engine, StoredModel) == count(engine, Evaluation) == 2
    told = [steps.make_batch(job_id, project, plan, first) for _ in range(2)]
    assert told == ["batch 2: 9 pairs by uncertainty"] * 2
    assert count(engine, Round) == 2
    assert count(engine, Task) == 12 + 18


def test_the_same_answers_make_the_same_batch(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MOST_RESERVE", 2)
    run(engine, project)
    answer_batch(engine, project, half)
    run(engine, project)
    _, tasks = newest(engine, project)
    assert len(tasks) == 9 + 2
    with writing(engine) as session:
        session.delete(session.get_one(Round, tasks[0].round_id))
        session.delete(session.scalars(select(StoredModel).where(StoredModel.number == 1)).one())
    run(engine, project)
    assert [(t.left_id, t.right_id, t.score) for t in newest(engine, project)[1]] == [
        (t.left_id, t.right_id, t.score) for t in tasks
    ]


def test_a_round_after_a_cancelled_one_registers_its_model(engine: Engine, project: int) -> None:
    run(engine, project)
    answer_batch(engine, project, half)
    run(engine, project, stop_before="make_batch")  # cancelled after its model was measured
    assert matcher_of(engine, 1).labels == 6
    for task in newest(engine, project)[1][6:9]:
        answer(engine, task, NEGATIVE)
    job_id = run(engine, project)
    matcher = matcher_of(engine, 1)
    assert (matcher.labels, matcher.cutoff) == (9, count(engine, Answer))
    assert matcher.folder == f"project-{project}/{job_id}/model"
    batch, tasks = newest(engine, project)
    assert (batch.number, batch.matcher_id) == (2, matcher.id)
    layer = load_matcher(str(artifacts() / matcher.folder)).layer
    assert layer is not None and (layer.w, layer.b) == (matcher.w, matcher.b)
    assert [t.p for t in tasks] == pytest.approx(layer.probability(np.array([t.score for t in tasks])), abs=1e-4)
    assert count(engine, Evaluation) == 2


def test_a_model_replaces_the_one_an_audit_was_drawn_under(engine: Engine, project: int) -> None:
    run(engine, project)
    answer_batch(engine, project, half)
    run(engine, project, stop_before="make_batch")  # failed after its model was measured
    before = matcher_of(engine, 1)
    with writing(engine) as session:
        of = {"project_id": project, "matcher_id": before.id}
        audit_batch = Round(strategy="entities", size=0, **of)
        design = Design(number=1, kind=DesignKind.ENTITIES, pairs=45, strata=[], folder="design", **of)
        published = Publication(kind=PublicationKind.MODEL, number=1, who="", **of)
        session.add_all([audit_batch, design, published])
    run(engine, project)
    now = matcher_of(engine, 1)
    assert now.id == before.id and now.folder != before.folder
    with reading(engine) as session:
        assert session.get_one(Round, audit_batch.id).matcher_id == now.id
        assert session.get_one(Design, design.id).matcher_id is None
        assert session.get_one(Publication, published.id).matcher_id is None
    assert newest(engine, project)[0].matcher_id == now.id


def test_a_batch_says_what_an_approximate_search_found(engine: Engine, encoder: Path) -> None:
    project_id = make_project(engine, texts(30), name="Lists", encoder=str(encoder), first=10, search="faiss-ivf")
    run(engine, project_id)
    batch, tasks = newest(engine, project_id)
    assert len(tasks) > 0
    assert all(part in batch.note for part in ("(faiss-ivf)", "100.0%", "30 sampled texts"))


def test_an_exhausted_project_has_an_empty_batch_that_says_so(engine: Engine, encoder: Path) -> None:
    settings: dict[str, Any] = {"encoder": str(encoder), "first": 10, "neighbours": 5, "epochs": 1}
    project_id = make_project(engine, texts(4), name="Small", **settings)
    run(engine, project_id)
    batch, tasks = newest(engine, project_id)
    assert (batch.size, len(tasks)) == (6, 6)
    answer_batch(engine, project_id, half)
    run(engine, project_id)
    batch, tasks = newest(engine, project_id)
    assert (batch.number, batch.size, tasks) == (2, 0, [])
    assert "is labelled" in batch.note
    assert count(engine, Evaluation) == 0  # nothing is kept for measuring


def test_a_project_of_two_lists(engine: Engine, encoder: Path) -> None:
    settings: dict[str, Any] = {"encoder": str(encoder), "first": 8, "neighbours": 4, "epochs": 1}
    project_id = make_project(engine, texts(12), right=texts(20)[10:], name="Two", evaluation=4, **settings)
    run(engine, project_id)
    answer_batch(engine, project_id, half)
    run(engine, project_id)
    with reading(engine) as session:
        sides = {item.id: (item.side, item.split) for item in session.scalars(select(Item))}
    for task in newest(engine, project_id)[1]:
        assert sides[task.left_id] == ("left", "evaluation" if task.purpose == Purpose.AUDIT else "train")
        assert sides[task.right_id] == ("right", "both")


@pytest.mark.parametrize("step", ["train", "encode", "evaluate", "choose"])
def test_a_cancelled_job_stops_in_every_step(engine: Engine, project: int, step: str) -> None:
    run(engine, project)
    answer_batch(engine, project, half)
    job_id = start(engine, project)
    plan = steps.make_plan(project)
    calls: dict[str, Callable[[], Any]] = {
        "train": lambda: steps.train_matcher(job_id, project, plan),
        "encode": lambda: steps.encode_items(job_id, project, plan),
        "evaluate": lambda: steps.evaluate_matcher(job_id, project, plan),
        "choose": lambda: steps.make_batch(job_id, project, plan, matcher_of(engine, 1).id),
    }
    before = count(engine, StoredModel), count(engine, Round)
    for name, call in calls.items():
        if name == step:
            break
        done = call()
        plan |= {"train": {"training": done}, "encode": done}.get(name, {})
        before = count(engine, StoredModel), count(engine, Round)
    with writing(engine) as session:
        session.get_one(Job, job_id).cancel = True
    with pytest.raises(Cancelled):
        calls[step]()
    assert (count(engine, StoredModel), count(engine, Round)) == before


def test_progress_is_written_for_the_pages(engine: Engine, project: int) -> None:
    job_id = run(engine, project)
    with reading(engine) as session:
        job = session.get_one(Job, job_id)
    assert job.state == "running"
    assert job.stage in ("load", "encode", "evaluate", "search")
    assert 0 <= job.fraction <= 1


def test_there_is_nothing_to_train_on_before_the_first_answer(engine: Engine, project: int) -> None:
    run(engine, project)
    with writing(engine) as session:
        for job in session.scalars(select(Job)):
            job.state = "done"
    tasks = newest(engine, project)[1]
    for kind in (SKIP, UNSURE):
        answer(engine, tasks[0], kind)
        with pytest.raises(InputError, match="no new answers to train on since batch 1"):
            request_round(engine, project)
    answer(engine, tasks[1], POSITIVE)
    assert request_round(engine, project)


def test_a_first_batch_has_non_matches_below_200_matches(engine: Engine, encoder: Path) -> None:
    """As where the encoder knows the domain well: 40 answers teach, and the next round trains."""
    asked: dict[str, Any] = {"encoder": str(encoder), "neighbours": 60, "epochs": 1}
    project = make_project(engine, texts(60), **asked)
    job_id = run(engine, project)
    vectors = load_vectors(vectors_path(project, job_id))
    left, right = np.triu_indices(60, 1)
    lowest_match = np.sort(scores(vectors, left, right, BLENDED))[-200]
    _, tasks = newest(engine, project)
    kinds = [POSITIVE if (task.score or 0) >= lowest_match else NEGATIVE for task in tasks]
    answer_batch(engine, project, kinds.__getitem__)
    assert 5 <= kinds[:40].count(NEGATIVE) <= 15
    run(engine, project)
    assert matcher_of(engine, 1).labels == 40


def test_a_rounds_acts_are_announced_once_if_steps_run_twice(engine: Engine, project: int) -> None:
    add_webhook(engine, project)
    run(engine, project)
    first = {"batch": 1, "pairs": 6, "strategy": HALF_SPREAD_STRATEGY}
    assert notices(engine) == [("batch.ready", first)]
    answer_batch(engine, project, half)
    job_id = start(engine, project)
    plan = steps.make_plan(project)
    plan["training"] = steps.train_matcher(job_id, project, plan)
    plan |= steps.encode_items(job_id, project, plan)
    for _ in range(2):
        matcher_id = steps.evaluate_matcher(job_id, project, plan)
        steps.make_batch(job_id, project, plan, matcher_id)
    told = [(kind, about) for kind, about in notices(engine) if kind != "target.reached"]
    assert [kind for kind, _ in told] == ["batch.ready", "training.done", "batch.ready"]
    assert (told[1][1]["job"], told[1][1]["round"], told[1][1]["labels"]) == (job_id, 1, 6)
    with reading(engine) as session:
        stored = session.get_one(Evaluation, matcher_id).estimates
    assert told[1][1]["average_precision"] == stored["average_precision"]
    assert (told[2][1]["batch"], told[2][1]["pairs"]) == (2, newest(engine, project)[0].size)
