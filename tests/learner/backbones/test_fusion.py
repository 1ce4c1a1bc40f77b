"""A re-ranker's score joined with a first stage's: the fit, and the stored re-ranker."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from allpairs.db.errors import InputError
from allpairs.learner.backbones.generator import load_generator
from allpairs.learner.backbones.reranking.fusion import FirstScores, Fused, Fusion, fit_fusion
from allpairs.learner.backbones.reranking.reading import Reading
from allpairs.learner.backbones.reranking.reranker import (
    Reranker,
    load_reranker,
    pair_scores,
    scores_of,
    truth_logits,
)
from allpairs.learner.search.bm25_pairs import count_words
from tests.helpers.tiny import tiny_encoder

TEXTS = [f"topic{i % 3} word{i}" for i in range(9)]


def test_the_fit_finds_what_each_score_adds() -> None:
    rng = np.random.default_rng(0)
    first, own = rng.normal(size=(20_000, 2)) * (0.1, 5.0), rng.normal(size=20_000)
    right = rng.random(20_000) < expit(20 * first[:, 0] + 1.5 * own - 1)
    found = fit_fusion(right, first, own)
    assert found.weights == pytest.approx((20, 0, 1.5), abs=1.0) and found.constant == pytest.approx(-1, abs=0.1)
    assert found.join(first, own)[:3] == pytest.approx(first[:3] @ found.weights[:2] + own[:3] * found.weights[2] + found.constant)  # fmt: skip  # noqa: E501
    assert len(fit_fusion(right, first).weights) == 2


def test_a_stored_reranker_keeps_its_first_stage(tmp_path: Path) -> None:
    tiny_encoder(tmp_path, [*TEXTS, "Query: Document: Relevant: true false"])
    generator = load_generator(str(tmp_path / "bert"), 1, device="cpu")
    first = FirstScores(str(tmp_path / "tiny"), count_words(TEXTS))
    plain = Reranker(generator, Reading(source_length=40))
    Reranker(generator, plain.reading, Fused(first, Fusion((3.0, 0.5, 0.25), -1.0))).save(tmp_path / "fused")
    plain.save(tmp_path / "plain")
    pairs = np.array([(i, j) for i in range(9) for j in range(9) if i != j])
    own = scores_of(truth_logits(plain, TEXTS, TEXTS, pairs))
    scores = first.of(TEXTS, TEXTS, pairs)
    assert pair_scores(load_reranker(str(tmp_path / "plain"), "cpu"), TEXTS, TEXTS, pairs) == pytest.approx(own)
    joined = pair_scores(load_reranker(str(tmp_path / "fused"), "cpu"), TEXTS, TEXTS, pairs)
    assert joined == pytest.approx(3 * scores[:, 0] + 0.5 * scores[:, 1] + 0.25 * own - 1, abs=1e-5)
    assert pair_scores(load_reranker(str(tmp_path / "fused"), "cpu"), TEXTS, TEXTS, pairs[:0]).shape == (0,)
    assert scores[:, 1].max() > 0 and np.ptp(scores[:, 0]) > 0.01
    (tmp_path / "fused" / "words.json.gz").unlink()
    with pytest.raises(InputError, match=r"words\.json\.gz"):
        load_reranker(str(tmp_path / "fused"), "cpu")
