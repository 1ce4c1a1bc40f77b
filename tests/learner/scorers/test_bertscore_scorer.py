"""The scorer that compares tokens: independent of other pairs, by any layer, measured like other scorers."""

from pathlib import Path

import numpy as np
import pytest

from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.errors import InputError
from allpairs.learner.files.evaluate import Method, evaluate_audit, evaluate_corpus
from allpairs.learner.scorers.bertscore_scorer import load_token_scorer
from tests.helpers.tiny_backbones import tiny_backbone

TEXTS = ["red cat", "a red cat", "blue dog of the house", "the house", "blue dog"]


@pytest.fixture
def name(tmp_path: Path) -> str:
    return f"bertscore:{tiny_backbone(tmp_path, 'bert', TEXTS)}"


def test_a_pair_scores_alone_as_among_others_and_either_way(name: str) -> None:
    scorer = load_token_scorer(name, TEXTS, "cpu")
    left, right = np.triu_indices(len(TEXTS))
    seen: list[float] = []
    scores = scorer.score(left, right, lambda stage, done: seen.append(done))
    assert seen == [1.0] and scorer.layer is None
    alone = np.concatenate([scorer.score(left[[i]], right[[i]]) for i in range(len(left))])
    np.testing.assert_allclose(scores, alone, atol=1e-5)
    np.testing.assert_allclose(scores, scorer.score(right, left), atol=1e-5)
    np.testing.assert_allclose(scores[left == right], 1, atol=1e-5)
    assert (scores[left != right] < 1).all()
    assert scorer.score(left[:0], right[:0]).shape == (0,)


def test_a_layer_that_is_not_there_is_refused(name: str) -> None:
    assert load_token_scorer(f"{name}@1", TEXTS, "cpu").depth == 1
    for depth in ("0", "2", "last"):
        with pytest.raises(InputError, match="layers 1 to 1"):
            load_token_scorer(f"{name}@{depth}", TEXTS, "cpu")


def test_it_is_measured_over_all_pairs(name: str, tmp_path: Path) -> None:
    items, gold = tmp_path / "items.csv", tmp_path / "gold.csv"
    items.write_text("id,text\n" + "".join(f"t{i},{text}\n" for i, text in enumerate(TEXTS)))
    gold.write_text("id1,id2\nt0,t1\nt2,t4\n")
    corpus = load_corpus(items, None, gold)
    found = evaluate_corpus(name, corpus, Method(base=name.removeprefix("bertscore:")))
    assert found["pairs"] == 10 and found["positives"] == 2
    assert 0.2 <= found["average_precision"]["value"] <= 1
    with pytest.raises(InputError, match="tokens, and --audit"):
        evaluate_audit(name, corpus, gold, 0)
