"""The steps of the job `next_round` that make a model: what trains, from where, and which vectors are kept."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Evaluation, Gold, Item, Project, StoredModel
from allpairs.learner.jobs import make_model
from allpairs.learner.jobs import next_round as steps
from allpairs.learner.models.cosine_bert import train
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.scoring.matcher import load_matcher
from allpairs.learner.scoring.score import Blend
from tests.helpers.factories import make_project
from tests.helpers.machine import flip_bit
from tests.helpers.projects.rounds import (
    NEGATIVE,
    POSITIVE,
    answer_batch,
    half,
    matcher_of,
    newest,
    run,
    start,
    texts,
    topics_project,
)
from tests.helpers.tiny import tiny_encoder


@pytest.fixture
def project(engine: Engine, encoder: Path) -> int:
    return topics_project(engine, encoder)


def test_hubness_is_subtracted_from_training_scores_too(
    engine: Engine, encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {"encoder": str(encoder), "first": 6, "neighbours": 20, "hubness": 0.3}
    settings["first_batch"] = "most-similar"
    project_id = make_project(engine, texts(20), name="Crowded", **settings)
    run(engine, project_id)
    _, tasks = newest(engine, project_id)
    vectors = load_encoder(str(encoder)).encode(texts(20))
    cosines = vectors @ vectors.T - 9 * np.eye(20)
    offset = 0.3 * np.sort(cosines, axis=1)[:, -3:].mean(1)
    with reading(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)).all()
        matcher = session.scalars(select(StoredModel).where(StoredModel.project_id == project_id)).one()
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
        matcher = session.scalars(
            select(StoredModel).where(StoredModel.project_id == project_id, StoredModel.number == 0)
        ).one()
        evaluation = session.get_one(Evaluation, matcher.id)
        hubness = matcher.details.get("hubness", 0.0)
        return matcher.id, matcher.encoder, hubness, evaluation.curve["score"]


@pytest.mark.parametrize("changed", ["encoder", "hubness"])
def test_another_encoder_or_score_is_measured_before_training(
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
    flip_bit(kept)
    answer_batch(engine, project, lambda position: NEGATIVE)
    run(engine, project)
    assert newest(engine, project)[0].number == 2
    assert kept.read_bytes() == whole
