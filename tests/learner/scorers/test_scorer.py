"""Cross-encoders: distinguished from encoders, scored like the library, and measured over all pairs of files."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score
from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertConfig, BertForSequenceClassification

from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.errors import InputError
from allpairs.learner.files import evaluate
from allpairs.learner.files.evaluate import Method, evaluate_corpus
from allpairs.learner.scorers import scorer
from allpairs.learner.scorers.scorer import TextScorer, is_cross_encoder, load_cross_encoder
from tests.helpers.tiny import tiny_encoder

TEXTS = [f"topic{i % 8} word{i} word{i * 7 % 11}" for i in range(24)]


def tiny_cross_encoder(folder: Path, outputs: int) -> Path:
    """Write a random BERT that classifies a pair of these texts, with that many outputs; return its folder."""
    tiny_encoder(folder, TEXTS)  # for its tokenizer
    tokenizer = AutoTokenizer.from_pretrained(folder / "bert")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=128, pad_token_id=0, initializer_range=0.5, num_labels=outputs,
    )  # fmt: skip
    whole = folder / f"cross{outputs}"
    BertForSequenceClassification(config).save_pretrained(whole)
    tokenizer.save_pretrained(whole)
    return whole


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the texts, gold pairs of one topic and given negatives."""
    made = tmp_path_factory.mktemp("cross")
    (made / "left.csv").write_text("id,text\n" + "".join(f"q{i},{text}\n" for i, text in enumerate(TEXTS)))
    gold = [(i, j, 1) for i in range(24) for j in range(i + 1, 24) if i % 8 == j % 8] + [(0, 1, 0), (2, 3, 0)]
    (made / "gold.csv").write_text("id1,id2,label\n" + "".join(f"q{i},q{j},{label}\n" for i, j, label in gold))
    return made


@pytest.fixture(scope="module")
def corpus(folder: Path) -> Corpus:
    return load_corpus(folder / "left.csv", None, folder / "gold.csv")


def every_pair() -> tuple[np.ndarray, np.ndarray]:
    left, right = np.triu_indices(24, 1)
    return left, right


def by_hand(model: Path) -> np.ndarray:
    """Return the score of every pair from the model's logits, one pair at a time."""
    network, tokenizer = AutoModelForSequenceClassification.from_pretrained(model), AutoTokenizer.from_pretrained(model)
    with torch.inference_mode():
        logits = [
            network.eval()(**tokenizer(TEXTS[i], TEXTS[j], return_tensors="pt")).logits[0].numpy()
            for i, j in zip(*every_pair(), strict=True)
        ]
    return np.array([row[0] if len(row) == 1 else row[1] - row[0] for row in logits])


@pytest.mark.parametrize("outputs", [1, 2])
def test_the_score_is_the_logit(folder: Path, outputs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorer, "CHUNK", 50)
    model = tiny_cross_encoder(folder, outputs)
    seen: list[tuple[str, float]] = []
    found = load_cross_encoder(str(model), TEXTS).score(*every_pair(), lambda stage, done: seen.append((stage, done)))
    np.testing.assert_allclose(found, by_hand(model), atol=1e-4)
    assert [stage for stage, _ in seen] == ["score"] * 6
    assert seen[-1][1] == 1.0


def test_a_cross_encoder_is_told_from_an_encoder(folder: Path, tmp_path: Path) -> None:
    assert is_cross_encoder(str(tiny_cross_encoder(folder, 1)))
    assert not is_cross_encoder(str(tiny_encoder(tmp_path, TEXTS)))
    assert not is_cross_encoder("all-MiniLM-L6-v2")
    (tmp_path / "config.json").write_text("[broken")
    assert not is_cross_encoder(str(tmp_path))


def test_no_pairs_have_no_scores(folder: Path) -> None:
    none = np.empty(0, dtype=np.int64)
    assert load_cross_encoder(str(tiny_cross_encoder(folder, 1)), TEXTS).score(none, none).shape == (0,)


def test_three_outputs_are_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="has 3 outputs"):
        load_cross_encoder(str(tiny_cross_encoder(folder, 3)), TEXTS)


def test_a_broken_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["BertForSequenceClassification"]}))
    with pytest.raises(InputError, match="cannot be loaded"):
        load_cross_encoder(str(tmp_path), TEXTS)


def test_few_pairs_are_all_read(folder: Path, corpus: Corpus) -> None:
    model = tiny_cross_encoder(folder, 1)
    found = evaluate_corpus(str(model), corpus, Method())
    scores = by_hand(model)
    labels = np.array([i % 8 == j % 8 for i, j in zip(*every_pair(), strict=True)])
    ap = found["average_precision"]
    assert ap["value"] == ap["low"] == ap["high"] == pytest.approx(average_precision_score(labels, scores), abs=1e-4)
    assert found["recall"]["value"] == pytest.approx((scores[labels] >= 0).mean())
    assert (found["pairs"], found["positives"], ap["method"]) == (276, 24, "exact")
    assert found["stated_accuracy"]["labels"] == 26
    assert 0 <= found["calibration_error"]["value"] <= 1


def test_many_pairs_are_sampled_unless_all_are_asked_for(
    folder: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate, "FEW", 200)
    model, base = str(tiny_cross_encoder(folder, 1)), str(folder / "tiny")
    read = _counting(monkeypatch)
    found = evaluate_corpus(model, corpus, Method(sample=100, base=base))
    assert found["average_precision"]["method"] == "stratified"
    assert sum(row["sampled"] for row in found["strata"]) < 276
    assert sum(row["size"] for row in found["strata"]) == 276
    assert max(read) < 276
    message = "would read 276 pairs one by one.* 200 .*: use stratified"
    with pytest.raises(InputError, match=message):
        evaluate_corpus(model, corpus, Method("exact"))


def _counting(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the list of how many pairs each call of the scorer has read."""
    read: list[int] = []
    plain: Callable[..., np.ndarray] = TextScorer.score

    def score(self: TextScorer, left: np.ndarray, *more: object) -> np.ndarray:
        read.append(len(left))
        return plain(self, left, *more)

    monkeypatch.setattr(TextScorer, "score", score)
    return read


def test_a_cross_encoder_is_not_measured_from_audit_labels(folder: Path, corpus: Corpus) -> None:
    with pytest.raises(InputError, match="one by one, and --audit"):
        evaluate.evaluate_audit(str(tiny_cross_encoder(folder, 1)), corpus, folder / "gold.csv", 0)
