"""Figures on known pairs: the paper's on a worked example, and which of them a dataset has."""

from pathlib import Path

import numpy as np
import pytest

from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.corpus.split import split_corpus
from allpairs.db.domain import Stated
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.evaluation.given_pairs import (
    given_figures,
    pair_f1,
    question_f1,
    question_map,
    why_all_negative,
    why_none_to_measure,
)
from allpairs.learner.files.evaluate import Method, all_evaluation, evaluate_corpus
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.models.output_layer import OutputLayer

# WikiQA's metrics (Mussmann, Jia and Liang 2020) worked out by hand: question, score, label.
ROWS = [(1, 2, 1), (1, 1, 0), (1, -1, 1), (2, 0.5, 0), (2, -0.5, 1), (3, 1, 0), (3, 0.2, 0), (4, 3, 1)]
QUESTION, SCORE, POSITIVE = (np.array(column) for column in zip(*ROWS, strict=True))
POSITIVE = POSITIVE == 1
OF_PAIRS, OF_QUESTIONS = {"stated_accuracy", "stated_f1"}, {"question_map", "question_f1", "pair_f1"}


class Known:
    """A scorer that knows the score of each pair of rows."""

    def __init__(self, scores: dict[tuple[int, int], float], layer: OutputLayer | None) -> None:
        self.scores, self.layer = scores, layer

    def score(self, left: np.ndarray, right: np.ndarray, progress: Progress = no_progress) -> np.ndarray:
        return np.array([self.scores[pair] for pair in zip(left.tolist(), right.tolist(), strict=True)])


def answers(layer: OutputLayer | None) -> tuple[Dataset, Known]:
    """Return the worked example as a dataset: four questions, eight answers, and one question to train on."""
    sides, splits = ["left"] * 5 + ["right"] * 8, ["evaluation"] * 4 + ["train"] + ["both"] * 8
    pairs = [(question - 1, 5 + at) for at, question in enumerate(QUESTION.tolist())]
    given = [(*pair, bool(label)) for pair, label in zip(pairs, POSITIVE, strict=True)] + [(4, 5, False)]
    dataset = make_dataset([""] * 13, sides, splits, False, np.array(pairs)[POSITIVE], given)
    return dataset, Known(dict(zip(pairs, SCORE.tolist(), strict=True)), layer)


def test_the_metrics_of_questions_as_worked_out_by_hand() -> None:
    assert question_map(QUESTION, SCORE, POSITIVE) == pytest.approx(0.666667, abs=1e-6)
    assert question_f1(QUESTION, SCORE, POSITIVE, 0.0) == pytest.approx(0.571429, abs=1e-6)
    assert pair_f1(SCORE >= 0, POSITIVE) == pytest.approx(0.4)


def test_the_order_of_the_rows_does_not_matter() -> None:
    for seed in range(20):
        rows = np.random.default_rng(seed).permutation(len(SCORE))
        shuffled = QUESTION[rows], SCORE[rows], POSITIVE[rows]
        assert question_map(*shuffled) == pytest.approx(0.666667, abs=1e-6)
        assert question_f1(*shuffled, 0.0) == pytest.approx(0.571429, abs=1e-6)


def test_two_lists_have_the_figures_of_questions_too() -> None:
    found = given_figures(*answers(OutputLayer(1.0, 0.0)))
    assert set(found) == OF_PAIRS | OF_QUESTIONS
    assert found["question_map"].value == pytest.approx(0.666667, abs=1e-6)
    assert found["stated_accuracy"].value == pytest.approx(2 / 8)
    assert found["stated_f1"].value == found["pair_f1"].value == pytest.approx(0.4)
    for figure in found.values():
        assert (figure.low, figure.high, figure.method, figure.labels) == (figure.value, figure.value, "exact", 8)


def test_without_a_threshold_only_the_ranking_is_measured() -> None:
    for layer in (None, OutputLayer(0.0, 1.0)):
        assert set(given_figures(*answers(layer))) == {"question_map"}


def test_one_list_has_the_figures_of_pairs() -> None:
    given = [(0, 1, True), (1, 2, False), (0, 2, False)]
    dataset = make_dataset([""] * 3, ["left"] * 3, ["evaluation"] * 3, True, np.array([(0, 1)]), given)
    scores = {(0, 1): 0.9, (1, 2): 0.8, (0, 2): 0.1}
    found = given_figures(dataset, Known(scores, OutputLayer(10.0, -5.0)))
    assert set(found) == OF_PAIRS
    assert found["stated_accuracy"].value == found["stated_f1"].value == pytest.approx(2 / 3)


@pytest.mark.parametrize("label", [True, False])
def test_one_class_alone_has_no_figures(label: bool) -> None:
    dataset = make_dataset([""] * 2, ["left"] * 2, ["evaluation"] * 2, True, np.array([(0, 1)]), [(0, 1, label)])
    assert given_figures(dataset, Known({(0, 1): 0.9}, OutputLayer(10.0, -5.0))) == {}
    assert given_figures(make_dataset([""], ["left"], ["evaluation"], True, np.empty((0, 2))), Known({}, None)) == {}


def test_known_pairs_include_closure_unless_told_otherwise(tmp_path: Path) -> None:
    texts, gold = tmp_path / "texts.csv", tmp_path / "gold.csv"
    texts.write_text("id,text\n" + "".join(f"{name},text {name}\n" for name in "abcd"))
    gold.write_text("id1,id2,label\na,b,1\nb,c,1\nc,d,0\n")
    for stated, positives in ((Stated.CLOSED, 3), (Stated.AS_LISTED, 2)):
        dataset = dataset_of(all_evaluation(load_corpus(texts, None, gold, stated=stated)))
        assert dataset.evaluation_given[:, 2].tolist().count(1) == positives
        assert len(dataset.evaluation_given) == positives + 1
        assert len(dataset.evaluation_positives) == 3  # over all pairs it makes no difference


def test_gold_without_a_positive_is_told_as_such(tmp_path: Path) -> None:
    texts, gold = tmp_path / "texts.csv", tmp_path / "gold.csv"
    texts.write_text("id,text\na,one\nb,two\nc,three\n")
    gold.write_text("id1,id2,label\na,b,0\nb,c,0\n")
    corpus = all_evaluation(load_corpus(texts, None, gold))
    assert "no known pair is positive" in why_all_negative(dataset_of(corpus))
    with pytest.raises(InputError, match="no known pair is positive"):
        evaluate_corpus("unread", corpus, Method())


def test_an_error_says_why_no_match_is_measured_and_what_helps(tmp_path: Path) -> None:
    texts, gold = tmp_path / "texts.csv", tmp_path / "gold.csv"
    texts.write_text("id,text\n" + "".join(f"{name},text {name}\n" for name in "abcdefgh"))

    def dataset(rows: str, share: float) -> Dataset:
        gold.write_text(f"id1,id2,label\n{rows}")
        return dataset_of(split_corpus(load_corpus(texts, None, gold), share, np.random.default_rng(0)))

    one_group = "a,b,1\nb,c,1\nc,d,1\nd,e,1\n"
    assert "belong to one group" in why_none_to_measure(dataset(one_group, 0.5))
    assert len(dataset(f"{one_group}f,g,1\n", 0.5).evaluation_positives) > 0  # matches of other texts help
    assert "larger --test-fraction" in why_none_to_measure(dataset("a,b,1\nc,d,1\n", 0.1))
    assert len(dataset("a,b,1\nc,d,1\n", 0.9).evaluation_positives) > 0
    assert "add pairs with label 1" in why_none_to_measure(dataset("a,a,1\n", 0.5))
