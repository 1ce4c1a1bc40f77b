"""What is stored of texts belongs to them: others with the same numbers never get it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine

from allpairs.db.progress import no_progress
from allpairs.db.schema.engine import reading
from allpairs.learner.jobs.data import stored_rescored
from allpairs.learner.jobs.data.evaluation_snapshot import take_snapshot
from allpairs.learner.jobs.data.project_data import ProjectData, read_project
from allpairs.learner.jobs.data.resumable_encoding import encoded
from allpairs.learner.jobs.data.stored_vectors import TEXTS, are_of, save_vectors
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.search.rescored import NOTHING, Rescored
from tests.helpers.factories import make_project
from tests.helpers.projects.rounds import matcher_of, run, texts


def test_vectors_are_of_their_texts_and_no_others(home: Path) -> None:
    path = home / "artifacts" / "project-1" / "job" / "vectors.npy"
    path.parent.mkdir(parents=True)
    save_vectors(path, np.eye(2, dtype=np.float32), ["red kettle", "blue chair"])
    assert are_of(path, ["red kettle", "blue chair"])
    assert are_of(path, ["red kettle", "blue chair", "added later"])
    assert are_of(path, ["red kettle"])  # a job that began before the other one was added
    for others in (
        ["red kettle", "green lamp"],
        ["red", " kettleblue chair"],
        ["blue chair", "red kettle"],
    ):
        assert not are_of(path, others)
    (path.parent / TEXTS).unlink()
    assert not are_of(path, ["red kettle", "blue chair"])  # nothing says so


def test_what_an_encoding_left_is_of_its_texts(encoder: Path, tmp_path: Path) -> None:
    model = load_encoder(str(encoder), "cpu")
    encoded(model, texts(), tmp_path)
    others = [*texts()[:20], *texts(50)[40:]]
    assert encoded(model, others, tmp_path) == pytest.approx(model.encode(others), abs=1e-5)


def restored(data: ProjectData) -> ProjectData:
    """Return the project with another text in its last row."""
    return replace(data, dataset=replace(data.dataset, texts=[*data.dataset.texts[:-1], "word1 word2 word3"]))


def test_figures_are_of_the_texts_that_are_there(engine: Engine, encoder: Path) -> None:
    project_id = make_project(engine, texts(), evaluation=10, encoder=str(encoder), first=6)
    run(engine, project_id)
    with reading(engine) as session:
        data = read_project(session, project_id)
    matcher = matcher_of(engine, 0)
    before = take_snapshot(data, matcher, None, no_progress).vectors
    after = take_snapshot(restored(data), matcher, None, no_progress).vectors
    assert np.array_equal(after[:-1], before[:-1]) and not np.allclose(after[-1], before[-1], atol=1e-2)


def test_second_stage_scores_are_of_the_texts_present(
    engine: Engine, encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_id = make_project(engine, texts(), evaluation=10, encoder=str(encoder), first=6)
    run(engine, project_id)
    with reading(engine) as session:
        data = read_project(session, project_id)
    matcher, anew = matcher_of(engine, 0), Rescored(NOTHING.pairs, 30)
    matcher.folder = "project-1/round-1/model"
    monkeypatch.setattr(stored_rescored, "second_of", lambda matcher: "a second stage")
    monkeypatch.setattr(stored_rescored, "make_rescored", lambda *about: anew)
    stored_rescored.save_rescored(stored_rescored.artifacts() / "project-1" / "round-1", NOTHING, data)
    vectors = np.zeros((30, 4), dtype=np.float32)
    assert stored_rescored.rescored_of(matcher, data, vectors, no_progress) is not anew
    assert stored_rescored.rescored_of(matcher, restored(data), vectors, no_progress) is anew
