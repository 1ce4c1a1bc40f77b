"""A re-ranker is measured over all pairs like any other scorer, and against a bi-encoder."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from typer.testing import CliRunner

from allpairs.db.corpus.corpus import Corpus, load_corpus
from allpairs.db.errors import InputError
from allpairs.learner.backbones.generator import load_generator
from allpairs.learner.backbones.reranking.reading import Reading
from allpairs.learner.backbones.reranking.reranker import Reranker, scores_of, truth_logits
from allpairs.learner.cli.commands import app
from allpairs.learner.files import evaluate
from allpairs.learner.files.evaluate import Method, evaluate_audit, evaluate_corpus
from tests.helpers.tiny import tiny_encoder

TEXTS = [f"topic{i % 8} word{i} word{i * 7 % 11}" for i in range(24)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with texts, gold pairs of one topic, an encoder and an untrained re-ranker."""
    made = tmp_path_factory.mktemp("rerank")
    tiny_encoder(made, [*TEXTS, "Query: Document: Relevant: true false"])
    Reranker(load_generator(str(made / "bert"), 1, device="cpu"), Reading(source_length=40)).save(made / "reranker")
    (made / "left.csv").write_text("id,text\n" + "".join(f"q{i},{text}\n" for i, text in enumerate(TEXTS)))
    gold = [(i, j) for i, j in combinations(range(24), 2) if i % 8 == j % 8]
    (made / "gold.csv").write_text("id1,id2\n" + "".join(f"q{i},q{j}\n" for i, j in gold))
    return made


@pytest.fixture(scope="module")
def corpus(folder: Path) -> Corpus:
    return load_corpus(folder / "left.csv", None, folder / "gold.csv")


def test_few_pairs_are_all_read_and_the_gain_is_exact(folder: Path, corpus: Corpus) -> None:
    pairs = np.array(list(combinations(range(24), 2)))
    generator = load_generator(str(folder / "reranker"), device="cpu")
    scores = scores_of(truth_logits(Reranker(generator, Reading(source_length=40)), TEXTS, TEXTS, pairs))
    wanted = average_precision_score(pairs[:, 0] % 8 == pairs[:, 1] % 8, scores)
    found = evaluate_corpus(str(folder / "reranker"), corpus, Method(), against=str(folder / "tiny"))
    base = evaluate_corpus(str(folder / "tiny"), corpus, Method())
    ap, gain = found["average_precision"], found["gain"]["average_precision"]
    assert ap["value"] == pytest.approx(wanted, abs=1e-4) and ap["method"] == "exact"
    assert found["against"]["average_precision"] == base["average_precision"]
    assert (
        gain["low"] == gain["value"] == gain["high"] == pytest.approx(ap["value"] - base["average_precision"]["value"])
    )
    assert set(found["gain"]) == {"average_precision", "precision_at_recall_20"}


def test_from_a_sample_the_gain_has_the_interval_of_the_figure(
    folder: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = evaluate_corpus(str(folder / "reranker"), corpus, Method(), against=str(folder / "tiny"))
    monkeypatch.setattr(evaluate, "FEW", 200)
    how = Method(sample=100, base=str(folder / "tiny"))
    found = evaluate_corpus(str(folder / "reranker"), corpus, how, against=str(folder / "tiny"))
    gain = found["gain"]["average_precision"]
    assert gain["method"] == "stratified" and gain["low"] < gain["high"]
    assert gain["low"] <= exact["gain"]["average_precision"]["value"] <= gain["high"]


def test_the_command_prints_the_gain_and_refuses_non_rankers(folder: Path, corpus: Corpus) -> None:
    files = ["--left", str(folder / "left.csv"), "--gold", str(folder / "gold.csv")]
    command = ["evaluate", "--model", str(folder / "reranker"), *files]
    done = CliRunner().invoke(app, [*command, "--against", str(folder / "tiny")])
    assert done.exit_code == 0 and "gain" in json.loads(done.stdout)
    with pytest.raises(InputError, match="--against must rank"):
        evaluate_corpus(str(folder / "tiny"), corpus, Method(), against=str(folder / "reranker"))
    with pytest.raises(InputError, match="one by one, and --audit"):
        evaluate_audit(str(folder / "reranker"), corpus, folder / "gold.csv", 0)
