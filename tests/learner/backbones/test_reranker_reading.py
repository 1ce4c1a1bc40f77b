"""A re-ranker's encoder is compiled on a GPU and multiplies in int8 on a CPU, where that is wanted."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from allpairs.learner.backbones.generator import load_generator
from allpairs.learner.backbones.reranking import reading as module
from allpairs.learner.backbones.reranking.reading import FILE, Reading, encoder_to_read
from allpairs.learner.backbones.reranking.reranker import Reranker, load_reranker, scores_of, truth_logits
from tests.helpers.tiny_backbones import tiny_backbone

QUERIES = ["where are apples sold", "who sings the song"]
PASSAGES = ["apples are sold at the market", "the song is sung by a bird", "a bird"]
PAIRS = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]])
PROCESSOR, GPU = torch.device("cpu"), torch.device("cuda")


@pytest.mark.parametrize("architecture", ["bert", "t5", "bart"])
def test_int8_changes_scores_a_little_and_the_model_not_at_all(tmp_path: Path, architecture: str) -> None:
    folder = tiny_backbone(
        tmp_path / "tiny", architecture, [*QUERIES, *PASSAGES, "true false Query Document Relevant :"]
    )
    exact = Reranker(load_generator(str(folder), 1, device="cpu"), Reading())
    before = truth_logits(exact, QUERIES, PASSAGES, PAIRS)
    rounded = Reranker(exact.generator, Reading(int8=True))
    scores = scores_of(truth_logits(rounded, QUERIES, PASSAGES, PAIRS))
    assert 0 < np.abs(scores - scores_of(before)).max() < 0.1 * np.abs(before).max()
    np.testing.assert_array_equal(truth_logits(exact, QUERIES, PASSAGES, PAIRS), before)


def test_the_encoder_changes_only_on_its_device_and_where_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(module.torch, "compile", lambda model, dynamic: asked.append((model, dynamic)) or "compiled")
    plain = torch.nn.Sequential(torch.nn.Linear(2, 2))
    assert encoder_to_read(plain, Reading(compiled=True), PROCESSOR) is plain
    assert encoder_to_read(plain, Reading(int8=True), GPU) is encoder_to_read(plain, Reading(), GPU) is plain
    assert not asked and encoder_to_read(plain, Reading(compiled=True), GPU) == "compiled" and asked == [(plain, True)]


def test_how_it_reads_is_saved_and_older_files_read_exactly(tmp_path: Path) -> None:
    folder = tiny_backbone(tmp_path / "tiny", "t5", [*QUERIES, "true false"])
    Reranker(load_generator(str(folder)), Reading(int8=True)).save(tmp_path)
    assert load_reranker(str(tmp_path)).reading == Reading(int8=True)
    about = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_text(json.dumps({name: about[name] for name in ("view", "second", "source_length")}))
    assert load_reranker(str(tmp_path)).reading == Reading()
