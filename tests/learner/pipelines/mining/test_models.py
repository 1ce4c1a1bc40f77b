"""The models of few-shot mining: the classifier beside the bi-encoder, the cross-encoder, and search on disk."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from allpairs.learner.light.catalog.mining import Classifier, Crossencoder, Development
from allpairs.learner.light.catalog.retrieval import RetrieverSettings
from allpairs.learner.models.bi_encoder_training import lesson_of, new_retriever, train_retriever
from allpairs.learner.pipelines.mining import shards
from allpairs.learner.pipelines.mining.classifier import TextClassifier, passing_rows, probabilities
from allpairs.learner.pipelines.mining.crossencoder import Contrasts, contrast_scores, pair_loss, train_crossencoder
from allpairs.learner.pipelines.mining.first_score import features, fit_first_score
from allpairs.learner.pipelines.mining.shards import disk_neighbours, encode_list
from allpairs.learner.pipelines.mining.texts import copy_texts
from tests.helpers.tiny import tiny_encoder
from tests.helpers.tiny_backbones import tiny_backbone

SEEDS = [(f"what is number {word}", f"number {word} is here") for word in ("one", "two", "three", "four", "five")]
OTHERS = [f"buy cheap {word} now" for word in ("shoes", "hats", "cars", "bikes", "boats")]
TEXTS = [text for pair in SEEDS for text in pair] + OTHERS
CONTRASTS = Contrasts(
    TEXTS, np.arange(10).reshape(5, 2), np.tile(np.arange(10, 13), (5, 1)), np.zeros((5, 4), dtype=np.float32)
)


def test_pairwise_and_binary_losses() -> None:
    right, wrong = torch.tensor([2.0], requires_grad=True), torch.tensor([0.5])
    loss = pair_loss(right, wrong, "pairwise")
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == pytest.approx(0.2014132780)
    assert right.grad is not None and right.grad.item() == pytest.approx(-0.1824255238)
    both = torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor([2.0, 0.5]), torch.tensor([1.0, 0.0]))
    assert pair_loss(torch.tensor([2.0]), wrong, "binary").item() == pytest.approx(both.item())


@pytest.mark.parametrize("objective", ["binary", "pairwise"])
def test_the_crossencoder_tells_right_from_wrong(tmp_path: Path, objective: str) -> None:
    backbone = tiny_backbone(tmp_path, "bert", TEXTS)
    config = Crossencoder.model_validate(
        {"backbone": str(backbone), "objective": objective, "steps": 40, "learning_rate": 3e-3, "max_length": 32}
    )
    before = torch.get_rng_state()
    model, looks = train_crossencoder(CONTRASTS, config, 0)
    assert torch.equal(before, torch.get_rng_state()) and looks is None
    found = contrast_scores(model, CONTRASTS)
    assert (found[:, :1] > found[:, 1:]).all()


def test_a_kept_score_is_where_the_crossencoder_begins(tmp_path: Path) -> None:
    backbone = tiny_backbone(tmp_path, "bert", TEXTS)
    config = Crossencoder(backbone=str(backbone), steps=6, learning_rate=3e-3, max_length=32)
    first = np.random.default_rng(0).normal(size=CONTRASTS.first.shape).astype(np.float32)
    given_ = replace(CONTRASTS, first=first)
    ranks = 1 + (first[:, 1:] >= first[:, :1]).sum(axis=1)
    for keep in (True, False):
        settings = config.model_copy(update={"keep_score": keep})
        _, best = train_crossencoder(given_, settings, 0, development=given_, config=Development(checks=2))
        assert best is not None and [look.step for look in best.looks] == ([0, 3, 6] if keep else [3, 6])
        assert not keep or best.looks[0].value == pytest.approx((1 / ranks).mean())


def test_the_first_score_weighs_a_cosine_and_its_neighbours() -> None:
    rng = np.random.default_rng(0)
    x, y = (some / np.linalg.norm(some, axis=1, keepdims=True) for some in rng.normal(size=(2, 30, 4)))
    pairs = np.column_stack([np.arange(30), rng.integers(30, size=30)])
    found = features(x, y, pairs, (x, y), 4, False)
    cosines = x @ y.T
    of_x, of_y = (np.sort(some, axis=1)[:, -4:].mean(axis=1) for some in (cosines, cosines.T))
    assert np.allclose(found, np.column_stack([cosines[*pairs.T], of_x[pairs[:, 0]], of_y[pairs[:, 1]]]), atol=1e-5)
    within = x @ x.T - 3 * np.eye(30)  # no text is its own neighbour
    of_own = np.sort(within, axis=1)[:, -4:].mean(axis=1)
    own = features(x, x, pairs, (x, x), 4, True)
    assert np.allclose(own[:, 1:], of_own[pairs].mean(axis=1)[:, None], atol=1e-5)
    assert np.allclose(own, features(x, x, pairs[:, ::-1], (x, x), 4, True))  # the order of two texts says nothing
    shift = np.array([0.5, 0.0, 0.0])
    right, wrong = found + shift, found - shift
    score = fit_first_score(right, wrong)
    assert score(right).mean() > 0 > score(wrong).mean() and (score(right) > score(found)).all()


def test_the_classifier_sorts_out_texts_unlike_the_seeds(tmp_path: Path) -> None:
    config = RetrieverSettings.model_validate(
        {"backbone": str(tiny_encoder(tmp_path, TEXTS)), "steps": 30, "batch_size": 5, "learning_rate": 3e-3}
    )
    retriever = new_retriever(config)
    beside = TextClassifier(retriever.query, [x for x, _ in SEEDS], OTHERS, Classifier(side="x"), 5, 32)
    train_retriever(retriever, lesson_of(SEEDS, OTHERS), config, 0, side_task=beside)
    beside.save(tmp_path / "head.npz")
    p = probabilities(tmp_path / "head.npz", retriever.query.encode([x for x, _ in SEEDS] + OTHERS))
    assert passing_rows(p, Classifier(side="x")).tolist() == [True] * 5 + [False] * 5
    assert passing_rows(p, Classifier(side="x", keep="fraction", fraction=0.1)).sum() == 1


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 40), st.booleans(), st.integers(0, 10**6))
def test_neighbours_on_disk_are_those_of_a_sort(n: int, m: int, k: int, own: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(-2, 3, size=(n, 3)).astype(np.float16)  # whole numbers: many ties, no rounding
    y = x if own else rng.integers(-2, 3, size=(m, 3)).astype(np.float16)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD", 7)
        patch.setattr(shards, "QUERIES", 4)
        found = disk_neighbours(x, y, k, own)
    scores = x.astype(np.float32) @ y.astype(np.float32).T
    if own:
        np.fill_diagonal(scores, -np.inf)
    expected = -np.sort(-scores, axis=1)[:, : max(0, min(k, len(y) - own))]
    assert found.scores.shape == found.ids.shape == expected.shape
    assert (found.scores == expected).all()
    assert (np.take_along_axis(scores, found.ids, 1) == expected).all()
    assert all(len(set(row)) == len(row) for row in found.ids.tolist())


def test_vectors_of_a_list_are_written_chunk_by_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "texts.csv").write_text("id,text\n" + "\n".join(f"{i},{text}" for i, text in enumerate(TEXTS)))
    monkeypatch.setattr("allpairs.learner.pipelines.mining.texts.CHUNK", 4)
    texts = copy_texts(tmp_path / "texts.csv", tmp_path / "texts.parquet", False, lambda stage, done: None)
    assert len(texts) == len(TEXTS) and texts.all() == TEXTS
    assert texts.take(np.array([9, 0, 9])) == [TEXTS[9], TEXTS[0], TEXTS[9]]
    config = RetrieverSettings(backbone=str(tiny_encoder(tmp_path, TEXTS)), similarity="dot")
    encoder = new_retriever(config).query
    encode_list(encoder, texts, tmp_path / "x.npy")
    found = np.load(tmp_path / "x.npy").astype(np.float32)
    whole = encoder.encode(TEXTS)
    assert np.allclose(found, whole / np.linalg.norm(whole, axis=1, keepdims=True), atol=1e-3)
