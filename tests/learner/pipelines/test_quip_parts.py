"""The parts of QuIP, by worked numbers, and invariants for any input."""

import math
from itertools import pairwise
from statistics import fmean

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOB2
from sklearn.metrics import roc_auc_score

from allpairs.learner.backbones.biencoder_training import Sparse, answer_tokens, distillation_loss, sparsify
from allpairs.learner.backbones.opinions import Opinions, best_sums, prompt_questions
from allpairs.learner.backbones.passage_cutting import passages_of, windows
from allpairs.learner.metrics.bertscore import bertscore, directions
from allpairs.learner.pipelines.quip.paraphrases import (
    BETAS,
    EPSILON,
    SCALE,
    ScoreHead,
    auroc,
    best_layer,
    few_of_each,
    mean_vectors,
)
from allpairs.learner.pipelines.quip.tables.cells import standard_error
from allpairs.learner.pipelines.quip.tagging import Sentences, entity_f1, few_sentences, tags_of
from allpairs.learner.pipelines.quip.two_stage import unlike

TEACHER = torch.tensor([[0.30, 0.20, 0.15, 0.10, 0.08, 0.06, 0.04, 0.03, 0.02, 0.02]])
LOGITS = {"uniform": torch.zeros(1, 10), "two and one": torch.tensor([[2.0, 1.0] + [0.0] * 8])}


@pytest.mark.parametrize(
    ("student", "best", "renormalise", "loss"),
    [
        ("uniform", 10, False, 2.302585), ("uniform", 8, False, 2.210482), ("uniform", 8, True, 2.302585),
        ("two and one", 10, False, 2.096317), ("two and one", 8, False, 1.980465),
    ],
)  # fmt: skip
def test_the_loss_of_the_teachers_best(student: str, best: int, renormalise: bool, loss: float) -> None:
    at, mass = map(torch.from_numpy, sparsify(TEACHER, best, renormalise))
    assert float(mass.sum()) == pytest.approx(1 if renormalise or best == 10 else 0.96)
    assert float(distillation_loss(LOGITS[student], at, mass)) == pytest.approx(loss, abs=1e-6)


def test_the_gradient_of_the_loss_and_its_distance_from_entropy() -> None:
    logits = LOGITS["two and one"].clone().requires_grad_()
    at, mass = map(torch.from_numpy, sparsify(TEACHER, 8))
    distillation_loss(logits, at, mass).sum().backward()  # type: ignore[no-untyped-call]
    kept = torch.zeros_like(TEACHER).scatter(1, at, mass)
    assert logits.grad is not None
    assert float(logits.grad.sum()) == pytest.approx(0, abs=1e-6)
    torch.testing.assert_close(logits.grad, 0.96 * logits.detach().softmax(dim=1) - kept, atol=1e-6, rtol=0)
    whole = torch.arange(10)[None], TEACHER
    entropy = -(TEACHER * TEACHER.log()).sum()
    assert float(entropy) == pytest.approx(1.959202, abs=1e-6)
    assert float(distillation_loss(logits.detach(), *whole) - entropy) == pytest.approx(0.137116, abs=1e-6)


def test_few_tokens_are_filled_and_hardest_labels_are_likeliest() -> None:
    at, mass = sparsify(torch.tensor([[0.2, 0.7, 0.1]]), 8)
    assert at.shape == mass.shape == (1, 8)
    assert at[0, :3].tolist() == [1, 0, 2] and mass[0, 3:].sum() == 0
    hard = Sparse(at, mass).hardest()
    assert (hard.tokens.tolist(), hard.mass.tolist()) == ([[1]], [[1.0]])


def test_only_a_passages_tokens_and_the_one_before_may_answer() -> None:
    mask = torch.tensor([[True, True, True, True, False], [True, True, False, False, False]])
    assert answer_tokens(mask).tolist() == [[True, True, True, False, False], [True, False, False, False, False]]


X1, X2 = torch.tensor([[1.0, 0], [0, 2], [1, 1]]), torch.tensor([[2.0, 0], [1, 1]])


def whole(vectors: torch.Tensor) -> torch.Tensor:
    return torch.ones(1, len(vectors), dtype=torch.bool)


