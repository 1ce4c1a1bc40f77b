"""Text metrics: worked numbers, invariants, and that nothing is downloaded."""

import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from allpairs.learner.metrics.text import (
    METRICS,
    bleu_counts,
    bleu_of_counts,
    coco_rouge_l,
    exact_match,
    extractiveness,
    meteor,
    rouge,
    squad_form,
    token_f1,
)

# Worked by hand, apart from any code.
REFERENCES = [
    "what is supervised learning with example",
    "the cats sat on mats",
    "what is bayesian learning in machine learning",
    "a b c d e",
]
TEXTS = [
    "what is the supervised learning example",
    "the cat sat on the mat",
    "what is bayesian learning",
    "a b c d e",
]
words = st.lists(st.sampled_from(["a", "cat", "cats", "the", "sat", "Sat", "on"]), max_size=8).map(" ".join)
corpora = st.lists(st.tuples(words, words), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("text", "answers", "exact", "f1"),
    [
        ("the 3-4 years.", ["3-4 years"], 1, 1),
        ("in October 25, 1956", ["October 25 1956"], 0, 6 / 7),
        ("in October 25, 1956", ["1956", "October 25 1956", "never"], 0, 6 / 7),
        ("The  Denver Broncos", ["Carolina", "denver\nbroncos!"], 1, 1),
        ("cat cat", ["cat"], 0, 2 / 3),
        ("theatre", ["atre"], 0, 0),
        ("the", ["an"], 1, 1),
        ("the", ["cat"], 0, 0),
        ("cat", [], 0, 0),
    ],
)
def test_answers(text: str, answers: list[str], exact: float, f1: float) -> None:
    assert exact_match(text, answers) == exact
    assert token_f1(text, answers) == pytest.approx(f1, abs=1e-12)


def test_the_form_of_squad() -> None:
    assert squad_form(" The U.S.A.,\tan apple—a  day! ") == "usa apple— day"


@given(words, words)
def test_an_answer_that_is_right_has_all_its_words(text: str, answer: str) -> None:
    assert exact_match(text, [answer]) <= token_f1(text, [answer]) <= 1
    assert token_f1(text, [answer]) == token_f1(answer, [text])
    assert token_f1(text, [answer, text]) == exact_match(text, [answer, text]) == 1


def test_rouge() -> None:
    values = [rouge(text, its)["rougeL"] for text, its in zip(TEXTS, REFERENCES, strict=True)]
    assert values == pytest.approx([0.833333, 0.545455, 0.727273, 1], abs=1e-6)
    assert rouge("a b", "a c b") == pytest.approx({"rouge1": 0.8, "rouge2": 0, "rougeL": 0.8})


def test_how_much_of_a_summary_was_copied() -> None:
    source = "a minute hand has fallen off a church clock in hamburg and nobody was hurt"
    found = extractiveness("a minute hand fell off a hamburg church clock", source)
    assert found == pytest.approx({"rouge1": 8 / 9, "rouge2": 4 / 8, "rougeL": 7 / 9}, abs=1e-12)


def test_rouge_l_of_coco() -> None:
    values = [coco_rouge_l(text, its) for text, its in zip(TEXTS, REFERENCES, strict=True)]
    assert values == pytest.approx([0.833333, 0.554545, 0.693182, 1], abs=1e-6)
    assert np.mean(values) == pytest.approx(0.770265, abs=1e-6)
    assert coco_rouge_l("", "a") == coco_rouge_l("a", "") == coco_rouge_l("a", "b") == 0


@given(words, words)
def test_longest_common_subsequences(one: str, other: str) -> None:
    """Unlike ours, the library's ROUGE-L ignores case."""
    ours, theirs = coco_rouge_l(one.lower(), other.lower()), rouge(one, other)["rougeL"]
    assert (ours == 0) == (theirs == 0)
    if len(one.split()) == len(other.split()):  # precision is recall, whatever the weight
        assert ours == pytest.approx(theirs)


def bleu(texts: Sequence[str], references: Sequence[str], order: int = 4) -> float:
    return bleu_of_counts(bleu_counts(texts, references), order)


def test_bleu() -> None:
    values = [bleu(TEXTS, REFERENCES, order) for order in (1, 2, 3, 4)]
    assert values == pytest.approx([0.735984, 0.627378, 0.516307, 0.451919], abs=1e-6)
    first = [bleu(TEXTS[:1], REFERENCES[:1], order) for order in (1, 2, 3, 4)]
    assert first == pytest.approx([5 / 6, (1 / 3) ** 0.5, 0, 0], abs=1e-6)
    assert bleu([], []) == 0


@given(corpora, st.integers(1, 4))
def test_bleu_is_the_librarys(corpus: list[tuple[str, str]], order: int) -> None:
    texts, references = map(list, zip(*corpus, strict=True))
    metric = BLEU(tokenize="none", smooth_method="none", max_ngram_order=order)
    expected = metric.corpus_score(texts, [references]).score / 100
    assert bleu(texts, references, order) == pytest.approx(expected, abs=1e-12)


def test_any_sample_of_the_counts_is_a_corpus() -> None:
    drawn = [3, 0, 0, 2]
    counts = bleu_counts(TEXTS, REFERENCES)
    expected = bleu([TEXTS[row] for row in drawn], [REFERENCES[row] for row in drawn])
    assert expected > 0
    assert bleu_of_counts(counts[drawn]) == pytest.approx(expected, abs=1e-12)


def test_meteor() -> None:
    values = [meteor(text, its) for text, its in zip(TEXTS, REFERENCES, strict=True)]
    assert values == pytest.approx([0.743333, 0.874510, 0.559701, 0.996], abs=1e-6)
    assert meteor("", "a") == meteor("a", "") == meteor("a", "b") == 0


def test_every_measure_has_a_name_that_says_how_it_was_computed() -> None:
    assert len(set(METRICS.values())) == len(METRICS)
    assert METRICS["meteor"] == "meteor_nltk_nowordnet"


@pytest.mark.slow
def test_nothing_is_downloaded() -> None:
    code = (
        "import socket\n"
        "def refuse(*given): raise AssertionError('a connection')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from allpairs.learner.metrics import text as m\n"
        "print(m.meteor('cats', 'cat'), m.bleu_of_counts(m.bleu_counts(['a'], ['a']), 1), "
        "m.rouge('a', 'a')['rougeL'])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.stdout.split() == ["0.5", "1.0", "1.0"], run.stderr
