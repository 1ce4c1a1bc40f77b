"""The scorer of cosine and BERTScore: weighted by labelled pairs, independent of other pairs, measured."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.errors import InputError
from allpairs.learner.files.evaluate import evaluate_audit
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.scorers.bertscore_scorer import load_token_scorer
from allpairs.learner.scorers.two_feature_scorer import fit_weights, load_feature_scorer
from tests.helpers.services.commands import learn
from tests.helpers.tiny_backbones import tiny_backbone

COLOURS = ("red", "blue", "green", "old", "wet", "small")
TEXTS = [f"{one} {kind} of the house" for one in COLOURS for kind in ("cat", "cats")]
ROWS = np.arange(len(TEXTS))
PAIRS = np.array([(2 * i, 2 * j + 1, int(i == j)) for i in range(6) for j in (i, (i + 1) % 6)])
LABELLED = Labelled(*PAIRS[:8].T)


@pytest.fixture
def name(tmp_path: Path) -> str:
    return f"cosine+bertscore:{tiny_backbone(tmp_path, 'bert', TEXTS)}"


def test_the_weights_are_those_of_a_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    features, labels = rng.normal((0.6, 0.8), (0.2, 0.05), (60, 2)), rng.integers(2, size=60)
    features[:, 1] += 0.1 * labels
    found = fit_weights(*features.T, labels)
    other = make_pipeline(StandardScaler(), LogisticRegression(C=1.0)).fit(features, labels)
    np.testing.assert_allclose(found.logit(*features.T), other.decision_function(features), rtol=1e-4, atol=1e-5)
    assert (found.labels, found.positives) == (60, labels.sum())
    assert found.bertscore * found.bertscore_spread > abs(found.cosine * found.cosine_spread)
    with pytest.raises(InputError, match="all 60 labels are negative"):
        fit_weights(*features.T, np.zeros(60, dtype=np.int64))


def test_a_score_is_the_weighed_sum_of_both_features(name: str) -> None:
    scorer = load_feature_scorer(name, TEXTS, ROWS, LABELLED)
    left, right = np.triu_indices(len(TEXTS), 1)
    source = name.removeprefix("cosine+bertscore:")
    vectors = load_encoder(source).encode(TEXTS)
    cosines = (vectors[left] * vectors[right]).sum(axis=1)
    bertscores = load_token_scorer(f"bertscore:{source}", TEXTS).score(left, right)
    weights = scorer.weights
    expected = weights.cosine * cosines + weights.bertscore * bertscores + weights.intercept
    scores = scorer.score(left, right)
    np.testing.assert_allclose(scores, expected, atol=1e-3)
    alone = np.concatenate([scorer.score(left[[i]], right[[i]]) for i in range(len(left))])
    np.testing.assert_allclose(scores, alone, atol=1e-3)
    fitted = scorer.score(LABELLED.left, LABELLED.right)
    assert fitted[LABELLED.label == 1].mean() > fitted[LABELLED.label == 0].mean()
    assert load_feature_scorer(f"{name}@1", TEXTS, ROWS, LABELLED).weights == weights  # its only layer


@pytest.fixture
def files(tmp_path: Path) -> list[object]:
    """Return the options that name files: texts 0 to 7 train, the others measure, and one is unused."""
    rows = {
        "items.csv": ["id,text", *(f"t{i},{text}" for i, text in enumerate(TEXTS))],
        "gold.csv": ["id1,id2,label", *(f"t{a},t{b},{label}" for a, b, label in PAIRS)],
        "split.csv": ["id,split", *(f"t{i},{'train' if i < 8 else 'evaluation'}" for i in range(1, len(TEXTS)))],
    }
    for file, lines in rows.items():
        (tmp_path / file).write_text("\n".join(lines))
    return ["--left", tmp_path / "items.csv", "--gold", tmp_path / "gold.csv", "--split", tmp_path / "split.csv"]


def test_it_is_weighed_by_train_pairs_and_measured_elsewhere(name: str, files: list[object]) -> None:
    found = learn("evaluate", "--model", name, *files, "--labels", files[3]).json()
    assert found["pairs"] == 6 and found["positives"] == 2
    assert found["weights"]["labels"] == 5 and found["weights"]["positives"] == 3  # those of t1 to t7
    assert 0.3 <= found["average_precision"]["value"] <= 1 and "stated_accuracy" in found
    base = name.removeprefix("cosine+bertscore:")
    scorer = load_feature_scorer(name, TEXTS, ROWS, Labelled(*PAIRS[2:7].T))
    assert found["weights"]["cosine"] == pytest.approx(scorer.weights.cosine, rel=1e-3)
    gained = learn("evaluate", "--model", name, *files, "--labels", files[3], "--against", base).json()
    assert gained["gain"]["average_precision"]["value"] == pytest.approx(
        gained["average_precision"]["value"] - gained["against"]["average_precision"]["value"]
    )


def test_what_cannot_be_weighed_is_said(name: str, files: list[object]) -> None:
    encoder = name.removeprefix("cosine+bertscore:")
    assert "give --labels and --split" in learn("evaluate", "--model", name, *files).refused()
    whole = ["evaluate", "--model", name, *files[:4], "--labels", files[3]]
    assert "--labels without --split" in learn(*whole).refused()
    plain = ["evaluate", "--model", encoder, *files, "--labels", files[3]]
    assert f"{encoder} has none" in learn(*plain).refused()
    deep = ["evaluate", "--model", f"{name}@2", *files, "--labels", files[3]]
    assert "has layers 1 to 1" in learn(*deep).refused()
    corpus = load_corpus(Path(str(files[1])), None, Path(str(files[3])))
    with pytest.raises(InputError, match="tokens, and --audit"):
        evaluate_audit(name, corpus, Path(str(files[3])), 0)
