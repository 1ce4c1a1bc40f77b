"""Damaged artifacts: detected, then rebuilt where possible, and else refused with the file's name."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine

from allpairs.annotate.kit.jobs.prepared import read_prepared_arrays
from allpairs.db.errors import InputError
from allpairs.db.files.checksums import FILE, damaged, is_whole, require_whole, seal, seal_models
from allpairs.db.maintenance.integrity import problems
from allpairs.db.schema.engine import artifacts, writing
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.jobs.data.stored_arrays import load_arrays, save_arrays
from allpairs.learner.jobs.data.stored_vectors import load_vectors, save_vectors
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.matcher import PairModel, add_details, load_matcher, save_matcher
from tests.helpers.factories import make_project
from tests.helpers.machine import flip_bit
from tests.helpers.tiny import tiny_encoder


def test_a_folder_knows_what_was_written_in_it(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name in ("a", "below/b"):
        (tmp_path / name).write_text(name * 100)
    assert list(damaged(tmp_path)) == []  # nothing is known
    seal(tmp_path)
    require_whole(tmp_path)
    (tmp_path / "later").write_text("no part of it")
    assert list(damaged(tmp_path)) == []
    flip_bit(tmp_path / "below/b")
    (tmp_path / "a").unlink()
    assert sorted(damaged(tmp_path)) == [tmp_path / "a", tmp_path / "below/b"]
    with pytest.raises(InputError, match=r"damaged or missing.*back-up"):
        require_whole(tmp_path)
    (tmp_path / FILE).write_text("{")
    with pytest.raises(InputError, match=FILE):
        require_whole(tmp_path)


def test_a_damaged_model_is_refused_by_name(tmp_path: Path) -> None:
    encoder = load_encoder(str(tiny_encoder(tmp_path, ["one two"])))
    folder = tmp_path / "model"
    save_matcher(PairModel(encoder, OutputLayer(2.0, -1.0)), folder)
    add_details(folder, labels=3)  # which changes the one file that has no checksum
    assert load_matcher(str(folder)).layer == OutputLayer(2.0, -1.0)
    flip_bit(folder / "model.safetensors")
    with pytest.raises(InputError, match=r"model/model\.safetensors is damaged"):
        load_matcher(str(folder))


def test_what_a_pipeline_makes_has_checksums(tmp_path: Path) -> None:
    tiny_encoder(tmp_path, ["one two"])
    seal_models(tmp_path)
    flip_bit(tmp_path / "tiny" / "model.safetensors")
    with pytest.raises(InputError, match=r"model\.safetensors is damaged"):
        load_encoder(str(tmp_path / "tiny"))
    assert list(damaged(tmp_path / "bert")) == []


def test_damaged_vectors_are_refused(tmp_path: Path) -> None:
    path, vectors = tmp_path / "job" / "vectors.npy", np.eye(4, dtype=np.float32)
    save_vectors(path, vectors, [])
    assert (load_vectors(path) == vectors).all()
    flip_bit(path)
    assert not is_whole(path)
    with pytest.raises(InputError, match=r"vectors\.npy is damaged .*job again"):
        load_vectors(path)


def test_a_damaged_file_of_arrays_is_named(tmp_path: Path) -> None:
    path = tmp_path / "decks.npz"
    save_arrays(path, left=np.arange(1000))
    assert (load_arrays(path, "")["left"] == np.arange(1000)).all()
    flip_bit(path)
    with pytest.raises(InputError, match=r"decks\.npz is damaged .* a remedy"):
        load_arrays(path, "a remedy")
    with pytest.raises(InputError, match="prepare the round again"):
        read_prepared_arrays(path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="a remedy"):
        load_arrays(path, "a remedy")


def test_the_check_of_an_installation_reads_all_artifacts(engine: Engine) -> None:
    folder = artifacts() / "project-1"
    save_vectors(folder / "job" / "vectors.npy", np.eye(3, dtype=np.float32), [])
    save_arrays(folder / "design-1" / "decks.npz", left=np.arange(1000))
    assert list(problems(engine)) == []
    flip_bit(folder / "job" / "vectors.npy")
    flip_bit(folder / "design-1" / "decks.npz")
    shutil.copytree(folder, artifacts() / ".import-killed")
    found = list(problems(engine))
    assert len(found) == 2 and "vectors.npy" in found[0] and "decks.npz" in found[1]
    (folder / "job" / FILE).write_text("{")
    assert not is_whole(folder / "job" / "vectors.npy")
    assert [FILE in problem for problem in problems(engine)] == [True, False]
    save_vectors(folder / "job" / "vectors.npy", np.eye(3, dtype=np.float32), [])
    assert (load_vectors(folder / "job" / "vectors.npy") == np.eye(3)).all()


def test_a_model_whose_numbers_are_not_the_rows_is_found(engine: Engine) -> None:
    project, folder = make_project(engine, ["a", "b"]), artifacts() / "project-1" / "job" / "model"
    with writing(engine) as session:
        session.add(StoredModel(project_id=project, number=1, folder="project-1/job/model", encoder="e", w=2.0, b=-1.0))
    folder.mkdir(parents=True)
    for content, whole in (('{"w": 2.0, "b": -1.0}', True), ('{"w": 3.0, "b": -1.0}', False), ("{", False)):
        (folder / "matcher.json").write_text(content)
        assert (list(problems(engine)) == []) is whole