def test_bertscore_of_the_example() -> None:
    score = float(bertscore(X1[None], X2[None], whole(X1), whole(X2)))
    assert score == pytest.approx(0.948679, abs=1e-6)
    forward, backward = directions(X1[None], X2[None], whole(X1), whole(X2))
    assert (float(forward), float(backward)) == (pytest.approx(0.902369, abs=1e-6), pytest.approx(1))


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 3), st.integers(0, 999))
def test_bertscore_is_symmetric_and_ignores_scale_and_padding(s: int, t: int, more: int, seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(n, 4, generator=draw) + 1.5 for n in (s, t))  # the mean of cosines that sum to 0 is no number
    score = bertscore(x[None], y[None], whole(x), whole(y))
    torch.testing.assert_close(bertscore(y[None], x[None], whole(y), whole(x)), score)
    scaled = x * (1 + torch.rand(s, 1, generator=draw))
    torch.testing.assert_close(bertscore(scaled[None], y[None], whole(x), whole(y)), score)
    noise = torch.randn(more, 4, generator=draw) * 9
    masks = [torch.cat([whole(v), torch.zeros(1, more, dtype=torch.bool)], dim=1) for v in (x, y)]
    padded = bertscore(torch.cat([x, noise])[None], torch.cat([y, noise])[None], *masks)
    torch.testing.assert_close(padded, score)
    torch.testing.assert_close(mean_vectors(torch.cat([x, noise])[None], masks[0])[0], x.mean(dim=0))


def test_the_ranking_of_the_example() -> None:
    assert auroc(np.array([1, 0, 1, 0, 1]), np.array([0.9, 0.8, 0.8, 0.3, 0.2])) == pytest.approx(3.5 / 6)
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(2, size=99), rng.integers(20, size=99) / 7
    assert auroc(labels, scores) == pytest.approx(roc_auc_score(labels, scores))


def test_windows_of_the_examples() -> None:
    found = windows(1000, 456, 328)
    assert [(w.begin, w.end) for w in found] == [(0, 456), (328, 784), (656, 1000)]
    assert [(w.keep_from, w.keep_to) for w in found] == [(0, 392), (392, 720), (720, 1000)]
    assert [len(windows(n, 456, 328)) for n in (0, 456, 457, 784, 785)] == [1, 1, 2, 2, 3]


@given(st.integers(0, 400), st.integers(1, 40), st.data())
def test_windows_keep_each_token_once(tokens: int, size: int, data: st.DataObject) -> None:
    found = windows(tokens, size, data.draw(st.integers(1, size)))
    assert [i for w in found for i in range(w.keep_from, w.keep_to)] == list(range(tokens))
    assert all(w.begin <= w.keep_from <= w.keep_to <= w.end <= w.begin + size for w in found)


def test_passages_are_as_many_whole_sentences_as_fit() -> None:
    text = "One two. Three four five. Six. A sentence that is longer than there is room for. Seven."
    found = [text[a:b] for a, b in passages_of(text, 6, lambda part: len(part.split()))]
    assert found == ["One two. Three four five. Six.", "A sentence that is longer than there is room for.", "Seven."]


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(1, 12))
def test_no_passage_could_take_the_next_sentence(lengths: list[int], limit: int) -> None:
    text = " ".join(" ".join(["Word"] * n) + "." for n in lengths)
    found = [text[a:b] for a, b in passages_of(text, limit, lambda part: len(part.split()))]
    assert " ".join(found) == text
    assert all(len(part.split()) <= limit or part.count(".") == 1 for part in found)
    assert all(len(one.split()) + len(two.split(". ")[0].split()) > limit for one, two in pairwise(found))


def test_the_examples_sentiment_flips_when_calibrated() -> None:
    vectors = torch.tensor([[[1.0, 0], [0, 1], [1, 1]]])
    start, end = torch.tensor([[1, 0.5], [0.2, 1]]), torch.tensor([[0.5, 0.5], [0, 1]])
    mask = torch.ones(1, 3, dtype=torch.bool)
    scores = best_sums(vectors, mask, start, end)
    torch.testing.assert_close(scores, torch.tensor([[2.5, 2.2]]))
    opinions = Opinions(scores.numpy(), np.array([1.9, 1.0]))
    assert (opinions.predicted(calibrated=False).tolist(), opinions.predicted().tolist()) == ([0], [1])
    loud = torch.cat([vectors, torch.full((1, 2, 2), 9.0)], dim=1)
    torch.testing.assert_close(best_sums(loud, torch.tensor([[True] * 3 + [False] * 2]), start, end), scores)
    assert prompt_questions("Why is it good? | Why is it bad?") == ("Why is it bad?", "Why is it good?")


