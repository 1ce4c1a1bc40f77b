"""The job `next_round`, step by step on a temporary database: what each step stores, once, and what never trains."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.explore.pair_reason import read_score
from allpairs.annotate.jobs.requests import request_round
from allpairs.db.domain import SEED_STRATEGY, SPREAD_STRATEGY, AnswerKind, Purpose, Split
from allpairs.db.errors import Cancelled, InputError
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Answer, Evaluation, Gold, Item, Job, Matcher, Project, Round, Task
from allpairs.learner.jobs import make_model
from allpairs.learner.jobs import next_round as steps
from allpairs.learner.jobs.data.project_data import known_keys, read_labels, read_project
from allpairs.learner.models.cosine_bert import train
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.scoring.matcher import load_matcher
from allpairs.learner.scoring.score import Blend
from tests.helpers.factories import make_project
from tests.helpers.files.damage import harm
from tests.helpers.projects.rounds import (
    NEGATIVE,
    POSITIVE,
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
)
from tests.helpers.services.webhooks import add_webhook, notices
from tests.helpers.tiny import tiny_encoder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("jobs"), texts())


@pytest.fixture
def project(engine: Engine, encoder: Path) -> int:
    """Return a project of 30 texts on 6 topics, the last 10 for evaluation; texts of one topic match."""
    settings: dict[str, Any] = {
        "encoder": str(encoder),
        "first": 6,
        "neighbours": 10,
        "epochs": 1,
        "learning_rate": 1e-3,
    }
    project_id = make_project(engine, texts(), evaluation=10, **settings)
    with writing(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)).all()
        session.add_all(
            Gold(project_id=project_id, left_id=items[i], right_id=items[j], positive=True)
            for i, j in itertools.combinations(range(30), 2)
            if i % 6 == j % 6
        )
    return project_id


def test_the_first_batch_is_the_most_similar_pairs(engine: Engine, project: int, encoder: Path) -> None:
    run(engine, project)
    batch, tasks = newest(engine, project)
    assert (batch.number, batch.size, batch.strategy, batch.note) == (1, 6, SEED_STRATEGY, "")
    assert [task.position for task in tasks] == list(range(12))
    with reading(engine) as session:
        items = session.scalars(select(Item).where(Item.split == Split.TRAIN).order_by(Item.id)).all()
    vectors = load_encoder(str(encoder)).encode([item.text for item in items])
    scores = {
        (items[i].id, items[j].id): float(vectors[i] @ vectors[j]) for i, j in itertools.combinations(range(20), 2)
    }
    best = sorted(scores, key=lambda pair: -scores[pair])
    assert [(task.left_id, task.right_id) for task in tasks] == best[:12]
    assert [task.score for task in tasks] == pytest.approx([scores[pair] for pair in best[:12]], abs=1e-5)
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


@pytest.mark.parametrize(
    ("given", "missing", "chooser"),
    [(POSITIVE, "negative", SPREAD_STRATEGY), (NEGATIVE, "positive", SEED_STRATEGY)],
)
def test_answers_of_one_class_train_nothing(
    engine: Engine, project: int, given: AnswerKind, missing: str, chooser: str
) -> None:
    """After negatives the next most similar pairs follow, after positives less similar ones."""
    run(engine, project)
    _, first = newest(engine, project)
    answer_batch(engine, project, lambda position: given)
    run(engine, project)
    batch, tasks = newest(engine, project)
    assert f"All 6 answers so far are {given}: a model needs both" in batch.note
    assert f"training starts with the first {missing}" in batch.note
    assert (batch.number, batch.strategy) == (2, chooser)
    assert (pairs(tasks[:6]) == pairs(first[6:])) == (chooser == SEED_STRATEGY)
    assert count(engine, Matcher) == 1
    assert batch.matcher_id == matcher_of(engine, 0).id
    answer(engine, tasks[0], NEGATIVE if given == POSITIVE else POSITIVE)
    run(engine, project)
    assert newest(engine, project)[0].note == ""
    assert matcher_of(engine, 2).labels == 7


def test_a_later_batch_knows_labelled_pairs_like_its_own_and_keeps_their_scores(engine: Engine, project: int) -> None:
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
    assert batch.note.startswith("No answer so far can train a model")
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
    assert count(engine, Matcher) == count(engine, Evaluation) == 2
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
        session.delete(session.scalars(select(Matcher).where(Matcher.number == 1)).one())
    run(engine, project)
    assert [(t.left_id, t.right_id, t.score) for t in newest(engine, project)[1]] == [
        (t.left_id, t.right_id, t.score) for t in tasks
    ]


def test_a_round_after_a_cancelled_one_registers_the_model_that_chose_it(engine: Engine, project: int) -> None:
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


def test_a_batch_says_what_an_approximate_search_found(engine: Engine, encoder: Path) -> None:
    project_id = make_project(engine, texts(30), name="Lists", encoder=str(encoder), first=10, search="faiss-ivf")
    run(engine, project_id)
    batch, tasks = newest(engine, project_id)
    assert len(tasks) > 0
    assert all(part in batch.note for part in ("(faiss-ivf)", "100.0%", "30 sampled texts"))


def test_when_every_pair_is_labelled_the_batch_is_empty_and_says_so(engine: Engine, encoder: Path) -> None:
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


def test_hubness_is_subtracted_from_the_score_of_a_pair_in_training_too(
    engine: Engine, encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {"encoder": str(encoder), "first": 6, "neighbours": 20, "hubness": 0.3}
    project_id = make_project(engine, texts(20), name="Crowded", **settings)
    run(engine, project_id)
    _, tasks = newest(engine, project_id)
    vectors = load_encoder(str(encoder)).encode(texts(20))
    cosines = vectors @ vectors.T - 9 * np.eye(20)
    offset = 0.3 * np.sort(cosines, axis=1)[:, -3:].mean(1)
    with reading(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)).all()
        matcher = session.scalars(select(Matcher).where(Matcher.project_id == project_id)).one()
    scores = {
        (items[i], items[j]): cosines[i, j] - offset[i] - offset[j] for i, j in itertools.combinations(range(20), 2)
    }
    best = sorted(scores, key=lambda pair: -scores[pair])[:12]
    assert [(task.left_id, task.right_id) for task in tasks] == best
    assert [task.score for task in tasks] == pytest.approx([scores[pair] for pair in best], abs=1e-5)
    assert matcher.details["hubness"] == 0.3
    answer_batch(engine, project_id, half)
    offsets: list[np.ndarray] = []

    def watched(*given: Any, offset: np.ndarray) -> Any:
        offsets.append(offset)
        return train(*given, offset=offset)

    monkeypatch.setattr(make_model, "train", watched)
    run(engine, project_id)
    assert offsets[0] == pytest.approx(offset, abs=1e-5)


def test_lexical_features_count_as_far_as_the_labels_say(engine: Engine, encoder: Path) -> None:
    settings: dict[str, Any] = {"encoder": str(encoder), "first": 12, "neighbours": 20, "epochs": 1, "lexical": True}
    names = [f"engine {i} of type {i % 4 * 1111}" for i in range(40)]
    project_id = make_project(engine, names, name="Parts", **settings)
    run(engine, project_id)
    assert matcher_of(engine, 0).details["lexical"] == {}  # before there are labels

    _, tasks = newest(engine, project_id)
    with reading(engine) as session:
        text = {item.id: item.text for item in session.scalars(select(Item).where(Item.project_id == project_id))}
    alike = [text[task.left_id].split()[-1] == text[task.right_id].split()[-1] for task in tasks]
    assert {True, False} <= set(alike[:12])
    answer_batch(engine, project_id, lambda at: POSITIVE if alike[at] else NEGATIVE)
    run(engine, project_id)
    matcher = matcher_of(engine, 1)
    assert sum(matcher.details["lexical"].values()) > 0.05
    stored = load_matcher(str(artifacts() / str(matcher.folder)))
    assert stored.blend == Blend.read(matcher.details)
    assert stored.layer and (stored.layer.w, stored.layer.b) == (matcher.w, matcher.b)
    batch, tasks = newest(engine, project_id)
    assert (batch.number, len(tasks)) == (2, 36)


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


def test_warm_start_goes_on_from_the_last_model(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def watched(name: str) -> Encoder:
        loaded.append(name)
        return load_encoder(name)

    monkeypatch.setattr(make_model, "load_encoder", watched)
    with writing(engine) as session:
        row = session.get_one(Project, project)
        row.settings = row.settings | {"warm_start": True}
    for _ in range(3):
        run(engine, project)
        answer_batch(engine, project, half)
    base, first = matcher_of(engine, 0).encoder, str(artifacts() / str(matcher_of(engine, 1).folder))
    second = str(artifacts() / str(matcher_of(engine, 2).folder))
    assert loaded == [base, first, first, second]


def test_the_newest_vectors_and_the_pretrained_ones_are_kept(engine: Engine, project: int) -> None:
    run(engine, project)
    answer_batch(engine, project, half)
    job_id = run(engine, project)
    folders = {path.parent.name for path in artifacts().rglob("vectors.npy")}
    assert job_id in folders
    assert [name[:5] for name in folders - {job_id}] == ["base-"]
    assert not list(artifacts().rglob("*.tmp"))


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
    before = count(engine, Matcher), count(engine, Round)
    for name, call in calls.items():
        if name == step:
            break
        done = call()
        plan |= {"train": {"training": done}, "encode": done}.get(name, {})
        before = count(engine, Matcher), count(engine, Round)
    with writing(engine) as session:
        session.get_one(Job, job_id).cancel = True
    with pytest.raises(Cancelled):
        calls[step]()
    assert (count(engine, Matcher), count(engine, Round)) == before


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
    with pytest.raises(InputError, match="nothing has been answered since batch 1"):
        request_round(engine, project)
    answer(engine, newest(engine, project)[1][0], POSITIVE)
    assert request_round(engine, project)


def change_settings(engine: Engine, project_id: int, **values: object) -> None:
    with writing(engine) as session:
        row = session.get_one(Project, project_id)
        row.settings = row.settings | values


@pytest.fixture(scope="module")
def other_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("other"), texts(), seed=1)


def base_of(engine: Engine, project_id: int) -> tuple[int, str, float, list[float]]:
    """Return id, encoder, hubness and the curve's scores of the pre-trained encoder's row."""
    with reading(engine) as session:
        matcher = session.scalars(select(Matcher).where(Matcher.project_id == project_id, Matcher.number == 0)).one()
        evaluation = session.get_one(Evaluation, matcher.id)
        hubness = matcher.details.get("hubness", 0.0)
        return matcher.id, matcher.encoder, hubness, evaluation.curve["score"]


@pytest.mark.parametrize("changed", ["encoder", "hubness"])
def test_before_training_another_encoder_or_score_is_measured_in_place_of_the_old(
    engine: Engine, project: int, encoder: Path, other_encoder: Path, changed: str
) -> None:
    run(engine, project)
    answer_batch(engine, project, lambda position: POSITIVE)  # of one class: nothing trains
    before = base_of(engine, project)
    change_settings(engine, project, **{changed: {"encoder": str(other_encoder), "hubness": 0.3}[changed]})
    run(engine, project)
    after = base_of(engine, project)
    assert after[0] == before[0]  # batch 1 names it
    assert after[1:3] == ((str(other_encoder), 0.0) if changed == "encoder" else (str(encoder), 0.3))
    assert after[3] != before[3]
    fresh = make_project(engine, texts(), name="Fresh", evaluation=10, **{"encoder": after[1], "hubness": after[2],
                         "first": 6, "neighbours": 10})  # fmt: skip
    copy_gold(engine, project, fresh)
    run(engine, fresh)
    assert base_of(engine, fresh)[3] == pytest.approx(after[3])


def test_a_job_goes_on_with_the_settings_that_it_began_with(
    engine: Engine, project: int, encoder: Path, other_encoder: Path
) -> None:
    job_id = start(engine, project)
    plan = steps.make_plan(project)
    plan |= steps.encode_items(job_id, project, plan)
    change_settings(engine, project, encoder=str(other_encoder))
    matcher_id = steps.evaluate_matcher(job_id, project, plan)
    steps.make_batch(job_id, project, plan, matcher_id)
    old = base_of(engine, project)
    answer_batch(engine, project, lambda position: POSITIVE)  # of one class: nothing trains
    run(engine, project)
    new = base_of(engine, project)
    assert (old[1], new[1]) == (str(encoder), str(other_encoder)) and old[3] != new[3]


def test_a_job_that_an_earlier_version_began_goes_on(engine: Engine, project: int) -> None:
    job_id, plan = start(engine, project), steps.make_plan(project)
    del plan["settings"]
    plan |= steps.encode_items(job_id, project, plan)
    steps.make_batch(job_id, project, plan, steps.evaluate_matcher(job_id, project, plan))
    assert newest(engine, project)[0].number == 1


def copy_gold(engine: Engine, source: int, target: int) -> None:
    with writing(engine) as session:
        offset = min(session.scalars(select(Item.id).where(Item.project_id == target))) - min(
            session.scalars(select(Item.id).where(Item.project_id == source))
        )
        for pair in session.scalars(select(Gold).where(Gold.project_id == source)).all():
            session.add(Gold(project_id=target, left_id=pair.left_id + offset, right_id=pair.right_id + offset,
                             positive=True))  # fmt: skip


def test_a_round_does_not_go_on_from_a_model_of_another_encoder(
    engine: Engine, project: int, other_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_settings(engine, project, warm_start=True)
    run(engine, project)
    answer_batch(engine, project, lambda position: POSITIVE if position % 2 else NEGATIVE)
    run(engine, project)
    change_settings(engine, project, encoder=str(other_encoder))
    started: list[str] = []
    real = make_model.load_encoder
    monkeypatch.setattr(make_model, "load_encoder", lambda name: started.append(name) or real(name))  # type: ignore[func-returns-value]
    answer_batch(engine, project, lambda position: POSITIVE if position % 2 else NEGATIVE)
    run(engine, project)
    assert started[0] == str(other_encoder)


def test_damaged_vectors_are_made_again(engine: Engine, project: int) -> None:
    run(engine, project)
    (kept,) = (artifacts() / f"project-{project}").glob("base-*/vectors.npy")
    whole = kept.read_bytes()
    harm(kept)
    answer_batch(engine, project, lambda position: NEGATIVE)
    run(engine, project)
    assert newest(engine, project)[0].number == 2
    assert kept.read_bytes() == whole


def test_what_a_round_does_is_told_once_even_if_its_steps_run_twice(engine: Engine, project: int) -> None:
    add_webhook(engine, project)
    run(engine, project)
    first = {"batch": 1, "pairs": 6, "strategy": SEED_STRATEGY}
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