def test_standard_errors_divide_by_one_less() -> None:
    printed = [0.7544890082228561, 0.72753114288103, 0.7445901913275964, 0.6633886828953732, 0.8107488986784142]
    assert fmean(printed) == pytest.approx(0.74015, abs=1e-5)  # CoNLL's F1 with questions, as released: 74.0 ± 2.4
    error = standard_error(printed)
    assert error == pytest.approx(0.0237, abs=5e-5)
    assert error * math.sqrt(4 / 5) == pytest.approx(0.0212, abs=5e-5)  # with n in place of n − 1
    assert standard_error([1, 2, 3, 4, 5]) == pytest.approx(math.sqrt(2.5 / 5))
    assert standard_error([1.0]) is None


@pytest.mark.parametrize("layers", [1, 8])
def test_a_scaled_logit_learns_as_a_faster_layer(layers: int) -> None:
    """Under Adam a layer whose logits are scaled by s learns like one with s times the rate."""
    scores = torch.rand(16, layers, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([1.0, 0.0] * 8)
    found = []
    for scale in (SCALE, 1.0):
        head = ScoreHead(layers, scale)
        optimizer = torch.optim.Adam(head.parameters(), 1e-5 * SCALE / scale, betas=BETAS, eps=EPSILON)
        for _ in range(4):
            optimizer.zero_grad()
            torch.nn.functional.binary_cross_entropy_with_logits(head(scores), labels).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        found.append(scale * head.linear.weight.detach())
    torch.testing.assert_close(found[0], found[1], rtol=1e-3, atol=1e-5)
    assert found[0].abs().max() > 1e-3


def test_tags_are_read_as_conlls_evaluation_reads_them() -> None:
    loose, right = ["I-PER", "I-PER", "O"], ["B-PER", "I-PER", "O"]
    assert entity_f1([loose], [right]) == 1
    assert f1_score([right], [loose], mode="strict", scheme=IOB2, zero_division=0) == 0  # the way that is not taken
    found, wanted = ["B-PER", "B-PER", "I-LOC", "O", "B-LOC"], ["B-PER", "I-PER", "B-LOC", "O", "B-LOC"]
    assert entity_f1([found], [wanted]) == pytest.approx(2 * 2 / (4 + 3))
    assert entity_f1([["O"]], [["O"]]) == 0


def test_answers_that_share_no_words_come_first() -> None:
    answers = ["May 1902", "in May 1902", "the fair", "Rome", "May"]
    assert unlike(answers, 3) == ["May 1902", "the fair", "Rome"]
    assert unlike(answers, 9)[:3] == unlike(answers, 3) and sorted(unlike(answers, 9)) == sorted(answers)
    assert unlike([], 3) == []


def test_the_best_layer_correlates_best() -> None:
    wanted = np.array([0, 1, 0, 1])
    assert best_layer(np.array([[0.1, 0.0], [0.0, 0.9], [0.2, 0.1], [0.1, 0.7]]), wanted) == 2


@given(st.integers(1, 6), st.integers(0, 99))
def test_a_split_has_few_of_each_class_and_comes_back(shots: int, seed: int) -> None:
    labels = np.array([0, 1] * 8)
    rows = few_of_each(labels, shots, seed)
    assert np.bincount(labels[rows], minlength=2).tolist() == [shots, shots] and len(set(rows.tolist())) == 2 * shots
    assert rows.tolist() == few_of_each(labels, shots, seed).tolist()


def test_few_sentences_hold_each_kind_of_entity() -> None:
    tags = [["B-PER", "O"], ["B-LOC", "B-PER"], ["O", "O"], ["B-LOC", "O"], ["B-PER", "O"], ["B-ORG", "I-ORG"]]
    sentences = Sentences([["a", "b"]] * 6, tags)
    for seed in range(5):
        chosen = sentences.take(few_sentences(sentences, 2, seed)).tags
        found = [{kind for kind, *_ in get_entities(row)} for row in chosen]
        assert [sum(kind in some for some in found) >= n for kind, n in (("PER", 2), ("LOC", 2), ("ORG", 1))] == [
            True
        ] * 3
        assert ["O", "O"] not in chosen
    assert tags_of(sentences) == ["O", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "B-PER", "I-PER"]
